load helper

@test "no command: help on stderr, exit 2" {
    expect 2 "$ORRERY"
    said "usage: orrery COMMAND"
    [ ! -s out ]
}

@test "help and version" {
    expect 0 "$ORRERY" --help
    shows "orrery run"
    expect 0 "$ORRERY" --version
    grep -qE '^orrery [0-9]+\.[0-9]+\.[0-9]+$' out
}

@test "every command has help with an example" {
    "$ORRERY" --help >all
    for command in run check memory plan collective export list schema doctor completion validate study merge report explain compare lesson replay profile import chakra; do
        grep -qE "^  $command " all
        expect 0 "$ORRERY" "$command" --help
        shows "usage: orrery $command"
        shows "example:"
    done
}

@test "unknown commands get the nearest name" {
    expect 2 "$ORRERY" rnu
    said "did you mean 'run'?"
    expect 2 "$ORRERY" "$(printf '\033[31mx')"
    lacks "$(printf '\033')" err
}

@test "a scenario that is not there is named where it is" {
    mkdir -p s/weeks s/step
    cp "$hello" s/weeks/moved.yaml
    local moved=s/moved.yaml command
    for command in "run $moved" "check $moved" "memory $moved" "study $moved" "plan $moved" "lesson $moved" "explain $moved" \
        "explain $moved --walls" "export $moved" "export $moved --launch megatron" "report $moved" "compare $moved $hello" \
        "compare $hello $moved" "chakra $moved x" "replay $moved --html x.html" "run $hello --against $moved" \
        "run $hello --measured $moved:step=1s" "merge $moved"; do
        # shellcheck disable=SC2086
        expect 1 "$ORRERY" $command
        said "s/moved.yaml: No such file or directory; s/weeks/moved.yaml has that name"
        [ ! -s out ]
    done
    expect 1 "$ORRERY" validate s/moved.yaml
    said "s/weeks/moved.yaml has that name"
    cp "$hello" s/step/moved.yaml
    expect 1 "$ORRERY" run s/moved.yaml --no-db
    said "s/step/moved.yaml and s/weeks/moved.yaml have that name"
    expect 1 "$ORRERY" run s/other.yaml --no-db
    lacks "that name" err
}

@test "an option that takes one value is refused when it is given twice; lists are not" {
    expect 2 "$ORRERY" run "$SCENARIOS/hello-8-gpus.yaml" --no-db --seed 1 --seed=2
    said "--seed is given twice; it takes one value"
    expect 0 "$ORRERY" run "$SCENARIOS/hello-8-gpus.yaml" --no-db --no-db --set name=a --set seed=2
}

@test "a key that is given twice is refused, by whatever options; one inside another refines it" {
    local stated cards=(--vary cluster.gpu=h100-80gb-sxm,h200-141gb-sxm --seeds 1)
    twice() { # KEY OTHER ARGUMENT...
        expect 2 "$ORRERY" "${@:3}"
        said "$1 is given twice, also by $2; leave one out"
        [ ! -s out ]
    }
    lost() { # OTHER REMEDY ARGUMENT...
        expect 2 "$ORRERY" "${@:3}"
        said "and $1 is lost; $2"
    }
    for command in "run --no-db" check memory explain; do
        # shellcheck disable=SC2086
        twice layout.tp "--set layout.tp=2" $command "$hello" --set layout.tp=2 --set name=x --set layout.tp=4
    done
    said "orrery explain: --set layout.tp=4: layout.tp is given twice"
    # In another spelling: a section's word, a key of two names, an option of its own.
    twice cluster.gpu.name "--set cluster.gpu=h200-141gb-sxm" run "$hello" --set cluster.gpu=h200-141gb-sxm --set cluster.gpu.name=h100-80gb-sxm
    twice cluster.fabric.nic "--set cluster.fabric.nic_bandwidth=4GB/s" run "$hello" --set cluster.fabric.nic_bandwidth=4GB/s --set cluster.fabric.nic=4GB/s
    twice recovery.repair.mean "--set recovery.repair=2h" run "$hello" --set recovery.repair=2h --set recovery.repair.mean=3h
    twice 'failures[1].repair' '--set failures[1].repair.mean=1d' run "$hello" --set 'failures[0].repair=1d' --set 'failures[1].repair.mean=1d' --set 'failures[1].repair=2d'
    twice seed --seed run "$hello" --set seed=1 --seed 2
    twice layout.tp "--set layout.tp=2" study "$hello" --vary layout.tp=1,2 --set layout.tp=2
    twice layout.tp "--vary layout.tp=1,2" study "$hello" --vary layout.tp=1,2 --vary layout.tp=4
    stated=(plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --top 1)
    twice cluster.gpu --gpu "${stated[@]}" --set cluster.gpu=h200-141gb-sxm
    twice cluster.gpus --gpus "${stated[@]}" --set cluster.gpus=16
    twice training.sequence --sequence "${stated[@]}" --sequence 4096 --set training.sequence=2048
    expect 0 "$ORRERY" plan --model gpt2-124m --gpu h100-80gb-sxm --gpus 8 --top 1 --vary cluster.gpu=h200-141gb-sxm --vary cluster.gpus=8
    # What holds a key that was given replaces it.
    lost "--set layout.tp=2" "leave one out" run "$hello" --set layout.tp=2 --set 'layout={pp: 2}'
    lost "--set cluster.gpu.power=500W" "write cluster.gpu.name" study "$hello" "${cards[@]}" --set cluster.gpu.power=500W
    expect 0 "$ORRERY" study "$hello" --no-db --set cluster.gpu.power=500W --vary cluster.gpu.name=h200-141gb-sxm --seeds 1
    expect 0 "$ORRERY" run "$hello" --no-db --set cluster.gpus=8 --set cluster.gpu=h200-141gb-sxm --set cluster.gpu.power=500W --set 'layout={tp: 2}' --set layout.microbatch=1
    expect 0 "$ORRERY" check "$hello" --set 'failures[0]={cause: a, mtbf: 1y}' --set 'failures[1]={cause: b, mtbf: 1y}' --set 'failures[1].unit=node'
}

