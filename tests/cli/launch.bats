# `export --launch`: scripts from databases and scenarios, and what is refused.
load helper

# holds KEY VALUE: of the document in out
holds() {
    local got
    got=$(sql :memory: "select json_extract(readfile('out'), '\$.$1')")
    [ "$got" = "$2" ] || { echo "$1 is $got, not $2"; return 1; }
}
frameworks="megatron torchtitan deepspeed nemo"

@test "every framework's script of a scenario is sound bash, and the same from its database" {
    "$ORRERY" run "$long" --db x.db --detail summary >out 2>err
    for framework in $frameworks; do
        expect 0 "$ORRERY" export "$long" --launch "$framework"
        shows "#SBATCH --nodes=8"
        bash -n out
        cp out scenario.sh
        expect 0 "$ORRERY" export x.db --launch "$framework"
        cmp out scenario.sh
        expect 0 "$ORRERY" export x.db --launch "$framework" --output y.sh
        cmp y.sh scenario.sh
        [ ! -s out ]
        expect 0 "$ORRERY" export - --launch "$framework" <"$long"
        cmp out scenario.sh
    done
}

@test "a database keeps what its line changed and what was chosen for it" {
    "$ORRERY" run "$hello" --set layout.dp=4 --set layout.microbatch=2 --db x.db >out 2>err
    expect 0 "$ORRERY" export x.db --launch megatron
    shows "#SBATCH --gpus-per-node=4"
    shows "--micro-batch-size 2"
    sed 's/^layout:.*/layout: {dp: auto}/; s/global_batch: 64/global_batch: 256/' "$hello" >open.yaml
    "$ORRERY" run open.yaml --db y.db >out 2>err
    expect 0 "$ORRERY" export y.db --launch megatron
    grep -q "micro-batch-size $(sql y.db 'select microbatch from run')$" out
    # an older database, which held no --set, is told by the layout that it wrote down
    sql x.db "delete from meta where key like 'set.%'"
    expect 1 "$ORRERY" export x.db --launch megatron
    said "run the scenario again, or name the scenario itself"
    [ ! -s out ]
    sql x.db "delete from meta where key = 'text'"
    expect 1 "$ORRERY" export x.db --launch megatron
    said "holds no scenario"
}

@test "experts are shared as they were, and shared experts run beside their exchanges" {
    v3="$SCENARIOS/step/deepseek-v3-2048xh800.yaml --set layout.dispatch=alltoall --set layout.dispatch_8bit=false --set layout.schedule=1f1b --set layout.recompute=full --set software.fp8_attention_cache=false"
    expect 0 "$ORRERY" export $v3 --launch megatron --set software.shared_expert_overlap=true
    shows "--moe-shared-expert-overlap"
    expect 0 "$ORRERY" export $v3 --launch megatron
    ! grep -q moe-shared-expert-overlap out || false
    expect 0 "$ORRERY" export ${v3/=alltoall/=hybridep} --launch megatron --set layout.rank_capacity=1.5
    shows "--moe-flex-dispatcher-backend hybridep"
    shows "--moe-hybridep-num-sms 32"
    shows "--moe-expert-rank-capacity-factor 1.5"
    sed '/^  ep: 8$/d' "$SCENARIOS/step/mixtral-8x7b-64xh100.yaml" >open.yaml
    "$ORRERY" run open.yaml --db z.db >out 2>err
    expect 0 "$ORRERY" export z.db --launch megatron
    grep -q "expert-model-parallel-size $(sql z.db "select text from message where severity = 'choice' and key = 'layout.ep'")$" out
}

@test "a database made with a catalogue of its own is restored with it" {
    cp -r "$SCENARIOS/catalogue" mine
    sed -i 's/^h100-80gb-sxm:/my-card:/' mine/gpus.yaml
    sed 's/gpu: h100-80gb-sxm/gpu: my-card/' "$hello" >mine.yaml
    "$ORRERY" run mine.yaml --catalogue mine --db x.db >out 2>err
    expect 0 "$ORRERY" export x.db --launch megatron
    shows "8 my-card"
    mv mine moved
    expect 1 "$ORRERY" export x.db --launch megatron
    said "mine/"
    expect 0 "$ORRERY" export x.db --launch megatron --catalogue moved
    shows "8 my-card"
}

