# What a config.json says of the trained function and no time depends on: every launch script says it
# or is refused.
load helper

# config TYPE MEMBERS: a small decoder of that type.
config() {
    echo "{\"model_type\": \"$1\", \"num_hidden_layers\": 8, \"hidden_size\": 1024, \"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"head_dim\": 64,
        \"intermediate_size\": 4096, \"vocab_size\": 32000, \"max_position_embeddings\": 4096, \"tie_word_embeddings\": false, $2}" >config.json
    cat >model.yaml <<'END'
name: small
model: {hf: config.json}
cluster: {gpu: h100-80gb-sxm, gpus: 8}
training: {sequence: 2048, global_batch: 64, tokens: 1B, precision: bf16}
layout: {tp: 1, pp: 1, microbatch: 1}
END
}
# said_by KIND TEXT: in its script; refused_by KIND TEXT: no script, and why.
said_by() {
    expect 0 "$ORRERY" export model.yaml --set software="$1" --launch "$1"
    shows "$2"
}
refused_by() {
    expect 3 "$ORRERY" export model.yaml --set software="$1" --launch "$1"
    said "$2"
}
experts='"n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024, "first_k_dense_replace": 0, "n_shared_experts": 0,
    "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 64, "kv_lora_rank": 256, "q_lora_rank": 512, "n_group": 1, "topk_group": 1'

@test "a share of each head that is rotated" {
    config stablelm '"partial_rotary_factor": 0.5'
    said_by megatron "--rotary-percent 0.5"
    said_by nemo "model.rotary_percent=0.5"
    said_by torchtitan "partial_rotary_factor=0.5"
    refused_by deepspeed "the model has partial_rotary_factor 0.5"
    config stablelm '"use_qkv_bias": false' # its class has a quarter
    said_by megatron "--rotary-percent 0.25"
    config stablelm '"partial_rotary_factor": 1.0'
    said_by megatron "--rotary-base"
    lacks "rotary-percent" out
    config stablelm '"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}'
    said_by megatron "--rotary-percent 0.5"
    config gpt_neox '"use_parallel_residual": false' # a quarter here too
    said_by megatron "--rotary-percent 0.25"
    config llama '"rms_norm_eps": 1e-5'
    for kind in megatron nemo torchtitan deepspeed; do
        expect 0 "$ORRERY" export model.yaml --set software="$kind" --launch "$kind"
        lacks "rotary.percent\|no.rope\|score.func\|model.facts" out err
    done
}

@test "layers without rotation: every Nth is said, any other choice refused" {
    config smollm3 '"no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]'
    said_by megatron "--no-rope-freq 4"
    said_by nemo "model.no_rope_freq=4"
    refused_by deepspeed "no_rope_layer_interval 4"
    config smollm3 '"no_rope_layers": [1, 1, 0, 1, 1, 1, 1, 0]'
    refused_by megatron "no_rope_layers"
    config smollm3 '"no_rope_layers": [1, 1, 1, 1, 1, 1, 1, 1]'
    said_by megatron "--rotary-base"
    lacks "no-rope" out
    config smollm3 '"no_rope_layer_interval": 2'
    said_by megatron "--no-rope-freq 2"
    config smollm3 '"no_rope_layer_interval": 3' # of 8 layers
    refused_by megatron "no_rope_layer_interval=3 (model.facts) does not divide the 8 layers, as Megatron-LM asks for"
    refused_by nemo "does not divide the 8 layers"
}

@test "blocks side by side and norms without weights are refused" {
    config gpt_neox '"rotary_pct": 1.0, "use_parallel_residual": true'
    for kind in megatron nemo deepspeed; do refused_by "$kind" "parallel_blocks true"; done
    said_by torchtitan "parallel_blocks=true"
    config gpt_neox '"rotary_pct": 0.25, "use_parallel_residual": false'
    said_by megatron "--rotary-percent 0.25"
    lacks "parallel" err
    config olmo '"clip_qkv": 8.0'
    for kind in megatron nemo deepspeed; do refused_by "$kind" "norm_weights false"; done
    refused_by megatron "clip_qkv 8"
}

@test "routers: sigmoid scores, their factor, softmax before the choice" {
    config deepseek_v3 "$experts"', "scoring_func": "sigmoid", "routed_scaling_factor": 2.5, "norm_topk_prob": true'
    said_by megatron "--moe-router-score-function sigmoid"
    grep -qx -- "    --moe-router-score-function sigmoid" out
    shows "--moe-router-topk-scaling-factor 2.5"
    lacks "pre-softmax" out
    refused_by deepspeed "scoring_func sigmoid"
    config deepseek_v3 "$experts"', "scoring_func": "sigmoid", "routed_scaling_factor": 1.0, "norm_topk_prob": false'
    refused_by megatron "norm_topk_prob false"
    config deepseek_v2 "$experts"', "scoring_func": "softmax", "routed_scaling_factor": 16.0, "norm_topk_prob": false'
    said_by megatron "--moe-router-pre-softmax"
    shows "--moe-router-topk-scaling-factor 16"
    lacks "score-function" out
}