@test "unknown options get the nearest name; all mistakes come at once" {
    expect 2 "$ORRERY" run --unflod --seed x
    said "did you mean '--unfold'?"
    said "--seed x"
    said "SCENARIO is missing"
    expect 2 "$ORRERY" run a b
    expect 2 "$ORRERY" export x.db --format pdf
    expect 2 "$ORRERY" doctor --json=yes
}

@test "a key without its section, a name without its end, in capitals" {
    expect 3 "$ORRERY" run "$hello" --set tp=4
    said "unknown key 'tp'; did you mean 'layout.tp'?"
    expect 3 "$ORRERY" study "$SCENARIOS/studies/spares-study.yaml" --vary spares=4,8
    said "unknown key 'spares'; did you mean 'recovery.spares'?"
    expect 3 "$ORRERY" check "$hello" --set cluster.gpu=H200
    said "did you mean 'h200-141gb-sxm'?"
    expect 2 "$ORRERY" list GPUS
    said "did you mean 'gpus'?"
    expect 2 "$ORRERY" VALID
    said "did you mean 'validate'?"
    expect 2 "$ORRERY" run "$hello" --uncert
    said "did you mean '--uncertainty'?"
}

@test "a file that is not there, a folder, an empty file, bytes" {
    expect 1 "$ORRERY" run nothing.yaml
    said "nothing.yaml"
    for line in "check" "memory" "plan" "study" "explain" "report" "export" "replay" "validate" "import xid" \
        "import mllog" "import chakra" "profile show" "profile check"; do
        # shellcheck disable=SC2086
        case $line in
        study) more="--vary layout.tp=1,2" ;;
        "import xid") more="--gpus 8" ;;
        *) more="" ;;
        esac
        # shellcheck disable=SC2086
        expect 1 "$ORRERY" $line nothing $more
        said "nothing"
    done
    expect 1 "$ORRERY" chakra "$hello" nothing
    expect 1 "$ORRERY" profile model nothing "$hello"
    mkdir folder
    expect 1 "$ORRERY" check folder
    said "folder: is a folder, not a file"
    : >empty.yaml
    expect 3 "$ORRERY" check empty.yaml
    head -c 4096 /dev/zero | tr '\0' '\377' >noise.yaml
    expect 3 "$ORRERY" check noise.yaml
    [ ! -e noise.db ]
}

@test "a rejected scenario: every problem, exit 3, no database" {
    expect 3 "$ORRERY" run "$hello" --set layout.tpp=4 --set training.sequnce=9
    said "tpp"
    said "sequnce"
    [ -z "$(find . -name '*.db*')" ]
}

@test "odd names of scenarios" {
    cp "$hello" "with space.yaml"
    cp "$hello" ./-dash.yaml
    cp "$hello" noextension
    expect 0 "$ORRERY" run "with space.yaml"
    [ -f "with space.db" ]
    expect 0 "$ORRERY" run -- -dash.yaml
    [ -f ./-dash.db ]
    expect 0 "$ORRERY" run noextension
    [ -f noextension.db ]
}

