# `orrery plan`: the layout to take.
load helper

small="--model llama2-7b --gpu a100-80gb-sxm --gpus 16 --sequence 4096 --global-batch 64 --software megatron"
# Of a few layers: for lines that search many times. What is found is the laws' (tests/analysis/plan).
little="--model llama2-7b --set model.layers=4 --gpu a100-40gb-sxm --gpus 4 --sequence 4096 --global-batch 8"
plan() { "$ORRERY" plan "$@"; }

@test "plan: leaders, what became of the others, and the command that plays the first" {
    # shellcheck disable=SC2086
    expect 0 plan $small
    for line in "layouts" "break a rule" "Leaders" "P(1)" "The first" "measure" "To run it: orrery run -"; do
        shows "$line"
    done
    said "layouts in"
}

@test "plan: the line under 'To run it' gives the step that was promised" {
    # shellcheck disable=SC2086
    expect 0 plan $small --json
    promised=$(jq .layouts[0].step_time_s out)
    # shellcheck disable=SC2086
    expect 0 plan $small
    sed -n '/^To run it: /,$p' out | sed 's/^To run it: orrery/"$ORRERY"/; s/ --db [^ ]*/ --no-db --json/' >play.sh
    expect 0 bash play.sh
    [ "$(jq .step_time_s out)" = "$promised" ]
}

@test "plan: leaders say in how many draws they fit, as 'run --uncertainty' does, and surer ones lead" {
    long_one
    experts="--model qwen3-30b-a3b --set model.layers=24 --gpu h100-80gb-sxm --gpus 16 --global-batch 128"
    # shellcheck disable=SC2086
    expect 0 plan $experts --json
    jq -e '.layouts | all(.fits_draws == 64 and .fits_ratio >= 0 and .fits_ratio <= 1)' out
    jq -e '(.layouts | min_by(.step_time_s)) as $fastest | .layouts[.fastest_rank - 1] == $fastest
        and .fastest_rank > 1 and $fastest.fits_ratio < 0.9 and .layouts[0].fits_ratio > $fastest.fits_ratio' out
    rank=$(jq '.fastest_rank | floor' out)
    told=$(jq .layouts[0].fits_ratio out)
    # shellcheck disable=SC2086
    expect 0 plan $experts
    shows "fits: share of 64 draws of the figures of memory"
    shows "the shortest step: $rank, which fits in"
    sed -n '/^To run it: /,$p' out |
        sed 's/^To run it: orrery/"$ORRERY"/; s/ --db [^ ]*/ --no-db --json --uncertainty 64/' >draws.sh
    expect 0 bash draws.sh
    jq -e --argjson told "$told" '.uncertainty.fits_ratio - $told | fabs <= 0.125' out
    # Figures that the scenario states are exact: all or nothing, and it is said.
    exact=(--set cluster.gpu.context=500MB --set software.communicator=100MB --set software.loss_memory_bytes=12)
    # shellcheck disable=SC2086
    expect 0 plan $little --software megatron "${exact[@]}" --json
    jq -e 'all(.layouts[]; .fits_ratio == 1 and .fits_draws == 0)' out
    # shellcheck disable=SC2086
    expect 0 plan $little --software megatron "${exact[@]}"
    shows "fits: no figure of memory is uncertain here"
}

@test "plan: the document adds up, and threads change nothing" {
    # shellcheck disable=SC2086
    expect 0 plan $small --threads 1 --json
    [ "$(jq -r .schema out)" = orrery.plan/1 ]
    jq -e '.layouts | length == 10 and ([.[].step_time_s] | . == sort)' out
    jq -e '.layouts[0].detail == "op" and .layouts[0].as_fast_probability == 1' out
    jq -e '[.layouts[] | .tp * .pp * .cp * .dp] | all(. == 16)' out
    jq -e '.rejected | has("rule") and has("memory") and has("bound") and has("slower") and has("ledger")' out
    jq -e '.searched == .tried_again + ([.rejected[]] | add) + (.layouts | length)' out
    jq -e '.launch.framework == "megatron" and (.launch.lines | length > 20)' out
    jq 'del(.seconds)' out >one.json
    # shellcheck disable=SC2086
    expect 0 plan $small --threads 4 --json
    jq 'del(.seconds)' out >four.json
    cmp one.json four.json
}

@test "plan: a file's own layout is shown, and held keys stay" {
    expect 0 plan "$hello"
    shows "own"
    expect 0 plan "$hello" --hold tp,microbatch --set layout.tp=4 --json
    jq -e '[.layouts[].tp] | all(. == 4)' out
    # Without a file, what --set says of the layout stays too; what follows from other keys is told.
    expect 0 plan $small --json --set layout.sharding=zero-2 --set layout.microbatch=2
    jq -e '(.layouts | length) > 0 and all(.layouts[]; .sharding == "zero-2" and .microbatch == 2)' out
    lacks "has no effect" err
    expect 0 plan $small --json --set layout.recompute=least # open, so nothing to hold
    expect 2 plan $small --vary cluster.gpus=16,32 --set layout.tp=2
    said "--set of a layout"
    expect 0 plan $small --json --set layout.dp=2
    said "note: the search chooses layout.dp with the other keys: --set layout.dp=2 has no effect"
    jq -e 'any(.layouts[]; .dp != 2)' out
    expect 0 plan "$hello" --json --set layout.tp=4
    jq -e 'any(.layouts[]; .tp != 4)' out
    expect 2 plan "$hello" --hold speed
    said "no key 'speed'"
    expect 2 plan "$hello" --hold pipeline
    said "no key 'pipeline'"
    # shellcheck disable=SC2086
    expect 2 plan $small --hold tp
    said "layout.tp is not said"
}