@test "a database whose scenario somebody changed is told, whatever it holds" {
    "$ORRERY" run "$hello" --set layout.dp=4 --db x.db >out 2>err
    while IFS= read -r change; do
        cp x.db y.db
        sql y.db "$change"
        expect 1 "$ORRERY" export y.db --launch megatron
        said "orrery export: "
        [ ! -s out ] || { echo "written after: $change"; return 1; }
    done <<'SQL'
update meta set value = 'model: [' where key = 'text'
update meta set value = '' where key = 'text'
update meta set value = null where key = 'text'
update meta set value = cast(x'ff00fe' as text) where key = 'text'
update meta set value = replace(value, 'gpt2-124m', 'gpt2-350m') where key = 'text'
update meta set value = replace(value, 'gpt2-124m', 'nothing') where key = 'text'
update meta set value = 'layout.tp=3' where key = 'set.0001'
update meta set value = 'layout' where key = 'set.0001'
insert into meta values ('set.0002', 'training.global_batch=32')
insert into meta values ('catalogue', '/nowhere')
insert into message (run, severity, key, text) select run, 'choice', 'layout.tp', '2' from message limit 1
delete from run
update run set tp = null
update run set model = hex(zeroblob(100000))
SQL
}

@test "a framework that is none, a file that is none" {
    expect 2 "$ORRERY" export "$hello" --launch megatronn
    said "did you mean 'megatron'?"
    expect 2 "$ORRERY" export "$hello" --launch jax
    expect 1 "$ORRERY" export "$hello"
    said "a scenario goes with --launch"
    expect 1 "$ORRERY" export none.yaml --launch nemo
    said "none.yaml"
    expect 1 "$ORRERY" export none.db --launch nemo
    said "none.db"
    echo "no database" >bad.db
    expect 1 "$ORRERY" export bad.db --launch nemo
    said "bad.db"
    sqlite3 other.sqlite "create table t (a)"
    expect 1 "$ORRERY" export other.sqlite --launch nemo
    said "is not a results database of Orrery"
    "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --db study.db >out 2>err
    expect 1 "$ORRERY" export study.db --launch nemo
    said "name a database of \`orrery run\`, or a scenario"
    echo "layout: {tp: 3}" >bad.yaml
    expect 3 "$ORRERY" export bad.yaml --launch nemo
    [ ! -s out ]
}

@test "a layout that a framework forbids is refused with the rule, and nothing is written" {
    expect 3 "$ORRERY" export "$SCENARIOS/step/fsdp-7b.yaml" --launch torchtitan --set layout.sharding=zero-0 --set layout.tp=2 --output x.sh
    said "torchtitan refuses this layout: plain data parallelism (DDP) stands alone"
    [ ! -e x.sh ]
    expect 3 "$ORRERY" export "$SCENARIOS/step/fsdp-7b.yaml" --launch torchtitan --set layout.sharding=zero-0 --set layout.tp=2 --json
    holds schema orrery.launch/1
    holds framework torchtitan
    holds refused 1
    holds lines "[]"
    holds 'notes[0].weight' refused
    expect 3 "$ORRERY" export "$long" --launch deepspeed --set layout.pp=4 --set layout.vpp=4 --set layout.schedule=interleaved --set training.global_batch=64
    said "deepspeed refuses this layout: there is no interleaving: vpp 4 would become 1"
    [ ! -s out ]
    for framework in megatron torchtitan deepspeed nemo; do # it would train all weights, which do not fit
        expect 3 "$ORRERY" export "$SCENARIOS/memory/lora-70b-1-node.yaml" --launch $framework --output x.sh
        said "$framework refuses this layout: lora adapters of rank 16 are not written: this would train all weights"
        [ ! -e x.sh ]
    done
}

# told FRAMEWORK KEY=VALUE...: what a script says beside comments, its notes, or that it is refused
told() {
    local framework=$1 sets=() got=0 key
    shift
    for key in "$@"; do sets+=(--set "$key"); done
    "$ORRERY" export base.yaml --launch "$framework" "${sets[@]}" >script 2>notes || got=$?
    [ "$got" -eq 0 ] || grep -q "refuses this layout" notes || { cat notes >&2; return 1; }
    echo "exit code $got"
    sed '/^#/d' script
    cat notes
}