@test "presets carry the same facts, and no fact leaves its word" {
    cp "$hello" own.yaml
    expect 0 "$ORRERY" export own.yaml --launch megatron --set 'model={preset: nemotron4-15b}' --set training.sequence=1024
    shows "--rotary-percent 0.5"
    expect 3 "$ORRERY" export own.yaml --launch megatron --set 'model={preset: gpt2-124m, facts: "a=$(rm) b"}'
    said "the model has a __rm_"
    said "the model has b "
    # a fact whose first letters are those of one that has an option, or of one that is asked for
    expect 3 "$ORRERY" export own.yaml --launch megatron --set 'model={preset: gpt2-124m, facts: "scoring_func=sigmoidal"}'
    said "the model has scoring_func sigmoidal"
    expect 0 "$ORRERY" export own.yaml --launch megatron --set 'model={preset: gpt2-124m, facts: "rotary_pct=0.5;rm"}'
    shows "--rotary-percent 0.5_rm"
}

@test "latents of keys and queries have their norms" {
    config deepseek_v3 "$experts"
    said_by megatron "--multi-latent-attention"
    [ "$(grep -cx -- "    --qk-layernorm" out)" -eq 1 ]
}

@test "Llama 4: what has no option is refused, the rest is written" {
    experts4='"num_local_experts": 8, "num_experts_per_tok": 1, "intermediate_size_mlp": 4096'
    config llama4_text "$experts4"
    refused_by megatron "attn_temperature_tuning true"
    said "qk_l2_norm_of_rotated_layers true"
    config llama4_text "$experts4"', "attn_temperature_tuning": false, "use_qk_norm": false, "no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]'
    said_by megatron "--moe-router-score-function sigmoid"
    shows "--no-rope-freq 4"
    shows "--moe-apply-probs-on-input"
    cp "$hello" own.yaml
    for preset in llama4-scout llama4-maverick; do
        expect 3 "$ORRERY" export own.yaml --launch megatron --set model="{preset: $preset}"
        said "attn_temperature_tuning true"
    done
    lacks qk_l2_norm_of_rotated_layers err # Maverick has none
    expect 3 "$ORRERY" export own.yaml --launch deepspeed --set model="{preset: llama4-scout}"
    for fact in "scoring_func sigmoid" "no_rope_layer_interval 4" "moe_apply_probs_on_input true" \
        "qk_l2_norm_of_rotated_layers true"; do said "$fact"; done
}

@test "one expert a token: not with a softmax behind the choice" {
    config mixtral '"num_local_experts": 8, "num_experts_per_tok": 1'
    refused_by megatron "Please use --moe-router-pre-softmax when topk is 1"
    config mixtral '"num_local_experts": 8, "num_experts_per_tok": 2'
    said_by megatron "--moe-router-topk 2"
    config mixtral '"num_local_experts": 8, "num_experts_per_tok": 1, "norm_topk_prob": false'
    said_by megatron "--moe-router-pre-softmax"
}

@test "the gate of a shared expert is written" {
    config qwen2_moe '"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024, "shared_expert_intermediate_size": 1024'
    said_by megatron "--moe-shared-expert-gate"
}

@test "a hybrid model is refused by every kind, and no profile is advised that refuses it too" {
    for preset in nemotron-h-56b qwen3-next-80b-a3b; do
        printf '%s\n' "name: hybrid" "model: {preset: $preset}" "cluster: {gpu: b300-288gb-sxm, nodes: 8}" \
            "training: {sequence: 4096, global_batch: 128}" "layout: {tp: 2, pp: 1, sharding: fsdp}" >hybrid.yaml
        for kind in megatron nemo torchtitan deepspeed; do
            expect 3 "$ORRERY" export hybrid.yaml --launch "$kind"
            said "the pattern of layers ("
        done
        expect 3 "$ORRERY" export hybrid.yaml --launch torchtitan
        said '`--set software=torchtitan` breaks a rule with this scenario'
        expect 3 "$ORRERY" run hybrid.yaml --no-db --set software=torchtitan
        expect 3 "$ORRERY" export hybrid.yaml --launch megatron
        said '`--set software=megatron` simulates that'
    done
}
