# Cross-foot: every number of a run, of weeks and of a study is recomputed from others.
#
# crossfoot.rules holds one identity a line: where it holds, the numbers that it vouches for, the
# slack beside a relative 1e-9, and SQL whose rows are (what stands there, what it must be). Each
# must hold in every case of its kind; must fail in some case when a thousandth is added to what it
# expects; and every number of a document or a table is vouched for by a rule, or is listed in
# crossfoot.inputs with the reason.
load helper

setup() { cd "$BATS_FILE_TMPDIR" || exit 1; }

setup_file() {
    setup
    expand_rules <"$BATS_TEST_DIRNAME/crossfoot.rules" >rules
    make_scenarios
    local plain="slow_rank=-1 slow=1" sync=(--set checkpoint.policy=sync --set checkpoint.storage=pfs)
    case_of pipe "run step pipe" "$plain tokens=1e12" 0 run pipe.yaml --detail flow
    case_of card "run step alone card busy" "$plain" 0 run hello.yaml --detail flow
    case_of kernels "run step alone kernel note busy" "$plain" 0 run hello.yaml --detail kernel \
        --set 'notes=[{at: 12.5ms, say: half way}]'
    case_of sharded "run step alone ring" "$plain" 0 run sharded.yaml --detail flow
    case_of slow "run step slow" "slow_rank=3 slow=.7" 0 run hello.yaml --detail op \
        --set 'perturbations.stragglers=[{gpu: 3, speed: 70%}]'
    case_of full "full" "$plain" 4 run hello.yaml --set training.global_batch=16384 --set layout.microbatch=2048
    case_of near "full near" "$plain" 4 run hello.yaml --set training.global_batch=2048 --set layout.microbatch=128 \
        --set layout.recompute=none
    case_of errors "run step uncertain" "$plain" 0 run hello.yaml --uncertainty
    case_of against "run step against" "$plain" 0 run hello.yaml --uncertainty 16 --against sharded.yaml
    case_of async "run weeks plain saves stands" "wall=1728000 keep=2 power_spares=2 spares=2 price=20" 0 run weeks.yaml
    case_of sync "run weeks plain saves" "wall=2592000 keep=3 power_spares=0 spares=1 price=0" 0 run weeks.yaml --seed 4 \
        "${sync[@]}" --set checkpoint.keep=3 --set run.duration=30d --set recovery.policy=cold-spare --set recovery.spares=1 \
        --set cost.storage_tb_month=0USD --set recovery.repair=100h
    case_of replicas "run replicas" "keep=2 power_spares=2 spares=2 price=20" 0 run weeks.yaml --set recovery.policy=replica-level
    case_of mixed "run weeks mixed" "keep=2 power_spares=1 spares=1 price=20" 0 run mixed.yaml
    "$ORRERY" run weeks.yaml "${sync[@]}" --set checkpoint.interval=6min --seed 2 --no-db --json >one.json 2>one.err
    make_traces
    case_of chain traces "by_rates=1 holes=3 payload=$((2 * 4194304 + 3 * 1048576 + 65536))" 0 \
        chakra hello.yaml chain --drop-missing
    case_of grid "study weeks5" "seeds=5" 0 study weeks.yaml "${sync[@]}" --seeds 5 --threads 1 \
        --vary checkpoint.interval=3min..48min:log:5
    case_of steps "study steps" "seeds=100" 0 study hello.yaml --threads 1 --vary layout.microbatch=1,2,3,2048 \
        --set training.global_batch=16384 --set cost.gpu_hour=2USD --set training.tokens=1T
}

# Of four ranks a chain of nodes each: all lanes, collectives of all and of some, a message.
make_traces() {
    python3 "$BATS_TEST_DIRNAME/chakra_write.py" chain 4 <<'NODES'
0-2 4 1 us=100 wait=900
3 4 1 us=150
all 7 2 comm_type=0 comm_size=4194304 wait=1
all 4 3 us=70 cpu=1 wait=2
all 2 4 us=30 wait=3
0 5 5 comm_dst=1 comm_size=65536 wait=4
1 6 5 comm_src=0 comm_size=65536 wait=4
2 4 5 num_ops=1000000000 wait=4
3 4 5 wait=4
1-3 7 6 comm_type=2 comm_size=1048576 pg_name=some wait=5
1-3 7 7 comm_type=0 comm_size=4194304 pg_name=some wait=6
NODES
}

