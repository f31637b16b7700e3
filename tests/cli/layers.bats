# Models with recurrent layers: run, memory, plan, explain, list and launch scripts; what is refused.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    cat > s.yaml <<'EOF'
model: {preset: nemotron-3-nano-30b-a3b}
cluster: {gpu: h100-80gb-sxm, nodes: 4}
software: {profile: megatron}
training: {sequence: 4096, global_batch: 128}
layout: {tp: 2, pp: 2, ep: 8, dp: 8, sequence_parallel: true, microbatch: 1, recompute: none}
EOF
    cat > q.yaml <<'EOF'
model: {preset: qwen3.5-27b}
cluster: {gpu: h200-141gb-sxm, nodes: 4}
software: {profile: megatron}
training: {sequence: 8192, global_batch: 128}
layout: {tp: 4, cp: 2, dp: 4, sequence_parallel: true, microbatch: 1, recompute: full}
EOF
}

@test "run, explain, walls and memory take a model of letters and one of words" {
    for s in s q; do
        run "$ORRERY" run $s.yaml
        [ "$status" -eq 0 ]
        run "$ORRERY" explain $s.db
        [ "$status" -eq 0 ]
        run "$ORRERY" explain $s.yaml --walls
        [ "$status" -eq 0 ]
        run "$ORRERY" memory $s.yaml
        [ "$status" -eq 0 ]
        [[ "$output" == *"fits"* ]]
    done
}

@test "the roof lists the kernels of each kind of layer in a pattern" {
    run "$ORRERY" explain s.yaml --walls --json
    [ "$status" -eq 0 ]
    for name in mamba2 attention mlp head; do [[ "$output" == *'"block": "'$name'"'* ]]; done
    [[ "$output" != *'"block": "layer"'* ]]
}

@test "plan finds layouts of such a model" {
    run "$ORRERY" plan s.yaml
    [ "$status" -eq 0 ]
    [[ "$output" == *"Leaders"* ]]
}

@test "the error of the cores reaches the width" {
    run "$ORRERY" run s.yaml --uncertainty 8
    [ "$status" -eq 0 ]
    [[ "$output" == *"scan_time"* ]]
}

@test "a launch script refuses the pattern" {
    run "$ORRERY" export s.yaml --launch megatron
    [[ "$output" == *"the pattern of layers (MEMEM*EMEMEM*"*"is not written"* ]]
    run "$ORRERY" export q.yaml --launch megatron
    [[ "$output" == *"the pattern of layers (3*gdn,attention) is not written"* ]]
    [[ "$output" == *"the gate of the attention's output is not written"* ]]
}

@test "what no software or kernel can do is refused with the reason" {
    run "$ORRERY" run q.yaml --set software.profile=torchtitan
    [ "$status" -eq 3 ]
    [[ "$output" == *"torchtitan has no recurrent layers (gdn)"* ]]
    [[ "$output" == *"torchtitan does not split recurrent layers (gdn) over context ranks: take cp = 1"* ]]
    run "$ORRERY" run q.yaml --set training.precision=fp32
    [ "$status" -eq 3 ]
    [[ "$output" == *"kernels of gdn are known for operands of 16 bits"* ]]
    run "$ORRERY" run q.yaml --set layout.recompute=per_operator
    [[ "$output" == *"it is not known which operators of a pattern's layers are recomputed"* ]]
    run "$ORRERY" run q.yaml --set model.linear_key_heads=6
    [[ "$output" == *"layers of gdn: heads of keys (linear_key_heads) are not divisible by tp"* ]]
    run "$ORRERY" run q.yaml --set model.linear_key_heads=5
    [[ "$output" == *"heads of values (linear_heads) are not divisible by those of keys"* ]]
    run "$ORRERY" run q.yaml --set model.linear_heads=0
    [[ "$output" == *"layers of gdn need linear_heads and linear_head_size"* ]]
    run "$ORRERY" run s.yaml --set model.mtp_layers=1
    [[ "$output" == *"which is one block alone in this pattern: set mtp_layers: 0"* ]]
    run "$ORRERY" run s.yaml --set model.experts=0
    [[ "$output" == *"layers of experts (E) need model.experts"* ]]
    run "$ORRERY" run s.yaml --set training.adapter=lora
    [[ "$output" == *"adapters are known for models whose layers all attend"* ]]
}

@test "a pattern that is none is refused at its key" {
    run "$ORRERY" run q.yaml --set model.pattern=3*gdn,atention
    [ "$status" -eq 3 ]
    [[ "$output" == *"'atention' is no layer"* ]]
    run "$ORRERY" run q.yaml --set model.pattern=3*gdn,2*attention
    [[ "$output" == *"a pattern of 5 layers does not fill 64 (model.layers) in whole turns"* ]]
    run "$ORRERY" run q.yaml --set model.pattern=gdn,mamba2
    [[ "$output" == *"one kind of recurrent layer, and this has gdn and mamba2"* ]]
}

@test "list layers names the kinds" {
    run "$ORRERY" list layers
    for kind in gdn kda lightning mamba2; do [[ "$output" == *"  $kind "* ]]; done
}

@test "a config.json that lists blocks that nobody knows is refused; one that counts none is read" {
    cat > c.json <<'EOF'
{"model_type": "nemotron_h", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4,
 "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64, "mamba_num_heads": 16,
 "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "vocab_size": 1000,
 "layers_block_type": ["mamba", "mlp", "conv", "mlp"]}
EOF
    sed 's/preset: .*}/hf: c.json}/' s.yaml > h.yaml
    run "$ORRERY" run h.yaml
    [ "$status" -eq 3 ]
    [[ "$output" == *'"layers_block_type" has '"'conv', which is no block that is known"* ]]
    sed -i 's/"conv", "mlp"/"attention", "moe"/; s/"num_hidden_layers": 4,//' c.json
    sed -i 's/^{/{"n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256, "moe_latent_size": 64,/' c.json
    # by hand: embedding and head, mamba, mlp, attention, experts of two matrices of 64 x 256 with a router, its bias and two projections, five norms
    local inner=1024 state=$((8 * 128))
    local mamba=$((512 * (2 * inner + 2 * state + 16) + (inner + 2 * state) * 5 + 3 * 16 + inner + inner * 512))
    local experts=$((8 * 2 * 64 * 256 + 2 * 512 * 64 + 512 * 8 + 8))
    [ "$("$ORRERY" memory h.yaml --json 2>err | jq .parameters)" -eq $((2 * 1000 * 512 + mamba + 2 * 512 * 1024 + 2 * 512 * (512 + 128) + experts + 5 * 512)) ]
}
