# Each entry of the catalogue that is announced (card, node, network) is named as such by each command
# that tells figures of it: in text, in JSON, in every picture; and by none where a job does not use it.
load helper

# The entries, as "FAMILY NAME".
entries()
{
    local family name
    for family in gpus nodes fabrics; do
        "$ORRERY" list "$family" --json | jq -r '.rows[].name' | while read -r name; do
            "$ORRERY" list "$family" "$name" --json |
                jq -r --arg f "$family" '.rows[] | select(any(.figures[]; .name == "announced_error" and .value > 0)) | "\($f) \(.name)"'
        done
    done
}

# scenario FAMILY NAME: a small job on it.
scenario()
{
    local cluster
    case $1 in
    gpus) cluster="gpu: $2, gpus: 8" ;;
    nodes) cluster="gpu: h100-80gb-sxm, node: $2, gpus: 8" ;;
    fabrics) cluster="gpu: h100-80gb-sxm, gpus: 16, fabric: $2" ;;
    esac
    printf 'model: gpt2-124m\ntraining: {sequence: 1024, global_batch: 64}\ncluster: {%s}\n' "$cluster"
}

# told NAME FILE: the sentence, however it is broken into lines.
told() { tr -s ' \n' ' ' <"$2" | grep -qE "(^|[ \"(>])$1( is| and [^ ]+ are) announced: nothing was measured"; }

# The commands whose text and JSON tell figures; @ is the name.
commands()
{
    cat <<'EOF2'
run @.yaml --no-db
run @.yaml --no-db --uncertainty 4
run @-weeks.yaml --no-db
report @.db
report @-plan.db
report @-study.db
memory @.yaml
plan @.yaml --top 1
study @.yaml --vary training.global_batch=64,128 --no-db
explain @.db
explain @.yaml --walls
compare @.yaml @.yaml
compare @.yaml --trace trace.json
chakra @.yaml job
report @-tasks.db
EOF2
}
pictures()
{
    cat <<'EOF2'
export @.db --svg gantt
export @.db --svg memory
export @.db --svg waterfall
export @.db --svg roofline
export @.db --svg tornado
export @.db --svg map
export @.db --format svg
export @.db --format chrome
export @-tasks.db --format chrome
export @-study.db --svg pareto
export @-study.db --svg ucurve
export @-plan.db --svg pareto
EOF2
}

prepare()
{
    local name=$1
    { cat "$name.yaml"; printf 'failures: [{cause: gpu, unit: gpu, law: exponential, mtbf: 5y}]\nrun: {duration: 1d}\n'; } >"$name-weeks.yaml"
    "$ORRERY" run "$name.yaml" --db "$name.db" >/dev/null 2>&1
    "$ORRERY" plan "$name.yaml" --top 1 --db "$name-plan.db" >/dev/null 2>&1
    "$ORRERY" study "$name.yaml" --vary training.global_batch=64,128 --db "$name-study.db" --svg "$name-study.svg" >/dev/null 2>&1
    "$ORRERY" chakra "$name.yaml" job --db "$name-tasks.db" >/dev/null 2>&1
    "$ORRERY" explain "$name.db" --svg "$name-explain.svg" >/dev/null 2>&1
}

setup()
{
    cd "$BATS_TEST_TMPDIR" || exit 1
    printf 'all 4 1 us=1000 name=forward\nall 7 3 comm_type=0 comm_size=268435456 wait=1 name=gradients\n' |
        python3 "$BATS_TEST_DIRNAME/chakra_write.py" job 8
    echo '{"traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 1000, "pid": 0, "tid": 7}]}' >trace.json
}

@test "each command names each announced entry of the catalogue, in text, JSON and pictures" {
    entries >entries.txt
    [ "$(wc -l <entries.txt)" -ge 6 ]
    [ "$(cut -d' ' -f1 entries.txt | sort -u | wc -l)" -eq 3 ]
    while read -r family name; do
        scenario "$family" "$name" >"$name.yaml"
        prepare "$name"
        while read -r line; do
            for form in "" --json; do
                "$ORRERY" ${line//@/$name} $form >out 2>err || true
                told "$name" out || { echo "silent: $line $form of $name"; head -20 out err; false; }
                [ -z "$form" ] || grep -q '"announced": true' out || { echo "no flag: $line of $name"; false; }
            done
        done < <(commands)
        while read -r line; do
            "$ORRERY" ${line//@/$name} >out 2>err || true
            told "$name" out || { echo "silent: $line of $name"; head -5 err; false; }
        done < <(pictures)
        told "$name" "$name-study.svg"
        told "$name" "$name-explain.svg"
        "$ORRERY" check "$name.yaml" >out 2>&1
        told "$name" out
        "$ORRERY" study "$name.yaml" --vary training.global_batch=64,128 --no-db --csv >out 2>err
        grep -q ",announced," out
        told "$name" err
    done <entries.txt
}

@test "collective and validate name them" {
    while read -r family name; do
        case $family in
        gpus) what="--gpu $name" row="$name,8,8,none" ;;
        nodes) what="--node $name" row= ;;
        fabrics) what="--fabric $name --gpus 16" row="h100-80gb-sxm,16,8,$name" ;;
        esac
        for form in "" --json; do
            "$ORRERY" collective $what --min 1GiB --max 1GiB $form >out
            told "$name" out || { echo "silent: collective $what $form"; cat out; false; }
        done
        [ -n "$row" ] || continue
        printf 'row_id,source,quality,cite,op,gpu,gpus,gpus_per_node,fabric,nvls,size_bytes,time_s,algbw_bytes_per_s,busbw_bytes_per_s\na,law,clean,nobody,all_reduce,%s,0,1073741824,0.01,,\n' "$row" >rows.csv
        for form in "" --json "--csv"; do
            "$ORRERY" validate rows.csv --svg rows.svg $form >out 2>&1
            told "$name" out || { echo "silent: validate $form of $row"; cat out; false; }
        done
        told "$name" rows.svg
    done < <(entries)
}

@test "a network that one node does not use is not named" {
    while read -r family name; do
        [ "$family" = fabrics ] || continue
        scenario fabrics "$name" | sed 's/gpus: 16/gpus: 8/' >one.yaml
        prepare one
        while read -r line; do
            for form in "" --json; do
                "$ORRERY" ${line//@/one} $form >out 2>err || true
                lacks "s announced\|re announced\|\"announced\": true" out err
            done
        done < <(commands)
        while read -r line; do
            "$ORRERY" ${line//@/one} >out 2>err || true
            lacks "s announced\|re announced" out err
        done < <(pictures)
        "$ORRERY" collective --fabric "$name" --gpus 8 --min 1GiB --max 1GiB >out
        lacks announced: out
    done < <(entries)
}