@test "completion of each shell knows every command; bash reads its own" {
    for shell in bash zsh fish; do
        expect 0 "$ORRERY" completion "$shell"
        shows "unfold"
    done
    "$ORRERY" completion bash >c.bash
    bash -n c.bash
    run bash -c 'source c.bash; COMP_WORDS=(orrery run --unf); COMP_CWORD=2; _orrery; echo "${COMPREPLY[@]}"'
    [ "$output" = "--unfold" ]
    run bash -c 'source c.bash; COMP_WORDS=(orrery run --detail ke); COMP_CWORD=3; _orrery; echo "${COMPREPLY[@]}"'
    [ "$output" = "kernel" ]
    expect 2 "$ORRERY" completion tcsh
}

@test "list: every family, one family, an unknown one, JSON" {
    expect 0 "$ORRERY" list
    for family in topology schedule sharding collective precision optimizer gpus nodes fabrics models software; do
        grep -qx "$family" out
    done
    shows "h100-80gb-sxm"
    expect 0 "$ORRERY" list gpus
    lacks '^nodes$' out
    expect 2 "$ORRERY" list gpsu
    said "did you mean 'gpus'?"
    expect 0 "$ORRERY" list schedule --json
    shows '"1f1b"'
}

@test "schema is JSON; doctor says what works" {
    expect 0 "$ORRERY" schema
    [ "$(sqlite3 :memory: "select json_valid(readfile('out'))")" = 1 ]
    expect 0 "$ORRERY" doctor
    shows "SQLite"
    shows "built-in catalogue"
    expect 0 "$ORRERY" doctor --json
    [ "$(sqlite3 :memory: "select json_extract(readfile('out'), '\$.schema')")" = orrery.doctor/1 ]
}

@test "schema --commands lists every command, and every option with the words of its --help" {
    expect 0 "$ORRERY" schema --commands
    cp out commands.json
    [ "$(jq -r .schema out)" = orrery.commands/1 ]
    "$ORRERY" --help | sed -n '/^usage:/,/^  --version/s/^  \([a-z][a-z]*\)  *[^ ].*/\1/p' >names
    jq -r '.commands[].name' commands.json | diff names -
    while read -r name; do
        jq -r --arg name "$name" '.commands[] | select(.name == $name)' commands.json >row
        "$ORRERY" "$name" --help >help
        awk -F '  +' '/^  -/ {print $2}' help >wanted
        jq -r '.options[] | [.name, .value // empty] | join(" ")' row | diff wanted -
        grep -qxF "usage: orrery $name$(jq -r '.positional // empty | " " + .' row) [OPTION]..." help
        tr -s ' \n' '  ' <help >flat
        jq -r '.options[] | .doc + (if .usual then " (" + .usual + ")" else "" end) +
            (if .choices then ": " + (.choices | join(", ")) else "" end)' row >sentences
        while IFS= read -r sentence; do grep -qF -- "$sentence" flat || { echo "$name: $sentence"; false; }; done <sentences
    done <names
    [ "$(jq -c '.commands[] | select(.name == "run") | .options[] | select(.repeats) | .name' out | tr -d '\n')" = '"--set""--measured"' ]
    [ "$(jq -r '.commands[] | select(.name == "run") | .options[] | select(.name == "--detail") | .type' out)" = choice ]
    [ "$(jq -r '.commands[] | select(.name == "run") | .options[] | select(.name == "--uncertainty") | .type' out)" = maybe ]
    jq -e '.commands[] | select(.name == "run") | .conflicts[] | select(.one == "--no-db" and .other == "--db")' out >pair
    expect 2 "$ORRERY" schema --commands --markdown
    said "give one of them"
}

@test "a software profile with a history shows it, in text and in JSON" {
    expect 0 "$ORRERY" list software nemo --json
    facts() { sqlite3 :memory: "select $1 from json_each(readfile('out'), '\$.rows[0].history')"; }
    [ "$(facts 'count(*)')" -ge 2 ]
    facts "json_extract(value, '\$.since')" >since
    facts "json_extract(value, '\$.source')" >sources
    ! grep -qv '^20[0-9][0-9]-[01][0-9]$' since || false
    ! grep -q '^$' sources || false
    [ "$(facts "group_concat(json_extract(value, '\$.sets.router_fusion'))")" = true ]
    [ "$(facts "count(json_extract(value, '\$.size'))")" -lt "$(facts 'count(*)')" ] # null where nobody says it
    expect 0 "$ORRERY" list software nemo
    grep '^  20[0-9][0-9]-[01][0-9]  ' out | cut -c3-9 | cmp - since
    shows "sets router_fusion: true"
    tr -s ' \n' ' ' <out >unwrapped
    while IFS= read -r source; do grep -qF -- "$source" unwrapped; done <sources
    expect 0 "$ORRERY" list software nanotron
    ! grep -q '^History' out || false
    expect 0 "$ORRERY" list software nanotron --json
    [ "$(sqlite3 :memory: "select json_extract(readfile('out'), '\$.rows[0].history') is null")" = 1 ]
}