# Each line: a key, what else is set, and its two values. dp follows, experts need sequence_parallel, expert_imbalance is of the data, placement of
# the hosts, and units of layers are DeepSpeed's and TorchTitan's own.
@test "the key that a refusal names leads to a script" {
    own=("$SCENARIOS/llama3-70b-64xh100.yaml" --launch deepspeed --set software=deepspeed
        --set layout.pp=1 --set layout.dp=8 --set layout.sharding=zero-0)
    expect 3 "$ORRERY" export "${own[@]}"
    key=$(grep -oE '[a-z_]+\.[a-z0-9_]+=[a-z0-9]+ simulates that' err | cut -d' ' -f1)
    [ -n "$key" ]
    expect 0 "$ORRERY" export "${own[@]}" --set "$key"
}

@test "no key of a layout is dropped without a word" {
    cat >keys <<'KEYS'
tp - 2 4
pp - 2 4
cp - 1 2
ep - 4 2
etp - 1 2
expert_capacity - 0 2
dispatch - alltoall deepep
dispatch_8bit layout.dispatch=deepep,training.precision=fp8 false true
vpp layout.schedule=interleaved 2 4
microbatch - 1 2
schedule - 1f1b gpipe
sharding - zero-1 zero-0
recompute - full none
recompute_layers layout.recompute=block 4 8
cp_method layout.cp=2 ring all_to_all
cp_inner layout.cp=4,layout.cp_method=all_to_all_ring 2 4
cp_balance layout.cp=2 zig_zag none
order - tp-cp-dp-pp tp-cp-pp-dp
ends_count layout.pp=4,model.layers=34,software.even_stages=false true false
first_stage_layers - 16 15
last_stage_layers - 16 15
shard_group layout.sharding=hsdp,layout.pp=1 8 16
optimizer_offload - 0 0.5
optimizer_offload_to layout.optimizer_offload=0.5 cpu nvme
activation_offload layout.recompute=none 0 0.5
activation_offload_to layout.activation_offload=0.5,layout.recompute=none cpu nvme
rank_capacity layout.dispatch=hybridep 0 1.5
KEYS
    "$ORRERY" schema >schema
    sql :memory: "select key from json_each(readfile('schema'), '\$.properties.layout.properties')" | LC_ALL=C sort >all
    { cut -d' ' -f1 keys; printf "%s\n" dp sequence_parallel expert_imbalance placement fsdp_unit_layers; } | LC_ALL=C sort | cmp - all
    cat >base.yaml <<'BASE'
model: mixtral-8x7b
cluster: {gpu: h100-80gb-sxm, nodes: 8}
training: {sequence: 4096, global_batch: 256}
layout: {}
BASE
    usual="layout.tp=2 layout.pp=2 layout.ep=4 layout.etp=1 layout.schedule=1f1b layout.microbatch=1 layout.sharding=zero-1 layout.recompute=full"
    while read -r key beside one other; do
        others=()
        for set in $usual; do
            case ",$beside,layout.$key=" in *",${set%%=*}="*) ;; *) others+=("$set") ;; esac
        done
        [ "$beside" = - ] || IFS=, read -ra more <<<"$beside"
        [ "$beside" != - ] || more=()
        for framework in megatron torchtitan; do
            told "$framework" "${others[@]}" "${more[@]}" "layout.$key=$one" >one
            told "$framework" "${others[@]}" "${more[@]}" "layout.$key=$other" >other
            if cmp -s one other && grep -q "^exit code 0" other; then
                echo "$framework: layout.$key=$other is dropped"
                return 1
            fi
        done
    done <keys
}

@test "torchtitan's ranks of experts: a multiple of what they take, a divisor of what shards" {
    qwen=(--launch torchtitan --set layout.tp=4)
    cat >qwen.yaml <<'QWEN'
model: qwen3-30b-a3b
cluster: {gpu: h100-80gb-sxm, nodes: 8}
training: {sequence: 4096, global_batch: 256}
layout: {pp: 1}
software: torchtitan
QWEN
    expect 0 "$ORRERY" export qwen.yaml "${qwen[@]}" --set layout.ep=8 --set layout.etp=1
    shows "--parallelism.expert_parallel_degree 8"
    shows "--parallelism.expert_tensor_parallel_degree 1"
    expect 3 "$ORRERY" export qwen.yaml "${qwen[@]}" --set layout.ep=2 --set layout.etp=1
    said "with etp 1 the ranks that share experts are a multiple of 4 and divide the 64"
    expect 0 "$ORRERY" export qwen.yaml "${qwen[@]}" --set layout.ep=2 --set layout.etp=4
    shows "--parallelism.expert_tensor_parallel_degree 4"
    expect 3 "$ORRERY" export qwen.yaml "${qwen[@]}" --set layout.ep=1 --set layout.etp=1
    said "with ep 1 each expert is cut over the tp = 4 tensor ranks"
    expect 0 "$ORRERY" export qwen.yaml "${qwen[@]}" --set layout.ep=1
    lacks expert_tensor_parallel_degree out
}

