# Models with sparse attention: run, memory, plan, explain and launch scripts; what is refused.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    cat > s.yaml <<'EOF'
model: {preset: glm-5.2}
cluster: {gpu: h200-141gb-sxm, nodes: 64}
software: {profile: megatron}
training: {sequence: 65536, global_batch: 64}
layout: {tp: 1, pp: 4, cp: 8, dp: 16, ep: 64, cp_method: all_gather, microbatch: 1, recompute: full,
         first_stage_layers: 18, last_stage_layers: 20}
EOF
}

@test "run, explain, walls and memory take a model whose layers share indexers" {
    run "$ORRERY" run s.yaml
    [ "$status" -eq 0 ]
    [[ "$output" == *"no rate of a backward kernel of sparse attention was published"* ]]
    [[ "$output" != *"takes fewer FLOPs than dense"* ]]
    run "$ORRERY" explain s.db
    [ "$status" -eq 0 ]
    run "$ORRERY" explain s.yaml --walls
    [ "$status" -eq 0 ]
    run "$ORRERY" memory s.yaml
    [ "$status" -eq 0 ]
}

@test "folded and unfolded are one" {
    "$ORRERY" run s.yaml --set cluster.nodes=32 --set layout.dp=8 --json | grep '"digest"' > a
    "$ORRERY" run s.yaml --set cluster.nodes=32 --set layout.dp=8 --unfold --json | grep '"digest"' > b
    [ -s a ]
    diff a b
}

@test "plan finds layouts of such a model" {
    run "$ORRERY" plan s.yaml
    [ "$status" -eq 0 ]
    [[ "$output" == *"Leaders"* ]]
}

@test "the error of the cores reaches the width" {
    run "$ORRERY" run s.yaml --uncertainty 8
    [ "$status" -eq 0 ]
    [[ "$output" == *"sparse_time"* ]]
}

@test "a short sequence is told from where sparse attention is less work" {
    run "$ORRERY" run s.yaml --set training.sequence=4096
    [ "$status" -eq 0 ]
    [[ "$output" == *"takes fewer FLOPs than dense from 7829 tokens"*"and this is 4096"* ]]
    run "$ORRERY" run s.yaml --set training.sequence=4096 --set model.indexer_heads=0 --set model.indexer_interval=1
    [ "$status" -eq 0 ]
    [[ "$output" != *"sparse"* ]]
}

@test "a launch script writes it, or refuses what it has no option for" {
    run "$ORRERY" export s.yaml --launch megatron
    [[ "$output" == *"indexer_rope_interleave"*"not written"* ]]
    run "$ORRERY" export s.yaml --launch megatron --set model.facts="scoring_func=sigmoid"
    for option in "experimental-attention-variant dsa" "dsa-indexer-n-heads 32" "dsa-indexer-head-dim 128" \
        "dsa-indexer-topk 2048" "dsa-indexer-topk-freq 4" "dsa-indexer-skip-topk-offset 3" dsa-indexer-use-sparse-loss; do
        [[ "$output" == *"--$option"* ]]
    done
}

@test "what no software, card or layout can do is refused with the reason" {
    run "$ORRERY" run s.yaml --set software.profile=torchtitan
    [ "$status" -eq 3 ]
    [[ "$output" == *"torchtitan has no sparse attention with an indexer"* ]]
    run "$ORRERY" run s.yaml --set training.precision=fp32
    [ "$status" -eq 3 ]
    [[ "$output" == *"kernels of sparse attention take bf16"* ]]
    run "$ORRERY" run s.yaml --set layout.cp_method=ring
    [ "$status" -eq 3 ]
    [[ "$output" == *"context ranks gather the latents (all_gather), ring does not"* ]]
    run "$ORRERY" run s.yaml --set layout.tp=2 --set layout.dp=8 --set layout.sequence_parallel=false
    [ "$status" -eq 3 ]
    [[ "$output" == *"needs sequence_parallel: true"* ]]
    [[ "$output" == *"fill up to 64 heads of queries: 32 on a rank take as long"* ]]
    run "$ORRERY" run s.yaml --set layout.first_stage_layers=17 --set layout.last_stage_layers=21
    [ "$status" -eq 3 ]
    [[ "$output" == *"pipeline chunk 1 begins with layer 17, which takes the chosen keys of a layer of another chunk"* ]]
    run "$ORRERY" run s.yaml --set layout.first_stage_layers=90
    [ "$status" -eq 3 ]
    run "$ORRERY" run s.yaml --set training.causal=false
    [ "$status" -eq 3 ]
    [[ "$output" == *"an indexer chooses among the keys before a query"* ]]
    run "$ORRERY" run s.yaml --set model.sparse_keys=0
    [ "$status" -eq 3 ]
    [[ "$output" == *"an indexer needs model.indexer_size and model.sparse_keys"* ]]
    run "$ORRERY" run s.yaml --set model.window=1024
    [ "$status" -eq 3 ]
    [[ "$output" == *"a window beside it is not simulated"* ]]
    run "$ORRERY" run "$SCENARIOS/hello-8-gpus.yaml" --set model.indexer_heads=4
    [ "$status" -eq 3 ]
    [[ "$output" == *"an indexer chooses rows of latent attention"* ]]
    run "$ORRERY" run s.yaml --set cluster.gpu=a100-80gb-sxm --set software.profile=megatron
    [ "$status" -eq 3 ]
    [[ "$output" == *"known for Hopper and later cards, not for a100-80gb-sxm"* ]]
}