@test "an entry of the catalogue shows its figures, with error and source" {
    expect 0 "$ORRERY" list gpus h100-80gb-sxm
    grep -qE '^  hbm_bandwidth +3350GB/s +exact +\[1\]$' out
    grep -qE '^  hbm_efficiency +89% +5.0 % +\[[0-9]+\]$' out
    shows "[1] specification: NVIDIA H100 data sheet"
    expect 0 "$ORRERY" list gpus h100-80gb-sxm --json
    [ "$(sqlite3 :memory: "select json_extract(value, '\$.value') || ' ' ||
        json_extract(value, '\$.unit') || ' ' || json_extract(value, '\$.error_ratio') from
        json_each(readfile('out'), '\$.rows[0].figures') where
        json_extract(value, '\$.name') = 'hbm_efficiency'")" = "0.89  0.05" ]
    expect 0 "$ORRERY" list schedule 1f1b
    [ "$(wc -l <out)" -eq 2 ]
    expect 2 "$ORRERY" list gpus H200
    said "gpus has no 'H200'; did you mean 'h200-141gb-sxm'?"
    expect 2 "$ORRERY" list gpus h100-80gb-sxm more
    "$ORRERY" list --json >all
    for family in gpus nodes fabrics models software fleets storage; do
        name=$(sqlite3 :memory: "select json_extract(value, '\$.name') from
            json_each(readfile('all'), '\$.rows') where
            json_extract(value, '\$.family') = '$family' limit 1")
        expect 0 "$ORRERY" list "$family" "$name"
        shows "[1] "
    done
}

@test "every figure that a run stands on is in its database, with its source" {
    expect 0 "$ORRERY" run "$hello" --db x.db
    [ "$(sql x.db "select value, unit, error_ratio, origin from constant where name =
        'gpu.h100-80gb-sxm.hbm_efficiency'")" = "0.89||0.05|measured" ]
    [ "$(sql x.db "select count(*) from constant where source = '' or origin = ''")" -eq 0 ]
    [ "$(sql x.db "select group_concat(f, ' ') from (select distinct substr(name, 1,
        instr(name, '.') - 1) as f from constant order by 1)")" = "fabric gpu model node software" ]
    [ "$(sql x.db "select value from constant where name like 'node.%.nvlink_bandwidth'")" = 450000000000.0 ]
}

@test "doctor names the commands that there are" {
    expect 0 "$ORRERY" doctor
    can=$(sed -n 's/^  can  *//p' out)
    [ -n "$can" ]
    [ "$can" = "$("$ORRERY" --help | sed -n '/^usage/,/--version/s/^  \([a-z]*\)  .*/\1/p' | xargs)" ]
    for command in $can; do expect 0 "$ORRERY" "$command" --help; done
}

@test "options that contradict each other are refused, each pair of each command" {
    "$OUTPUTS" conflicts >../pairs
    [ "$(wc -l <../pairs)" -ge 15 ]
    while read -r command one other; do
        for line in "$one $other" "$other $one"; do
            # shellcheck disable=SC2086
            expect 2 "$ORRERY" "$command" "$hello" $line </dev/null
            said "${one%%=*}"
            said "${other%%=*}"
            [ ! -s out ]
        done
    done <../pairs
    for pair in "run --no-db --db" "run --no-db --max-db" "study --no-db --db" "study --no-db --max-db" "plan --gpus --most-gpus"; do
        # shellcheck disable=SC2086
        set -- $pair
        grep -q "^$1 $2\(=[^ ]*\)* $3" ../pairs || { echo "not in the tables: $pair"; return 1; }
    done
    expect 2 "$ORRERY" memory "$hello" --limit 0
    said "expected a whole number above 0"
}

@test "counts are written as in a scenario; what is too large is told so; -V; help of a command" {
    expect 0 "$ORRERY" plan --model llama3-8b --gpu h100-80gb-sxm --gpus 16 --global-batch 1k --json
    jq -e '[.layouts[] | .tp * .pp * .cp * .dp == 16] | all' out
    expect 2 "$ORRERY" plan --model llama3-8b --gpu h100-80gb-sxm --gpus 1e18
    said "orrery plan: --gpus 1e18: too large for a count"
    "$ORRERY" --version >version
    expect 0 "$ORRERY" -V
    cmp out version
    for command in run plan; do
        "$ORRERY" $command --help >long
        expect 0 "$ORRERY" help $command
        cmp out long
    done
    expect 2 "$ORRERY" help rum
    said "did you mean 'run'"
    "$ORRERY" --help >long
    expect 0 "$ORRERY" help
    cmp out long
}
