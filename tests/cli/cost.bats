load helper

json() { sql :memory: "select $1 from (select readfile('out') as j)"; }

# A step of so many paid GPUs, tokens a step and USD an hour: the three prices, from the step time.
check_step() {
    local each="$1 * $3 / 3600.0"
    step=$(json "json_extract(j, '$.step_time_s')")
    for key in "per_step:1.0" "per_1e9_tokens:1e9 / ($2)" "for_budget:((15000000000000 + ($2) - 1) / ($2))"; do
        [ "$(json "abs(json_extract(j, '$.cost_usd_${key%%:*}') / ($each * $step * ${key#*:}) - 1) < 1e-12")" = 1 ]
    done
}

@test "a step: every GPU of the nodes in use, in text, JSON and database" {
    for replicas in 4 2; do # of 16 GPUs
        expect 0 "$ORRERY" run "$long" --set cost.gpu_hour=3.6USD --set layout.dp=$replicas --no-db --json
        check_step $((16 * replicas)) "8192 * 256" 3.6
    done
    expect 0 "$ORRERY" run "$long" --set cost.gpu_hour=3.6USD --db c.db
    # 64 x 3.6 / 3600 = 0.064 USD a second, and the step stands beside it
    shows "64 GPUs at 3.60 USD an hour"
    shows "USD a step, "
    shows "USD for 10^9 tokens, "
    shows "USD for 15.0 T"
    [ "$(sql c.db "select abs(cost_usd_per_step / (0.064 * step_s) - 1) < 1e-12 and abs(cost_usd_per_1e9_tokens / (0.064 * step_s / (8192 * 256) * 1e9) - 1) < 1e-12 and abs(cost_usd_for_budget / (0.064 * step_s * ((15000000000000 + 8192 * 256 - 1) / (8192 * 256))) - 1) < 1e-9 and gpu_hour_usd = 3.6 and cost_storage_usd is null from run")" = 1 ]
    # part of a node: 4 ranks, 8 GPUs paid; no budget is said
    expect 0 "$ORRERY" run "$hello" --set layout.dp=4 --set cost.gpu_hour=3.6USD --no-db --json
    [ "$(json "abs(json_extract(j, '$.cost_usd_per_step') / (8 * 0.001 * json_extract(j, '$.step_time_s')) - 1) < 1e-12")" = 1 ]
    [ "$(json "json_extract(j, '$.cost_usd_for_budget') is null")" = 1 ]
    # four of the eight GPUs of a node that the cluster has in part are paid as well, and it is said so
    expect 0 "$ORRERY" run "$hello" --set cluster.gpus=4 --set layout.dp=4 --set cost.gpu_hour=3.6USD --no-db
    shows "(8 GPUs paid, of which 4 work, at 3.60 USD an hour)"
    expect 0 "$ORRERY" run "$hello" --set layout.dp=4 --set cost.gpu_hour=3.6USD --set 'run={duration: 1d}' --no-db
    shows "(8 GPUs of the job paid, 4 of them work)"
    expect 0 "$ORRERY" run "$hello" --set cost.gpu_hour=3.6USD --set 'run={duration: 1d}' --no-db
    lacks "GPUs paid" out
    # without a price nothing is told
    expect 0 "$ORRERY" run "$hello" --set cost.gpu_hour=0USD --db none.db
    tail -n +2 out > below # the title tells the key
    lacks "USD" below
    [ "$(sql none.db "select count(gpu_hour_usd) + count(cost_usd_per_step) + count(cost_usd_per_1e9_tokens) from run")" = 0 ]
}

@test "weeks: GPUs, spares that stand by, and the storage of what is kept" {
    cat "$hello" >weeks.yaml
    cat >>weeks.yaml <<'YAML'
run: {duration: 3d}
failures: [{cause: gpu, unit: gpu, law: exponential, mtbf: 20d}]
checkpoint: {policy: sync, interval: 1h, storage: disk, stall: 20s, load: 30s, keep: 5}
storage: [{name: disk, path: host, survival: domain, total_write_bandwidth: 10GB/s, total_read_bandwidth: 10GB/s}]
recovery: {policy: hot-spare, spares: 1, restart: {detect: 1min, start: 2min}}
cost: {gpu_hour: 2USD, storage_tb_month: 1000USD}
YAML
    expect 0 "$ORRERY" memory weeks.yaml --json
    # bf16 weights, fp32 master and two fp32 moments are kept: 14 bytes a parameter, for 3 of 30 days;
    # five times once five are made, and half of those in the mean until then; 16 GPUs for 72 hours
    storage="(json_extract(j, '$.parameters') * 14 / 1e12 * 1000 * 3 / 30)"
    one=$(json "$storage")
    expect 0 "$ORRERY" run weeks.yaml --db weeks.db
    saves=$(sql weeks.db "select count(*) from checkpoint")
    [ "$saves" -gt 50 ]
    kept=$(sql :memory: "select $one * (5 * ($saves - 5.0) + 2.5 * 5) / $saves")
    expect 0 "$ORRERY" run weeks.yaml --db all.db --set checkpoint.keep=100000
    [ "$(sql all.db "select abs(cost_storage_usd / ($one * $saves / 2) - 1) < 1e-9 from run")" = 1 ]
    expect 0 "$ORRERY" run weeks.yaml --db weeks.db
    shows "of it for the storage of checkpoints"
    [ "$(sql weeks.db "select abs(cost_storage_usd / $kept - 1) < 1e-9 from run")" = 1 ]
    [ "$(sql weeks.db "select abs(cost_usd / (16 * 72 * 2 + $kept) - 1) < 1e-9 from run")" = 1 ]
    [ "$(sql weeks.db "select abs(cost_usd_per_1e9_tokens / (cost_usd / tokens_completed * 1e9) - 1) < 1e-12 from run")" = 1 ]
    expect 0 "$ORRERY" run weeks.yaml --no-db --json
    [ "$(json "abs(json_extract(j, '$.cost_storage_usd') / $kept - 1) < 1e-9")" = 1 ]
    [ "$(json "abs(json_extract(j, '$.cost_usd') / (16 * 72 * 2 + $kept) - 1) < 1e-9")" = 1 ]
    # three copies; what dies with its node costs nothing of its own; neither does one without price
    expect 0 "$ORRERY" run weeks.yaml --set 'storage[0].copies=3' --db three.db
    [ "$(sql three.db "select abs(cost_storage_usd / (3 * $kept) - 1) < 1e-9 from run")" = 1 ]
    expect 0 "$ORRERY" run weeks.yaml --set 'storage[0].survival=process' --db own.db
    [ "$(sql own.db "select cost_storage_usd = 0 and abs(cost_usd / (16 * 72 * 2) - 1) < 1e-12 from run")" = 1 ]
    lacks "of it for the storage" out
    expect 0 "$ORRERY" study weeks.yaml --vary cost.storage_tb_month=0USD,1000USD --seeds 2 --db s.db
    # each seed has saves of its own
    [ "$(sql s.db "select abs((max(mean) - min(mean)) / $kept - 1) < 0.01 from study_summary where metric = 'cost_usd'")" = 1 ]
    # spares that are switched off are not paid
    expect 0 "$ORRERY" run weeks.yaml --set recovery.policy=cold-spare --set cost.storage_tb_month=0USD --db cold.db
    [ "$(sql cold.db "select abs(cost_usd / (8 * 72 * 2) - 1) < 1e-12 from run")" = 1 ]
}

@test "notes stand in the report, the trace and the database" {
    cat "$hello" >noted.yaml
    printf 'notes:\n  - {at: 2ms, say: "Second: <b> & \\"c\\"."}\n  - {at: 0s, say: First}\n' >>noted.yaml
    expect 0 "$ORRERY" run noted.yaml --db noted.db
    shows "Notes of the scenario"
    shows '  at 2.00 ms   Second: <b> & "c".'
    shows "  at 0 s       First"
    [ "$(sql noted.db "select group_concat(ts || ' ' || text, '|') from (select * from note order by ts)")" = '0 First|2000000 Second: <b> & "c".' ]
    expect 0 "$ORRERY" export noted.db --format chrome
    sql :memory: "select json_extract(value, '$.ts') || ' ' || json_extract(value, '$.name') || ' ' || json_extract(value, '$.s') from json_each(readfile('out'), '$.traceEvents') where json_extract(value, '$.ph') = 'i'" >got
    printf '0.0 First g\n2000.0 Second: <b> & "c". g\n' | cmp - got
    expect 0 "$ORRERY" export noted.db --format chrome --rank 3
    [ "$(grep -c '"ph":"i"' out)" = 2 ]
    expect 0 "$ORRERY" run "$hello" --db plain.db
    lacks "Notes of" out
    expect 0 "$ORRERY" export plain.db --format chrome
    lacks '"ph":"i"' out
    # moments of weeks do not lie on the timeline of a step
    echo 'run: {duration: 3d}' >>noted.yaml
    expect 0 "$ORRERY" run noted.yaml --db weeks.db
    shows "  at 0 s       First"
    [ "$(sql weeks.db "select count(*) from note")" = 0 ]
}

@test "a training is whole steps, in time and money" {
    expect 0 "$ORRERY" run "$hello" --no-db --set training.tokens=1 --set cost.gpu_hour=2USD --json
    [ "$(json "json_extract(j, '$.cost_usd_for_budget') = json_extract(j, '$.cost_usd_per_step')")" = 1 ]
    expect 0 "$ORRERY" run "$hello" --no-db --set training.tokens=1
    step=$(sed -n 's/^  step time *//p' out)
    shows "training     $step of such steps for 1 tokens"
    # one token more than a step has are two steps
    for steps in 1 2; do
        expect 0 "$ORRERY" plan "$hello" --top 1 --set training.sequence=1024 --set training.global_batch=64 \
            --set training.tokens=$((1024 * 64 * (steps - 1) + 1)) --json
        jq -e ".layouts | length > 0 and all(.training_days * 86400 / .step_time_s / $steps - 1 | fabs < 1e-9)" out
    done
}

@test "the state of adapters stands beside that of frozen weights, and both are the sum" {
    expect 0 "$ORRERY" memory "$SCENARIOS/memory/lora-70b-1-node.yaml" --json
    [ "$(json "abs(json_extract(j, '$.rule_of_thumb_static_bytes') - (2 * 70e9 + 16 * 207093760)) < 1")" = 1 ]
    expect 0 "$ORRERY" memory "$SCENARIOS/memory/lora-70b-1-node.yaml"
    shows "143 GB  of state: 2 bytes x 70.0 B parameters + 16 bytes x 207 M of adapters"
}