@test "plan: the file's own layout leads where it beats all that is searched, and it is said why" {
    cat >split.yaml <<'YAML'
name: split
model: {layers: 16, hidden: 4096, heads: 32, vocabulary: 32000}
cluster: {gpu: a100-40gb-sxm, gpus: 8}
training: {sequence: 2048, global_batch: 8}
layout: {pp: 8, tp: 1, microbatch: 1, schedule: zb-h1, recompute: none}
software: megatron
YAML
    step=$("$ORRERY" run split.yaml --no-db --json 2>err | jq .step_time_s)
    expect 0 plan split.yaml --hold pp,tp,microbatch --json
    jq -e --argjson step "$step" '.own.rank == 1 and .own.not_searched == ["schedule zb-h1"]
        and .layouts[0].schedule == "zb-h1" and .layouts[0].step_time_s == $step
        and .layouts[0].as_fast_probability == 1 and (.layouts[1:] | all(.as_fast_probability < 0.5 and .step_time_s > $step))' out
    expect 0 plan split.yaml --hold pp,tp,microbatch
    grep -q "^  1 own .* zb-h1 " out
    tr '\n' ' ' <out | tr -s ' ' | grep -q "it beats every layout of the search, which has no layout with schedule zb-h1"
    grep -q "^To run it: .*--set layout.schedule=zb-h1" out
    expect 0 plan split.yaml --hold pp,tp,microbatch --set layout.schedule=1f1b --json
    jq -e '.own.rank == 2 and .own.not_searched == [] and (.layouts | length) == 2' out
    # shellcheck disable=SC2086
    expect 0 plan $small --json
    jq -e '.own == null' out
}

@test "plan: of a layout that the scenario says in part, own is what run plays" {
    cat >part.yaml <<'YAML'
model: {layers: 16, hidden: 4096, heads: 32, vocabulary: 32000}
cluster: {gpu: a100-40gb-sxm, gpus: 8}
training: {sequence: 2048, global_batch: 8}
layout: {pp: 8}
software: megatron
YAML
    step=$("$ORRERY" run part.yaml --no-db --json 2>err | jq .step_time_s)
    expect 0 plan part.yaml --json
    jq -e --argjson step "$step" '.own.pp == 8 and .own.step_time_s == $step' out
    expect 0 plan part.yaml
    tr '\n' ' ' <out | tr -s ' ' | grep -q "own: the scenario's layout; what it does not say is chosen as 'orrery run' does"
    expect 2 plan part.yaml --measured step=3s # of what was chosen nobody measured a step
}

@test "plan --mtbf: of a job that keeps nothing two seeds are played, and that is said" {
    long_one
    # Each failure takes the one node away for half a day: two a day in 30 days, and nothing kept.
    expect 4 plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --mtbf 1min --json
    jq -e '[.layouts[].weeks | .seeds == 2 and .goodput == 0] | all' out
    expect 4 plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --mtbf 1min
    shows "by 2 seeds, which are enough: it hardly gets on"
    expect 0 plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --mtbf 30d --json
    jq -e '[.layouts[].weeks | .seeds == 16 and .goodput > 0] | all' out
}

@test "plan --seeds: refused where no failures are asked for, in a job file and of several machines too" {
    # shellcheck disable=SC2086
    for more in "" "--vary cluster.gpus=2,4" "--emit slurm --shards 2"; do
        expect 2 plan $little --seeds 5 $more
        said "orrery plan: --seeds are of weeks with failures, and none are asked for: give --mtbf"
        expect 2 plan "$hello" --seeds 5 $more
        said "--seeds are of weeks"
    done
    expect 2 plan - --seeds 5 <"$hello"
    # shellcheck disable=SC2086
    expect 0 plan $little --seeds 1 --set run.duration=1d --set 'failures=[{preset: rsc-1}]' --top 1
    expect 1 plan none.yaml --seeds 5
    said "none.yaml"
    echo "model: {" >broken.yaml
    expect 3 plan broken.yaml --seeds 5
}

@test "plan --why: keys that are held stay held, unless they are asked about" {
    for held in "--set layout.cp=2" "--set layout.cp=1" "--set layout.cp=1 --hold cp"; do
        # shellcheck disable=SC2086
        expect 0 plan $little --why microbatch=2 --json $held
        got=$(jq .why.layout.cp out)
        [ "$got" = "${held:16:1}" ] || { echo "$held: $got"; false; }
    done
    # shellcheck disable=SC2086
    expect 0 plan $little --json --set layout.cp=1 --why microbatch=2
    held=$(jq .why.matched out)
    # shellcheck disable=SC2086
    expect 0 plan $little --json --why microbatch=2
    [ "$held" -lt "$(jq .why.matched out)" ]
    # shellcheck disable=SC2086
    expect 0 plan $little --json --set layout.cp=1 --why cp=2
    [ "$(jq .why.layout.cp out)" = 2 ]
}

@test "why: a value that the search does not try is said to be none of its" {
    expect 0 plan $small --why sharding=zero-2
    shows "the search tries no layout with sharding zero-2 unless it is held"
    expect 0 plan $small --why sharding=zero-1
    ! grep -q "tries no layout" out || false
    ! grep -q "leaves less of the card" out || false
}