make_scenarios() {
    cp "$SCENARIOS/hello-8-gpus.yaml" hello.yaml
    cat >pipe.yaml <<'END2'
name: A pipeline whose messages share few uplinks
model: {layers: 16, hidden: 1024, heads: 16, kv_heads: 8, head_size: 64, ffn_hidden: 2816, vocabulary: 32000}
cluster:
  gpu: h100-80gb-sxm
  node: dgx-h100
  nodes: 8
  fabric: {kind: fat_tree, nic: 400Gb/s, radix: 20, oversubscription: 4, efficiency: 92%, switch_latency: 0.6us}
training: {sequence: 2048, global_batch: 64, precision: bf16, optimizer: adamw, tokens: 1T}
layout: {tp: 2, pp: 4, vpp: 2, schedule: interleaved, sharding: zero-1, microbatch: 1, recompute: block, recompute_layers: 1, sequence_parallel: true}
software: megatron
cost: {gpu_hour: 2.5USD}
END2
    cat >sharded.yaml <<'END2'
name: All sharded over four nodes
model: {preset: gpt2-124m}
cluster:
  gpu: h100-80gb-sxm
  node: dgx-h100
  nodes: 4
  fabric: {kind: fat_tree, nic: 400Gb/s, radix: 20, oversubscription: 4, efficiency: 92%, switch_latency: 0.6us}
training: {sequence: 1024, global_batch: 64, precision: bf16, optimizer: adamw}
layout: {tp: 1, pp: 1, sharding: zero-3, microbatch: 1, recompute: none}
software: fsdp
END2
    cat >weeks.yaml <<'END2'
name: Weeks
model: {preset: llama3-8b}
cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 16, fabric: ib-ndr-8x400}
training: {sequence: 8192, global_batch: 64, attention: flash3}
layout: {tp: 8, sharding: zero-1, recompute: selective, sequence_parallel: true}
run: {duration: 20d}
failures:
  - {cause: GPU, unit: gpu, mtbf: 200d, in_place: 30%}
  - {cause: "disk, or its cable", unit: node, law: weibull, shape: 0.7, mtbf: 60d,
     repair: {mean: 5h, law: lognormal, shape: 1}}
  - {cause: bug, unit: job, mtbf: 3d, in_place: 100%}
checkpoint: {policy: async, interval: 10min, storage: host+pfs}
recovery: {policy: hot-spare, spares: 2, repair: 8h,
  restart: {detect: {mean: 2min, law: exponential}, start: 5min, communicators: {mean: 20s, sheltered: true}}}
cost: {gpu_hour: 2.5USD, storage_tb_month: 20USD}
END2
    sed -e "s/^run:.*/run: {duration: 22d, steps: 1400000, maintenance_every: 5d, maintenance: 2h}/" \
        -e "/^failures/,\$d" weeks.yaml >mixed.yaml
    cat >>mixed.yaml <<'END2'
failures:
  - {cause: crash, unit: gpu, mtbf: 200d}
  - {cause: hot, unit: gpu, mtbf: 900d, effect: slow, slow: 70%, detect: 1d}
checkpoint: {policy: multi-level, interval: 10min, storage: host+nvme+pfs}
recovery: {policy: hot-spare, spares: 1, repair: 40h, restart: {detect: 3min, start: 5min}}
cost: {gpu_hour: 2.5USD, storage_tb_month: 20USD}
END2
}

# Lines with <PART>, <TENANT>, <LINK> or <CLASS> stand for one of each name; {key} is a value of the
# document, #name# a constant, @name@ what the case says. Each comes with the number of its line.
expand_rules() {
    awk '
        function all(line, tag, names,   list, i, n, copy) {
            if (index(line, "<" tag ">") == 0) return 0
            n = split(names, list, " ")
            for (i = 1; i <= n; i++) { copy = line; gsub("<" tag ">", list[i], copy); print NR " | " copy }
            return 1
        }
        /^#|^$/ { next }
        all($0, "PART", "compute recompute exposed_tp exposed_cp exposed_ep bubble exposed_pp exposed_dp offload optimizer host straggler") { next }
        all($0, "TENANT", "weights gradients master moments activations temporary communication context fragmentation") { next }
        all($0, "LINK", "detect diagnose cordon allocate schedule provision start communicators warmup load") { next }
        all($0, "CLASS", "useful checkpoint lost_work detect wait degraded maintenance") { next }
        { print NR " | " $0 }' | sed -E \
        -e "s/\{document\}/(select text from document)/g" \
        -e "s/\{([^}]*)\}/(select value from atom where key = '\$.\1')/g" \
        -e "s/#([a-z_]+)\.([a-z_0-9]+)#/(select value from constant where name like '\1.%.\2')/g" \
        -e "s/@([a-z_]+)@/(select value from given where key = '\1')/g"
}

