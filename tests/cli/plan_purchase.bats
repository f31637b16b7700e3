# `orrery plan` of a purchase: several machines, terms, and what is paid for.
load helper

# Of a few layers: for lines that search many times.
little="--model llama2-7b --set model.layers=4 --gpu a100-40gb-sxm --gpus 4 --sequence 4096 --global-batch 8"
plan() { "$ORRERY" plan "$@"; }
check() { "$ORRERY" check "$@"; }

# What tells a layout of --json.
words='"\(.tp) \(.pp) \(.cp) \(.dp) \(.vpp) \(.microbatch) \(.sharding) \(.recompute) \(.step_time_s)"'

@test "plan --vary: each machine has the layout that plan puts first there, whatever is best" {
    line="--model llama2-7b --set model.layers=4 --gpu h100-80gb-sxm --sequence 4096 --global-batch 32 --tokens 1B"
    for best in step cost energy; do
        # shellcheck disable=SC2086
        expect 0 plan $line --best $best --vary cluster.gpus=4,8 --json
        for gpus in 4 8; do
            together=$(jq -r ".machines[] | select(.gpus == $gpus) | .layout | $words" out)
            # shellcheck disable=SC2086
            alone=$("$ORRERY" plan $line --gpus $gpus --best $best --json 2>err | jq -r ".layouts[0] | $words")
            [ "$together" = "$alone" ] || { echo "$best, $gpus: $together / $alone"; false; }
        done
    done
}

@test "plan --vary: it is said of which machine a surer layout stands for the best" {
    # shellcheck disable=SC2086
    expect 0 plan --model qwen3-30b-a3b --set model.layers=24 --gpu h100-80gb-sxm --global-batch 128 \
        --best cost --vary cluster.gpus=8,16
    tr '\n' ' ' <out | tr -s ' ' | grep -q " 16: shown is a layout that fits more surely than the best and is no worse within the model's own error"
    # shellcheck disable=SC2086
    expect 0 plan --model llama3-8b --gpu h100-80gb-sxm --global-batch 256 --best cost --vary cluster.gpus=64,128
    ! grep -q "fits more surely than the best" out || false
}

@test "plan --pareto: each is slower and leaves more free than the one before, of energy too" {
    for best in step energy; do
        # shellcheck disable=SC2086
        expect 0 plan $little --pareto --best $best --json
        jq -e '[.front[] | .step_time_s] | length > 1 and . == (sort | unique)' out
        jq -e '[.front[] | -.peak_reserved_bytes] | . == (sort | unique)' out
    done
    cp out energy
    # shellcheck disable=SC2086
    expect 0 plan $little --pareto --json
    [ "$(jq -c "[.front[] | $words]" out)" = "$(jq -c "[.front[] | $words]" energy)" ]
    # Here what takes the least energy is slower than what is leaner.
    expect 0 plan --model llama3-8b --gpu h100-80gb-sxm --gpus 32 --global-batch 128 --pareto --best energy --json
    jq -e '[.front[] | .step_time_s] | . == (sort | unique)' out
    jq -e '.front[0].step_time_s < .layouts[0].step_time_s' out
}

@test "plan --deadline: what more GPUs cost, and whether that is over the budget" {
    line="--model llama3-8b --gpu h100-80gb-sxm --global-batch 256 --gpus 64 --tokens 2T --deadline 30d"
    # shellcheck disable=SC2086
    expect 4 plan $line --budget 150kUSD
    shows "128 GPUs keep it (16 x dgx-h100; 19.6 d, steps of 1.77 s; 150,457 USD), over the budget:"
    shows "another split may do with fewer"
    # shellcheck disable=SC2086
    expect 4 plan $line --budget 151kUSD
    shows "128 GPUs keep it (16 x dgx-h100; 19.6 d, steps of 1.77 s; 150,457 USD):"
    # shellcheck disable=SC2086
    expect 4 plan $line
    shows "128 GPUs keep it (16 x dgx-h100; 19.6 d, steps of 1.77 s):"
}

@test "plan --mtbf: the GPUs of spares are told, and are in the price" {
    # 4 ranks on one node of 8, which is rented whole; nothing fails in these seconds.
    line="$little --tokens 1M --mtbf 3000y --seeds 2 --top 1 --set cost.gpu_hour=1USD"
    # shellcheck disable=SC2086
    expect 0 plan $line --set recovery.spares=1
    shows "1 spare node (8 GPUs, in the price)"
    # shellcheck disable=SC2086
    expect 0 plan $line --set recovery.spares=1 --json
    an_hour='.layouts[0] | .cost_usd_per_1e9_tokens * .weeks.kept_tokens_per_s * 3600 / 1e9'
    one=$(jq "$an_hour" out)
    # shellcheck disable=SC2086
    expect 0 plan $line --set recovery.spares=0 --json
    jq -e --argjson one "$one" "($an_hour) as \$none
        | (\$none - 8 | fabs) < 1e-6 and (\$one - \$none - 8 | fabs) < 1e-6" out
    # shellcheck disable=SC2086
    expect 0 plan $line --set recovery.spares=0
    ! grep -q "in the price" out || false
}

@test "plan --max-db: of a database, which is named or a shard's; a job file has it" {
    # shellcheck disable=SC2086
    expect 2 plan $little --max-db 1MB
    said "orrery plan: --max-db bounds a database: name it with --db"
    # shellcheck disable=SC2086
    expect 0 plan $little --max-db 1MB --emit slurm --shards 2
    grep -q -- "--max-db 1000000 .*--shard" out
    grep "merge" out >merge.txt
    ! grep -q -- "--max-db" merge.txt || false
    # shellcheck disable=SC2086
    expect 5 plan $little --max-db 1kB --shard 1/2
}

@test "what the software lacks is warned of: rings of DeepSpeed, a release before its profile" {
    cat >cp.yaml <<'YAML'
model: {preset: llama3-8b}
cluster: {gpu: a100-80gb-sxm, gpus: 16}
training: {sequence: 8192, global_batch: 32}
software: deepspeed
layout: {tp: 1, pp: 1, cp: 2, microbatch: 1, sharding: zero-3, recompute: none}
YAML
    expect 0 check cp.yaml
    grep -q "deepspeed splits sequences by heads alone: take cp_method: all_to_all, or leave cp out" err out
    expect 0 check cp.yaml --set layout.cp_method=all_to_all
    ! grep -q "by heads alone" err out || false
    expect 0 check cp.yaml --set layout.cp=1
    ! grep -q "by heads alone" err out || false
    expect 0 check cp.yaml --set software.profile=megatron --set software.release=2023-01 --set layout.sharding=fsdp
    grep -q "layout.sharding: fsdp came to this software with 2025-05" err out
    grep -q "2023-01 is before 2024, the first year of profile megatron" err out
}