@test "the document holds the script, its notes and the layout" {
    expect 0 "$ORRERY" export "$long" --launch megatron
    cp out plain.sh
    expect 0 "$ORRERY" export "$long" --launch megatron --json
    holds framework_version "Megatron-LM core_v0.19.0"
    holds layout.tp 8
    holds layout.pp 2
    holds layout.dp 4
    holds refused 0
    sql :memory: "select value from json_each(readfile('out'), '\$.lines')" >lines
    cmp lines plain.sh
    [ -z "$(sql :memory: "select 1 from json_each(readfile('out'), '\$.notes')
        where json_extract(value, '\$.weight') not in ('differs', 'yours')")" ]
}

@test "options that do not go together" {
    "$ORRERY" run "$hello" --db x.db >out 2>err
    expect 2 "$ORRERY" export x.db --launch megatron --set layout.tp=2
    said "--set changes a scenario"
    expect 2 "$ORRERY" export x.db --set layout.tp=2
    said "--set goes with --launch"
    expect 2 "$ORRERY" export x.db --json
    said "--json goes with --launch"
    mkdir mine
    expect 2 "$ORRERY" export x.db --catalogue mine
    said "--catalogue goes with --launch"
    expect 2 "$ORRERY" export x.db --launch megatron --format csv
    said "--launch writes a script"
    expect 2 "$ORRERY" export x.db --launch megatron --rank 1
    said "--launch writes a script: leave out --rank"
    expect 2 "$ORRERY" export x.db --launch megatron --format chrome
    said "--launch writes a script: leave out --format"
    expect 2 "$ORRERY" export x.db --table breakdown
    said "--table goes with --format csv"
    expect 2 "$ORRERY" export x.db --format csv --rank 1
    said "--rank goes with --format chrome"
    expect 0 "$ORRERY" export x.db --rank 1
    jq -e '.traceEvents | length > 0' out
    expect 0 "$ORRERY" export x.db --format csv --table breakdown --output -
    expect 2 "$ORRERY" export "$hello" --launch megatron --output "$hello"
    said "which is read"
    expect 1 "$ORRERY" export "$hello" --launch megatron --output /nowhere/x.sh
    said "cannot write /nowhere/x.sh"
}

# tight FRAMEWORK KEY=VALUE...: the script of a layout whose head takes what its cards have not
tight() {
    local framework=$1
    shift
    "$ORRERY" export tight.yaml --launch "$framework" "$@"
}
write_tight() {
    cat >tight.yaml <<'TIGHT'
model: llama3-8b
cluster: {gpu: h100-80gb-sxm, gpus: 64}
training: {sequence: 32768, global_batch: 64}
layout: {tp: 1, pp: 1, microbatch: 1, recompute: full}
software: megatron
TIGHT
}

@test "a key of software that no option says is told, and refused where it fills the card" {
    write_tight
    flagship="$SCENARIOS/llama3-405b-16384xh100.yaml"
    for framework in $frameworks; do # cards that hold both
        expect 0 tight $framework --set "software={profile: $framework, loss_chunks: 8}" --set training.sequence=8192
        said "note: $framework: software.loss_chunks is 8 here and 1 in the profile $framework: no option of the script says it"
        shows "# Differs  software.loss_chunks is 8 here and 1 in the profile"
        cp out one.sh
        expect 0 tight $framework --set "software={profile: $framework}" --set training.sequence=8192
        lacks loss_chunks out
        ! cmp -s out one.sh || false
    done
    expect 3 tight megatron --set "software={profile: megatron, loss_chunks: 8}"
    said "with software.loss_chunks=1, as in the profile, it does not fit in memory: stage 0 needs 92.1 GiB a card and 79.2 GiB are usable; 64.7 GiB were simulated"
    [ ! -s out ]
    expect 3 "$ORRERY" export "$flagship" --launch megatron
    said "with software.save_norm_input=true, as in the profile, it does not fit in memory: stage 1 needs 87.1 GiB a card"
    expect 4 "$ORRERY" memory "$flagship" --set software.save_norm_input=true
    grep -q "87.1 GiB" out # the same ledger
    "$ORRERY" run "$flagship" --db f.db --detail summary >out 2>err
    expect 3 "$ORRERY" export f.db --launch megatron
    said "software.save_norm_input is false here and true in the profile megatron"
}