# What the rules read beside the tables: the document, and what the case says.
helpers() {
    cat <<SQL
.bail on
create temp table document as select readfile('$1.json') as text;
create temp table atom as select replace(fullkey, '"', '') as key, replace(path, '"', '') as path, atom as value, type
    from document, json_tree(text) where type not in ('object', 'array');
create index temp.atom_key on atom (key);
create temp table given (key text primary key, value real);
$(for pair in $2; do echo "insert into given values ('${pair%%=*}', ${pair#*=});"; done)
create temp table foot (rule, got, want, slack);
SQL
    case $3 in
    study*) cat "$BATS_TEST_DIRNAME/crossfoot_study.sql" ;;
    *) cat "$BATS_TEST_DIRNAME/crossfoot_run.sql" ;;
    esac
}

# One insert for each rule of these kinds; a rule may end in `order by` and have no row.
inserts() {
    awk -F ' [|] ' -v kinds=" $1 " 'index(kinds, " " $2 " ") {
        printf "insert into foot select %d, a, b, %s from (select null as a, null as b where 0 union all select * from (%s));\n", $1, $4, $5 }' "${2:-rules}"
}

# The judgement of each row: does it hold, and would it notice a thousandth?
judge() {
    cat <<SQL
.mode tabs
select rule, '$1', case when got is null and want is null then 'none'
        when abs(got - want) <= 1e-9 * max(abs(got), abs(want)) + slack then 'holds' else 'off' end,
    case when got is null or want is null or want = 0 then 'none'
        when abs(got - 1.001 * want) <= 1e-9 * max(abs(got), abs(1.001 * want)) + slack then 'blind'
        else 'notices' end, got, want from foot;
SQL
}

# Plays a case and checks all rules of its kinds: NAME KINDS GIVEN EXIT-CODE COMMAND...
case_of() {
    local name=$1 kinds=$2 given=$3 code=$4 got=0
    shift 4
    "$ORRERY" "$@" --db "$name.db" --json >"$name.json" 2>"$name.err" || got=$?
    [ "$got" -eq "$code" ] || { echo "$name: exit code $got"; cat "$name.err"; return 1; }
    { helpers "$name" "$given" "$kinds"; inserts "$kinds"; judge "$name"; } >"$name.sql"
    sql "$name.db" <"$name.sql" >>rows
    sql :memory: "select distinct case json_extract(text, '\$.schema') when 'orrery.study/1' then 's:' else 'r:' end ||
        replace(substr(fullkey, 3), '\"', '') from (select readfile('$name.json') as text), json_tree(text)
        where type in ('integer', 'real', 'true', 'false')" | sed -E 's/\[[0-9]+\]/#/g' >>numbers
}

# The text of a rule by its line.
show_rules() { while read -r line rest; do echo "line $line $rest: $(sed -n "${line}p" "$BATS_TEST_DIRNAME/crossfoot.rules" | cut -c1-160)"; done; }

@test "every identity holds wherever it applies" {
    [ "$(wc -l <rows)" -gt 1000 ]
    awk -F '\t' '$3 == "off" { print $1, "(" $2 ": " $5 ", must be " $6 ")" }' rows >off
    if [ -s off ]; then
        awk '!seen[$1 $2]++' off | show_rules
        return 1
    fi
}

@test "every rule is met somewhere, and notices a thousandth" {
    awk -F '\t' '$4 == "notices" { print $1 }' rows | sort -nu >notices
    awk -F ' [|] ' '{ print $1 }' rules | sort -nu >lines
    sort lines >a
    sort notices | comm -23 a - >blind
    if [ -s blind ]; then
        show_rules <blind
        return 1
    fi
}

# Globs of names that are vouched for: of rules (the third field) and of inputs (the first word).
vouched() {
    { awk -F ' [|] ' '{ print $3 }' rules; awk '!/^#/ && NF { print $1 }' "$BATS_TEST_DIRNAME/crossfoot.inputs"; } |
        tr ' ' '\n' | sort -u
}

# Of names on stdin those that no glob of the file $1 meets.
unvouched() {
    awk -v globs="$1" 'BEGIN { while ((getline glob < globs) > 0) { gsub(/[.]/, "[.]", glob); gsub(/[*]/, ".*", glob); list["^" glob "$"] } }
        { met = 0; for (g in list) if ($0 ~ g) { met = 1; break } if (!met) print }'
}

@test "every number is vouched for by a rule, or is an input" {
    vouched >globs
    [ "$(sort -u numbers | wc -l)" -gt 150 ]
    sort -u numbers | unvouched globs >left
    sql pipe.db "select m.name || '.' || c.name from sqlite_schema m, pragma_table_info(m.name) c
        where m.type = 'table' and c.type in ('INTEGER', 'REAL')
        union select d.object || '.' || d.\"column\" from doc d join sqlite_schema m on m.name = d.object
        where m.type = 'view' and d.unit <> ''" >columns
    [ "$(wc -l <columns)" -gt 200 ]
    unvouched globs <columns >>left
    if [ -s left ]; then
        echo "no rule and no line in crossfoot.inputs for:"
        cat left
        return 1
    fi
    # a new key and a new column would be noticed
    [ "$(printf '%s\n' r:speed_of_light run.wings_m r:wall_s | unvouched globs | wc -l)" = 2 ]
}