@test "plan --why: a rule, a tensor, a slower step" {
    # shellcheck disable=SC2086
    expect 0 plan $small --why tp=1,pp=1,sharding=zero-0,recompute=none
    shows "Why not"
    # shellcheck disable=SC2086
    expect 0 plan $small --why microbatch=64,dp=16
    shows "it breaks a rule: "
    # shellcheck disable=SC2086
    expect 0 plan $small --why tp=8 --json
    jq -e '.why.layout.played.step_time_s > 0' out
    jq -e '(.why.layout.lost_s | add) as $more | .why.layout.played.step_time_s - .layouts[0].step_time_s - $more | fabs < 1e-9' out
    # shellcheck disable=SC2086
    expect 0 plan $small --why tp=7
    shows "no layout has these values"
    # shellcheck disable=SC2086
    expect 2 plan $small --why speed=4
    said "no key of a layout"
    # shellcheck disable=SC2086
    expect 2 plan $small --why tp=2,pp=1,tp=4
    said "tp is said twice"
    # shellcheck disable=SC2086
    expect 2 plan $small --why tp
    said "expected KEY=VALUE"
    # shellcheck disable=SC2086
    expect 2 plan $small --why sp=maybe
    said "takes true or false"
}

@test "plan --why: a value that the model cannot have is a broken rule, one without effect is said" {
    long_one
    for why in ep=2 etp=2 tp=2,ep=4; do
        # shellcheck disable=SC2086
        expect 0 plan $small --why "$why"
        shows "no layout can have these values: of "
        shows "tried, each breaks a rule, as this one does:"
        key=${why#*,}
        shows "it breaks a rule: layout.${key%=*}: a dense model has no experts"
        # shellcheck disable=SC2086
        expect 0 plan $small --why "$why" --json
        jq -e '.why.layout | .fate == "rule" and .sentence != null and .least_bytes == null' out
    done
    # shellcheck disable=SC2086
    expect 0 plan $small --why vpp=2,pp=1
    shows "it breaks a rule: layout.vpp: with pp = 1 there is no pipeline"
    expect 0 plan --model llama2-7b --gpu a100-80gb-sxm --gpus 64 --global-batch 64 --why pp=64
    shows "32 layers are fewer than pp x vpp = 64 x 1 = 64 chunks"
    # shellcheck disable=SC2086
    expect 0 plan $small --why sp=true,tp=1
    shows "sequence_parallel has nothing to split with tp = 1: it changes nothing"
    # shellcheck disable=SC2086
    expect 0 plan $small --why sp=true,tp=2
    ! grep -q "it changes nothing" out || false
}

@test "plan --why: the best of some values is no slower than the best of some of those" {
    long_one
    local eight="--model llama3-8b --gpu a100-80gb-sxm --gpus 8 --global-batch 32 --sequence 2048 --headroom 1%"
    for software in fsdp automodel; do
        best=0
        for why in schedule=interleaved,pp=2,vpp=4,tp=2 schedule=interleaved,pp=2,vpp=4 schedule=interleaved,pp=2 schedule=interleaved; do
            # shellcheck disable=SC2086
            expect 0 plan $eight --software $software --why "$why" --json
            jq -e --argjson best "$best" '.why.layout | .schedule == "interleaved" and .vpp > 1 and .played.step_time_s > 0
                and ($best == 0 or .played.step_time_s <= $best * 1.0001)' out
            best=$(jq .why.layout.played.step_time_s out)
        done
    done
    # shellcheck disable=SC2086
    expect 0 plan $eight --software fsdp --why schedule=interleaved
    shows "fsdp does not offer the interleaved schedule"
    # shellcheck disable=SC2086
    expect 0 plan $eight --software fsdp --why schedule=interleaved,pp=1
    shows "an interleaved pipeline has several stages and chunks"
}

@test "plan: an own share of experts that the search has is not told as what it lacks" {
    cat >share.yaml <<'YAML'
name: share
model: {preset: mixtral-8x7b, layers: 8}
cluster: {gpu: h100-80gb-sxm, gpus: 8}
training: {sequence: 2048, global_batch: 32}
layout: {tp: 1, pp: 1, ep: 8, microbatch: 1, sharding: zero-0, recompute: none}
software: megatron
YAML
    expect 0 plan share.yaml --json
    jq -e '.own.not_searched | map(select(startswith("ep"))) == []' out
    expect 0 plan share.yaml --set layout.tp=2 --set layout.ep=4 --json
    jq -e '.own.not_searched | map(select(startswith("ep"))) == ["ep 4"]' out
}

@test "plan: what does not fit at all" {
    expect 4 plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8
    shows "Nothing fits: weights, gradients and optimizer alone are more than the cards hold"
    lacks "smaller batch" out # it would not help
    expect 4 plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --global-batch 8 --sequence 2000000
    shows "batch and sequence hold less on each"
    expect 4 plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8 --why tp=8
    shows "it needs"
    shows "memory ends on rank"
    expect 4 plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8 --json
    jq -e '.layouts == [] and .launch == null' out
}

@test "plan --launch: the script alone on stdout" {
    # shellcheck disable=SC2086
    expect 0 plan $small --launch megatron
    bash -n out
    head -1 out | grep -q '^#!'
    # shellcheck disable=SC2086
    expect 2 plan $small --launch megatrn
    said "megatron"
}

@test "plan: a Hugging Face config.json" {
    printf '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 32000, "max_position_embeddings": 4096, "tie_word_embeddings": false}' >config.json
    expect 0 plan --model config.json --gpu a100-80gb-sxm --gpus 16 --sequence 4096 --global-batch 64 --software megatron --json
    mv out file.json
    # shellcheck disable=SC2086
    expect 0 plan $small --json
    [ "$(jq -c '[.layouts[] | [.tp, .pp, .step_time_s]]' out)" = "$(jq -c '[.layouts[] | [.tp, .pp, .step_time_s]]' file.json)" ]
    expect 3 plan --model nowhere.json --gpu a100-80gb-sxm
}

@test "plan: a model with learned positions has no longer sequences" {
    expect 0 plan --model gpt2-1.5b --gpu a100-80gb-sxm --json
    jq -e '.layouts | length > 0' out
    expect 0 plan --model gpt2-1.5b --gpu a100-80gb-sxm
    shows "sequence 1,024"
}

@test "plan: a rule that every layout breaks is named, by every door" {
    gpt2="--model gpt2-124m --gpu h100-80gb-sxm --gpus 8 --global-batch 64 --sequence 4096"
    # shellcheck disable=SC2086
    expect 4 plan $gpt2
    shows "Every layout breaks one rule, training.sequence: the sequence 4096 exceeds the 1024 learned"
    # shellcheck disable=SC2086
    expect 4 plan $gpt2 --json
    fits_schema
    jq -e '.broken | .rule == "training.sequence" and (.sentence | contains("take at most as many"))' out
    jq -e '.broken.layouts == .searched and .rejected.rule == .searched' out
    # shellcheck disable=SC2086
    expect 4 plan $gpt2 --launch megatron
    said "training.sequence"
    # shellcheck disable=SC2086
    expect 4 plan $gpt2 --vary cluster.gpus=8,16 --json
    fits_schema
    jq -e '[.machines[].missed] == ["rule", "rule"]' out
    expect 4 plan --model gpt2-124m --gpu h100-80gb-sxm --set layout.tp=8
    shows "layout.tp: 12 attention heads are not divisible by tp = 8."
    shows "search holds this key"
}

@test "plan: wrong lines" {
    expect 2 plan
    said "it takes a scenario, or --model and --gpu"
    expect 2 plan "$hello" --model llama2-7b
    said "stand in place of a file"
    said "--set model.preset=llama2-7b"
    expect 2 plan "$hello" --tokens 1T
    said "is changed with --set training.tokens=1T"
    expect 2 plan --model llama2-7b
    said "--gpu is missing"
    expect 2 plan --model 'a: b' --gpu h100-80gb-sxm
    said "names of the catalogue"
    expect 3 plan --model llama9-7b --gpu h100-80gb-sxm
    expect 1 plan nowhere.yaml
    expect 3 plan --model llama2-7b --gpu h100
    said "1 error;"
    said "unknown GPU 'h100'; did you mean 'h100-80gb-sxm'"
}

@test "plan: of a mixture of experts its shares are searched" {
    expect 0 plan --model mixtral-8x7b --set model.layers=8 --gpu h100-80gb-sxm --gpus 16 --json
    python3 -c 'import json
plan = json.load(open("out"))
assert plan["layouts"] and any(l["ep"] > 1 for l in plan["layouts"])
assert all(8 % l["ep"] == 0 for l in plan["layouts"])'
    expect 0 plan --model mixtral-8x7b --set model.layers=8 --gpu h100-80gb-sxm --gpus 16 --why ep=3
    shows "layout.ep: 8 experts are not divisible by ep = 3"
    expect 0 plan --model mixtral-8x7b --set model.layers=8 --gpu h100-80gb-sxm --gpus 16 --why etp=3
    shows "it breaks a rule: layout.etp: an expert is on one rank or shared by"
    expect 0 plan --model mixtral-8x7b --set model.layers=8 --gpu h100-80gb-sxm --gpus 16 --why etp=2,ep=4 --json
    jq -e '.why.layout.played.step_time_s > 0 and .why.layout.ep == 4' out
    expect 2 plan "$SCENARIOS/memory/rule-of-thumb-671b.yaml" --hold ep --set layout.ep=best
    said "--hold ep: layout.ep is not said; give it with --set"
}

# fits_schema: the document in `out` against its schema, by a validator that is not ours.
fits_schema() {
    local name
    name=$(jq -r '.schema | ltrimstr("orrery.") | rtrimstr("/1")' out)
    "$ORRERY" schema --of "$name" >schema.json
    python3 -c 'import json, jsonschema
jsonschema.Draft202012Validator(json.load(open("schema.json"))).validate(json.load(open("out")))'
}

@test "plan: documents are as schema --of says, and a broken one is not" {
    for why in tp=4 microbatch=64,dp=4 tp=7 tp=1,pp=1,sharding=zero-0,recompute=none; do
        # shellcheck disable=SC2086
        expect 0 plan $little --why "$why" --json
        fits_schema
    done
    jq 'del(.layouts[0].mfu)' out >broken && mv broken out
    ! fits_schema 2>/dev/null || false
    expect 4 plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8 --why tp=8 --json
    fits_schema
    for terms in "--deadline 1d" "--deadline 20y --best days --pareto" "--budget 1USD"; do
        # shellcheck disable=SC2086
        plan $little --tokens 1T $terms --json >out || [ $? -eq 4 ]
        fits_schema
        # shellcheck disable=SC2086
        plan $little --tokens 1T --vary cluster.gpus=2,4 $terms --json >out || [ $? -eq 4 ]
        fits_schema
    done
}

@test "plan --vary: the best layout of each machine" {
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 1T --vary cluster.gpus=8,16,32 --json
    [ "$(jq -c '[.machines[].gpus]' out)" = "[8,16,32]" ]
    jq -e '[.machines[].training_days] | . == (sort | reverse)' out
    jq -e '[.machines[] | .training_days * 86400 * .layout.tokens_per_s / 1e12 | . > 0.999999 and . < 1.000001] | all' out
    jq -e '[.machines[] | .training_usd == .layout.training_usd and .training_usd > 0] | all' out
    step=$(jq '.machines[1].layout.step_time_s' out)
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 1T --json
    [ "$(jq .layouts[0].step_time_s out)" = "$step" ]
    # shellcheck disable=SC2086
    expect 0 plan $small --vary cluster.gpu=a100-80gb-sxm,h100-80gb-sxm
    shows "The best layout of each machine"
    # shellcheck disable=SC2086
    expect 2 plan $small --vary layout.tp=1,2
    said "is searched"
    # shellcheck disable=SC2086
    expect 2 plan $small --vary cluster.gpus=8,16 --why tp=2
    said "leave out --vary"
    # shellcheck disable=SC2086
    expect 2 plan $small --vary cluster.gpus=1..100:100
    said "machines"
}

@test "plan: what is too slow or too dear is told with the nearest" {
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 1T --json
    days=$(jq .layouts[2].training_days out)
    best=$(jq .layouts[0].training_days out)
    usd=$(jq .layouts[1].training_usd out)
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 1T --deadline "$(jq -n "$days * 1.000001")d" --json
    jq -e '.layouts | length == 3' out
    jq -e '.rejected.deadline > 0 and .rejected.budget == 0 and .nearest == null' out
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 1T --budget "$(jq -n "$usd * 1.000001")USD" --json
    jq -e '(.layouts | length == 2) and .rejected.budget > 0' out
    # shellcheck disable=SC2086
    expect 4 plan $small --tokens 1T --deadline 30d --budget 0.01MUSD --json
    [ "$(jq .nearest.training_days out)" = "$best" ]
    # shellcheck disable=SC2086
    expect 4 plan $small --tokens 1T --deadline 30d --budget 0.01MUSD --why tp=8
    for line in "miss the deadline" "No layout that fits meets the terms" "the soonest, 64, take" "it buys" "it misses the deadline"; do
        shows "$line"
    done
    # shellcheck disable=SC2086
    expect 3 plan $small --deadline 30d
    said "with --tokens 15T"
    # shellcheck disable=SC2086
    expect 2 plan $small --tokens 1T --deadline 30
    said "as in 60d"
    # shellcheck disable=SC2086
    expect 2 plan $small --tokens 1T --budget 30
    said "5MUSD"
    # shellcheck disable=SC2086
    expect 2 plan $small --best fastest
    said "step tokens cost days"
}

@test "plan --deadline: the GPUs that are said to keep it do, and none are said where none do" {
    machine="--model llama3-8b --gpu h100-80gb-sxm --sequence 8192 --tokens 15T --top 1"
    # shellcheck disable=SC2086
    expect 4 plan $machine --gpus 64 --global-batch 384 --deadline 150d
    gpus=$(sed -n 's/^  deadline  150 d: \([0-9]*\) GPUs keep it.*/\1/p' out)
    [ "$gpus" -gt 64 ] && [ $((gpus % 8)) = 0 ]
    days=$(sed -n 's/^  deadline .*; \([0-9.]*\) d, steps of .*/\1/p' out)
    # shellcheck disable=SC2086
    expect 0 plan $machine --gpus "$gpus" --global-batch 384 --deadline 150d --json
    jq -e --argjson days "$days" '.layouts[0].training_days | . <= 150 and . < $days * 1.01' out
    # a deadline that those just miss asks for more
    # shellcheck disable=SC2086
    expect 4 plan $machine --gpus 64 --global-batch 384 --deadline "$(jq -n "$days * 0.9")d"
    [ "$(sed -n 's/^  deadline .*: \([0-9]*\) GPUs keep it.*/\1/p' out)" -gt "$gpus" ]
    # a batch of 128 has work for 128 replicas
    # shellcheck disable=SC2086
    expect 4 plan $machine --gpus 64 --global-batch 128 --deadline 60d
    shows "no number of GPUs that divides this batch keeps it"
    shows "the soonest, 128, take 147 d"
    # shellcheck disable=SC2086
    expect 4 plan $machine --gpus 64 --global-batch 64 --deadline 60d
    shows "no more GPUs divide this batch in whole nodes"
    shows "--vary cluster.gpus=..."
    # one spare, repairs of a day: twice the GPUs wait for nodes for longer than they save
    # shellcheck disable=SC2086
    expect 4 plan --model llama3-8b --gpu h100-80gb-sxm --gpus 128 --global-batch 1024 --tokens 2T --top 1 --deadline 11d --mtbf 90d
    shows "more GPUs are no sooner with tp"
    sooner=$(sed -n 's/^  training *\([0-9.]*\) d.*/\1/p' out)
    later=$(sed -n 's/.*the soonest, [0-9]*, take \([0-9.]*\) d with failures.*/\1/p' out)
    [ "$(jq -n "$later > $sooner")" = true ]
}

@test "plan --most-gpus: every size up to it; --vary: what misses the terms says so" {
    long_one
    machine="--model llama2-7b --gpu a100-80gb-sxm --sequence 4096 --global-batch 64 --tokens 1T"
    # shellcheck disable=SC2086
    expect 0 plan $machine --most-gpus 32 --best cost --json
    [ "$(jq -c '[.machines[].gpus]' out)" = "[8,16,32]" ]
    jq -e '[.machines[] | select(.first)] | length == 1' out
    jq -e '(.machines | min_by(.layout.cost_usd_per_1e9_tokens)).first' out
    jq -e '[.machines[] | select(.first and (.best | not))] == []' out
    # shellcheck disable=SC2086
    expect 0 plan $machine --most-gpus 32 --best days --json
    jq -e '(.machines | max_by(.gpus)).first' out
    middle=$(jq .machines[1].training_days out)
    # shellcheck disable=SC2086
    expect 0 plan $machine --most-gpus 32 --deadline "${middle}d" --best cost
    for column in layout tokens/s MFU free training misses; do # each is explained below the table
        head -2 out | grep -q " $column" && grep -qE "^  ([a-z/]+: .*; )?$column(, USD)?: " out ||
            { echo "no word of $column"; cat out; return 1; }
    done
    shows deadline
    # shellcheck disable=SC2086
    expect 0 plan $machine --vary cluster.gpus=8,16 --most-gpus 8
    shows "not searched"
    # shellcheck disable=SC2086
    expect 2 plan $machine --gpus 16 --most-gpus 32
    said "--gpus says how many there are, --most-gpus has sizes up to so many tried"
    # shellcheck disable=SC2086
    expect 2 plan $machine --most-gpus 4
    said "a node has 8 GPUs"
}

@test "plan --power: what is used of a limit, what more buys, and the smallest that would do" {
    # shellcheck disable=SC2086
    expect 0 plan $little --json
    jq -e '(has("power") or (.terms | has("power_w")) or (.rejected | has("power"))) | not' out
    step=$(jq .layouts[0].step_time_s out)
    # shellcheck disable=SC2086
    expect 0 plan $little --power 1MW --json
    jq -e ".layouts[0].step_time_s == $step and .rejected.power == 0 and .best == \"tokens\"" out
    jq -e '.power | .limit_w == 1e6 and .used_ratio == .wall_w / 1e6 and .more_tokens_per_day_per_mw == 0' out
    jq -e '.layouts[0] as $l | .power.wall_w == $l.wall_w
        and ($l.tokens_per_s * 86400 / ($l.wall_w / 1e6) / .power.tokens_per_day_per_mw - 1 | fabs < 1e-12)' out
    jq -e '.layouts | all(.wall_w * .step_time_s / .energy_j_per_token / (8 * 4096) - 1 | fabs < 1e-12)' out
    # shellcheck disable=SC2086
    expect 4 plan $little --power 1kW --json
    jq -e '.rejected.power > 0 and .power.wall_w == null and .nearest.wall_w > .power.smallest_w' out
    least=$(jq .power.smallest_w out)
    # shellcheck disable=SC2086
    expect 0 plan $little --power "$(jq -n "$least * 1.000001")W"
    shows "draw more at the wall than --power allows"
    shows " MW"
    # shellcheck disable=SC2086
    expect 4 plan $little --power "$(jq -n "$least * 0.999999")W" --why tp=1
    shows "at the wall, rounded up, would do, and no less; the limit is"
    shows "it exceeds the power: a step draws"
    told=$(sed -n 's/^  power     \([0-9.]*\) \([kM]*W\) at the wall, rounded up.*/\1\2/p' out)
    # shellcheck disable=SC2086
    expect 0 plan $little --power "$told"
    # shellcheck disable=SC2086
    expect 2 plan $little --power 30
    said "as in 800kW or 10MW"
}

@test "plan --power over machines: the most tokens under the limit, and who misses it" {
    machine="--model llama2-7b --set model.layers=4 --gpu a100-40gb-sxm --sequence 4096 --global-batch 16"
    # shellcheck disable=SC2086
    expect 0 plan $machine --most-gpus 16 --power 1MW --json
    jq -e '.machines | map(.missed) == [null, null] and .[1].first' out
    limit=$(jq '.machines[0].layout.wall_w * 1.001' out)
    # shellcheck disable=SC2086
    expect 0 plan $machine --most-gpus 16 --power "${limit}W" --json
    jq -e '.machines | map(.missed) == [null, "power"] and .[0].first' out
    jq -e '.power.limit_w as $limit | .power.used_ratio <= 1 and .machines[1].nearest.wall_w > $limit' out
    # shellcheck disable=SC2086
    expect 4 plan $machine --most-gpus 16 --power 1kW
    shows "at the wall, rounded up, would do"
}

@test "plan --headroom 0, --pareto: what is leaner is slower" {
    # shellcheck disable=SC2086
    expect 0 plan $little --headroom 0 --pareto --json
    jq -e '.rejected.headroom == 0 and (.front | length > 1)' out
    jq -e '[.front[].step_time_s] | . == sort' out
    jq -e '[.front[].peak_reserved_bytes] | . == (sort | reverse)' out
    # shellcheck disable=SC2086
    expect 0 plan $little --pareto
    shows "no layout beats one"
    # shellcheck disable=SC2086
    expect 0 plan $little --vary cluster.gpus=8,16 --pareto --json
    jq -e '[.front[].values] | unique | length == 2' out
    # two GPUs of a node cost as much an hour as four of it, and take longer
    # shellcheck disable=SC2086
    expect 0 plan $little --vary cluster.gpus=2,4 --pareto --json
    jq -e '[.front[].values] | unique == ["4"]' out
    # shellcheck disable=SC2086
    expect 2 plan $little --headroom 1
    said "between 0 and 1"
}

@test "plan: a table for people is at most 100 columns wide" {
    # shellcheck disable=SC2086
    expect 0 plan $little --tokens 1T --pareto
    sed '/^To run it/,$d' out | awk 'length($0) > 100 {print; wide = 1} END {exit wide}'
    expect 0 plan "$hello"
    sed '/^To run it/,$d' out | awk 'length($0) > 100 {print; wide = 1} END {exit wide}'
    # shellcheck disable=SC2086
    expect 0 plan $little --tokens 1T --vary cluster.gpus=2,4,8 --vary cluster.gpu=a100-80gb-sxm,h100-80gb-sxm
    awk 'length($0) > 100 {print; wide = 1} END {exit wide}' out
}

@test "plan --mtbf: leaders by the tokens that failures leave, as the line under 'To run it' plays them" {
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 20B --mtbf 20d --seeds 2 --json
    fits_schema
    jq -e '.best == "goodput" and ([.layouts[].weeks.kept_tokens_per_s] | . == (sort | reverse))' out
    jq -e '.layouts[0].weeks | .goodput < 1 and .goodput_low <= .goodput and .failures > 0' out
    jq -e '.layouts[0] | (.training_days * 86400 * .weeks.kept_tokens_per_s / ((2e10 / (64 * 4096) | ceil) * 64 * 4096) - 1) | fabs < 1e-9' out
    kept=$(jq .layouts[0].weeks.kept_tokens_per_s out)
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 20B --mtbf 20d --seeds 1 --json
    one=$(jq .layouts[0].weeks.kept_tokens_per_s out)
    [ "$kept" != "$one" ]
    # shellcheck disable=SC2086
    expect 0 plan $small --tokens 20B --mtbf 20d --seeds 1
    for line in goodput "tokens a day" "a failure every" "checkpoints async" "with failures"; do shows "$line"; done
    sed '1d; /^To run it/,$d' out | awk 'length($0) > 100 {print; wide = 1} END {exit wide}' # the title tells what was set
    sed -n '/^To run it: /,$p' out | sed 's/^To run it: orrery/"$ORRERY"/; s/ --db [^ ]*/ --no-db --json/' >play.sh
    expect 0 bash play.sh
    jq -e --argjson kept "$one" '(.tokens_per_s * .goodput / $kept - 1) | fabs < 1e-6' out
}

@test "plan: with tokens the whole training is played, whatever the window of the run" {
    sed 's/^training: .*/training: {sequence: 1024, global_batch: 64, tokens: 20B}/' "$hello" >whole.yaml
    for run in "duration: 60d" "duration: 1h" "steps: 10"; do
        expect 0 plan whole.yaml --mtbf 20d --seeds 3 --top 1 --set "run={$run}" --json
        jq -c '[.layouts[0].training_days, .layouts[0].weeks.kept_tokens_per_s]' out >>days
    done
    [ "$(sort -u days | wc -l)" = 1 ]
}

@test "plan: the line takes back what the file says of its layout" {
    sed 's/^layout: .*/layout: {tp: 1, pp: 1, sharding: zero-1, microbatch: 1, recompute: block, recompute_layers: 4}/' "$hello" >block.yaml
    expect 0 plan block.yaml --mtbf 20d --seeds 1
    shows "recompute_layers=auto"
    shows "weeks     goodput"
    sed -n '/^To run it: /,$p' out | sed 's/^To run it: orrery/"$ORRERY"/; s/ --db [^ ]*/ --no-db --json/' >play.sh
    expect 0 bash play.sh
}

@test "plan --mtbf: fleets, files, pipes; checkpoint policies beside each other" {
    long_one
    expect 0 plan "$hello" --mtbf opt-175b --seeds 2 --top 3
    shows "To run it: orrery run $hello --set 'failures=[{preset: opt-175b}]' --set run.duration=30d"
    plan - --mtbf 20d --seeds 2 --vary checkpoint.policy=sync,async,none --json <"$hello" >out
    fits_schema
    jq -e '[.machines[].layout.weeks.checkpoint_policy] == ["sync", "async", "none"]' out
    jq -e '.best == "goodput" and (.machines[2].layout.weeks.goodput < .machines[1].layout.weeks.goodput)' out
    { cat "$hello"; printf 'run: {duration: 20d}\nfailures: [{cause: GPU, unit: gpu, mtbf: 300d}]\n'; } >weeks.yaml
    expect 0 plan weeks.yaml --seeds 1 --top 1
    shows "weeks     goodput"
    { cat "$hello"; printf 'run: {duration: 20d}\nfailures: [{cause: GPU, unit: gpu, mtbf: 20d}]\n'; } >stated.yaml
    expect 0 plan stated.yaml --seeds 1 --top 1 --json
    jq .layouts[0].weeks out >stated
    expect 0 plan weeks.yaml --mtbf 20d --seeds 1 --top 1 --json # the failures are others, the run is the file's
    jq .layouts[0].weeks out | diff stated -
    expect 3 plan "$hello" --best goodput
    said "give --mtbf 5.8y"
    expect 2 plan "$hello" --mtbf 5
    said "as in 5.8y, or a fleet"
    expect 3 plan "$hello" --mtbf nofleet
    said "nofleet"
}

@test "plan: a batch near that divides better is told, with what it brings" {
    machine="--model llama2-7b --set model.layers=4 --gpu h100-80gb-sxm --gpus 8 --sequence 4096 --global-batch 53"
    # shellcheck disable=SC2086
    expect 0 plan $machine --json
    fits_schema
    jq -e '.better_batch | .global_batch == 48 and .layouts > .own_layouts and .faster_ratio > 1.01' out
    # shellcheck disable=SC2086
    expect 0 plan $machine
    shows "A batch of 48 divides better than 53"
}

@test "plan --measured: a step of one's own shifts and narrows what leads" {
    cp "$hello" own.yaml
    own=$("$ORRERY" run own.yaml --no-db --json | python3 -c 'import json, sys; print(1.2 * json.load(sys.stdin)["step_time_s"])')
    expect 0 "$ORRERY" plan own.yaml --json
    mv out before.json
    expect 0 "$ORRERY" plan own.yaml --json --measured "own.yaml:step=${own}s"
    python3 - <<'END'
import json
a, b = json.load(open("before.json")), json.load(open("out"))
assert a["own_steps"] is None and b["own_steps"]["steps"] == 1
shift = b["own_steps"]["shift_ratio"]
assert 0 < shift < 0.2, shift                                    # towards the measured step, not beyond
x, y = a["layouts"][0], b["layouts"][0]
assert x["step_time_s"] == y["step_time_s"]
assert y["p90"] / y["p10"] < x["p90"] / x["p10"]                  # surer
middle = (y["p10"] * y["p90"]) ** 0.5
assert abs(middle / x["step_time_s"] / (1 + shift) - 1) < 1e-6
END
    expect 0 "$ORRERY" plan own.yaml --measured "own.yaml:step=${own}s"
    shows "1 step by you"
    shows "yours: the step corrected by your measurements; the order stays"
    # Of the layout itself the measurement is the forecast: fast enough, it goes to the front.
    expect 0 "$ORRERY" plan own.yaml --json --set layout.recompute=none --measured "step=$(jq -n "$own / 2")s"
    said "standard errors from the forecast of that scenario"
    jq -e '[.layouts[] | .forecast_step_time_s] | min > 0' out
    expect 0 "$ORRERY" run own.yaml --json --no-db --set layout.recompute=none --measured "step=${own}s" --measured "step=$(jq -n "$own * 1.21")s"
    jq -e --argjson own "$own" '.uncertainty | .step_time_s.p50 / $own / 1.1 - 1 | fabs < 1e-6' out
    expect 0 "$ORRERY" plan own.yaml --set layout.recompute=none --measured "step=${own}s"
    grep -q "^  own .* $(awk -v s="$own" 'BEGIN { printf "%#.3g", s * 1000 }') ms" out
    # What a file leaves open was chosen for the step that was measured (here: chunks of a stage): as
    # predicted, it moves nothing; as the file of another name, it says the same.
    cat >chunks.yaml <<'END'
model: {preset: llama3-8b, layers: 8}
cluster: {gpu: h100-80gb-sxm, gpus: 8}
training: {sequence: 8192, global_batch: 32}
layout: {tp: 1, pp: 2, microbatch: 1, sharding: zero-1, recompute: full}
software: nemo
END
    expect 0 "$ORRERY" run chunks.yaml --no-db --json
    jq -e 'any(.choices[]; .key == "layout.schedule" and .value == "interleaved")' out
    step=$(jq .step_time_s out)
    expect 0 "$ORRERY" plan chunks.yaml --json --measured "step=${step}s"
    jq -e '.own_steps.shift_ratio | . > -1e-9 and . < 1e-9' out
    for by in 0.95 1.1; do
        own=$(jq -n "$step * $by")
        expect 0 "$ORRERY" plan chunks.yaml --json --measured "step=${own}s"
        mv out itself.json
        expect 0 "$ORRERY" plan chunks.yaml --json --measured "chunks.yaml:step=${own}s"
        [ "$(jq .own_steps.shift_ratio out)" = "$(jq .own_steps.shift_ratio itself.json)" ]
        jq -e "(.own_steps.shift_ratio > 0) == ($by > 1)" out
    done
    expect 2 "$ORRERY" plan own.yaml --measured 3s
    said "expected [SCENARIO:]step=TIME"
    expect 2 "$ORRERY" plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --measured step=3s
    said "of which layout?"
    expect 2 "$ORRERY" plan own.yaml --measured "own.yaml:step=${own}s" --vary cluster.nodes=1,2
}

@test "an own layout of more ranks than GPUs, in weeks with failures, is told and not followed" {
    cat >wide.yaml <<'YAML'
model: {layers: 2, hidden: 64, heads: 4, vocabulary: 512}
cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, gpus: 2}, nodes: 8, fabric: {kind: fat_tree, nic: 400Gb/s}}
training: {sequence: 64, global_batch: 16}
layout: {tp: 2}
run: {duration: 20h}
failures: [{cause: a, mtbf: 5d}]
YAML
    for cp in 16 4194304; do
        expect 0 plan wide.yaml --set layout.cp=$cp
        shows "the scenario's own layout does not fit, or breaks a rule: 'orrery check' says why"
    done
}

# The cap at which GB200 trains most tokens a joule is near 1,000 of its 1,200 W, as published.
@test "plan --best energy: as run tells it, the least first, and the best cap of a card" {
    # shellcheck disable=SC2086
    expect 0 plan $little --best energy --json
    jq -e '[.layouts[].energy_j_per_token] | length > 1 and . == sort' out
    jq -e '.best == "energy" and .layouts[0].wall_w > 4 * 200' out
    energy=$(jq .layouts[0].energy_j_per_token out)
    # shellcheck disable=SC2086
    expect 0 plan $little --best energy
    shows "J/token: at the wall"
    sed -n '/^To run it: /,$p' out | sed 's/^To run it: orrery/"$ORRERY"/; s/ --db [^ ]*/ --no-db --json/' >play.sh
    expect 0 bash play.sh
    jq -e --argjson promised "$energy" '.energy_j_per_token / $promised - 1 | fabs < 1e-9' out
    expect 0 plan --model llama3-70b --gpu gb200-186gb --gpus 64 --sequence 8192 --global-batch 128 \
        --best energy --vary cluster.gpu.power=800W,1000W,1200W --json
    jq -e '[.machines[] | select(.first) | .values] == ["1000W"]' out
}