@test "a layout that does not fit in memory: its script says so" {
    write_tight
    expect 0 tight megatron
    said "note: megatron: it does not fit in memory: stage 0 needs 92.1 GiB a card and 79.2 GiB are usable; \`orrery memory\` says what fills it"
    shows "# Yours    it does not fit in memory: stage 0 needs 92.1 GiB a card"
    expect 0 tight megatron --json
    holds refused 0
    holds 'notes[0].weight' yours
    [[ "$(sql :memory: "select json_extract(readfile('out'), '\$.notes[0].text')")" == "it does not fit in memory"* ]]
    expect 0 tight megatron --set training.sequence=8192
    lacks "does not fit" err
    # the cards hold it; the CPUs of a node keep an eighth of 18 bytes a parameter (docs/models/offload.md)
    offloads="--set layout.optimizer_offload=1 --set cluster.node.host_memory="
    expect 0 tight megatron --set training.sequence=8192 ${offloads}10GB
    said "it does not fit in memory: the CPUs of a node need 16.8 GiB and have 9.31 GiB"
    expect 0 tight megatron --set training.sequence=8192 ${offloads}19GB
    lacks "does not fit" err
    expect 0 tight megatron ${offloads}10GB
    said "it does not fit in memory: stage 0 needs" # what fills a card is told before its host
}

# written POLICY...: the script of weeks, and the steps after which a run of them saves to storage first
written() {
    local tier=$1 first every
    shift
    rm -f w.db
    "$ORRERY" run "$weeks" "$@" --db w.db >out 2>err
    first=$(sql w.db "select coalesce(min(step), 0) from checkpoint where tier = '$tier'")
    expect 0 "$ORRERY" export "$weeks" --launch megatron "$@"
    every=$(sed -n 's/^SAVE_EVERY=${SAVE_EVERY:-\([0-9]*\)}.*/\1/p' out)
    [ "${every:-0}" = "$first" ] || { echo "SAVE_EVERY is $every, a run saves after $first steps"; return 1; }
    cp out by_scenario.sh
    expect 0 "$ORRERY" export w.db --launch megatron
    cmp out by_scenario.sh
}

@test "saves are written as the weeks were simulated" {
    weeks="$SCENARIOS/weeks/async-vs-sync.yaml"
    written pfs
    shows "--async-save"
    said "is 10.2 min of work in simulated steps of 10.7 s: the interval of the scenario"
    written pfs --set checkpoint.interval=1h
    written pfs --set checkpoint.interval=1s
    shows "SAVE_EVERY=\${SAVE_EVERY:-1}"
    written pfs --set checkpoint.interval=optimal
    said "the optimal interval, as \`orrery run\` finds it"
    written pfs --set "checkpoint={policy: sync, storage: pfs, interval_steps: 7}"
    shows "--save-interval"
    lacks async-save out
    written pfs --set "checkpoint={policy: multi-level}"
    said "copies in memory are not written (checkpoint.policy=multi-level)"
    written pfs --set "checkpoint={policy: multi-level, storage: pfs+object-store}" # both outlive a domain
    written none --set "checkpoint={policy: none}"
    said "nothing is saved, as was simulated"
    lacks "--save" out
    expect 0 "$ORRERY" export "$weeks" --launch megatron --set layout.tp=2 # does not fit
    said "SAVE_EVERY=50 was not simulated: this layout has no step time"
    expect 0 "$ORRERY" export "$hello" --launch megatron
    said "SAVE_EVERY=50 was not simulated: the scenario has no weeks"
}

@test "plan: the script of the first layout knows its weeks and keys as well" {
    expect 0 "$ORRERY" plan "$SCENARIOS/weeks/async-vs-sync.yaml" --launch megatron --set "software={profile: megatron, bucket: 100MB}"
    said "software.bucket is 100MB here and 160MB in the profile megatron"
    grep -q "SAVE_EVERY=[0-9]* is .* of work in simulated steps" err
}