@test "inputs are inputs: none is vouched for by a rule, none is gone" {
    awk -F ' [|] ' '{ print $3 }' rules | tr ' ' '\n' | sort -u >globs
    awk '!/^#/ && NF { print $1 }' "$BATS_TEST_DIRNAME/crossfoot.inputs" | sort >inputs
    [ -z "$(sort inputs | uniq -d)" ]
    unvouched globs <inputs >plain
    diff inputs plain
    cat numbers columns | sort -u >there
    while read -r input; do
        grep -qE "^$(sed -e 's/[.]/[.]/g' -e 's/[*]/.*/g' <<<"$input")\$" there || { echo "gone: $input"; return 1; }
    done <inputs
}

@test "a planted fault is found: a wrong factor, a wrong table, a missing row" {
    planted() { # SQL of a rule
        echo "run | run.step_s | 0 | $1" | expand_rules >planted
        { helpers pipe "" run; inserts run planted; judge pipe; } | sql pipe.db | cut -f 3
    }
    [ "$(planted "select step_s, max(finish_s) from run, rank_class")" = holds ]
    [ "$(planted "select step_s, max(finish_s) * 1.00000001 from run, rank_class")" = off ]
    [ "$(planted "select {step_time_s}, min(finish_s) from rank_class")" = off ]
    [ "$(planted "select {step_time_ms}, max(finish_s) from rank_class")" = off ]
    [ "$(planted "select step_s, null from run")" = off ]
}

@test "units: the name of a column says what doc says, and documents use the same names" {
    for pair in _s:s _ns:ns _bytes:B _bytes_per_s:B/s _tokens_per_s:tokens/s _ratio:1 _j:J _GiB:GiB _GB:GB _GB_per_s:GB/s _usd:USD; do
        sql pipe.db "select object || '.' || \"column\" || ' is in ' || unit from doc
            where \"column\" like '%' || replace('${pair%%:*}', '_', '\_') escape '\' and \"column\" not like '%\_per\_s' escape '\' and unit <> '${pair#*:}'"
        sql pipe.db "select object || '.' || \"column\" || ' is in ' || unit from doc
            where '${pair%%:*}' like '%_per_s' and \"column\" like '%' || '${pair%%:*}' and unit <> '${pair#*:}'"
    done >wrong
    sql pipe.db "select object || '.' || \"column\" from doc where \"column\" like 'percent%' and unit <> '%'
        union all select object || '.' || \"column\" from doc where \"column\" like 'cost\_usd%' escape '\' and unit <> 'USD'
        union all select object || '.' || \"column\" from doc where unit = 's' and \"column\" not like '%\_s' escape '\' and \"column\" <> 'seconds'
        union all select object || '.' || \"column\" from doc where unit = 'B' and \"column\" not like '%bytes%' and \"column\" <> 'value'" >>wrong
    diff wrong /dev/null
    # a number of a document whose name ends in no unit is a count, a ratio or a word of this list
    sort -u numbers | sed -E 's/.*[.]//' | grep -E '_(ms|us|ns|min|h|gb|mb|kb|gib|mib)$' >wrong && cat wrong && return 1
    true
}

@test "the report says what the document says" {
    "$ORRERY" report pipe.db >pipe.txt 2>/dev/null || "$ORRERY" run pipe.yaml --no-db >pipe.txt
    sql pipe.db <<'SQL' >wanted
select printf('bubble %.1f', 100 * bubble_ratio) from run;
select printf('MFU %.1f', 100 * mfu_ratio) from run;
select printf('HFU %.1f', 100 * hfu_ratio) from run;
select printf('%s %.1f', part, percent) from breakdown where seconds > 0;
select printf('stage %d %.1f', stage, percent_of_usable) from memory_peak;
select printf('GPU %.1f', tokens_per_s / rank_count / 1000) from run;
SQL
    sed -nE -e 's/^  bubble +([0-9.]+) % of.*/bubble \1/p' -e 's/^  MFU +([0-9.]+) % .*/MFU \1/p' -e 's/^  HFU +([0-9.]+) % .*/HFU \1/p' \
        -e 's/^  ([a-z_]+) +[0-9.]+ [mu]?s +([0-9.]+) %.*/\1 \2/p' \
        -e 's/^  stage ([0-9]+) .*GiB +([0-9.]+) %.*/stage \1 \2/p' \
        -e 's/.* ([0-9.]+) k for each GPU.*/GPU \1/p' pipe.txt | grep -v '^sum' >got
    diff <(sort wanted) <(sort got)
}
