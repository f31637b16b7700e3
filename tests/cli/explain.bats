# `orrery explain`: the page of walls.
load helper

walls() { "$ORRERY" explain --walls "$@"; }

@test "walls: the textbook's 70B on 1,024 GPUs, beside what is simulated" {
    expect 0 walls --model llama3-70b --gpu h100-80gb-sxm --gpus 1024 --tokens 15T
    for line in "state of the model              1,120 GB" "the same of 2,048 tokens        153 GB" \
        "those recomputed               2.68 GB" "FLOPs of a sequence           3.44 PFLOP" \
        "gradients over a card's wire      280 GB" "all-reduce                        2.80 s" \
        "GPU-years                            504" "months on all GPUs                  5.91" \
        "envelope    compute" "simulated   it fits"; do
        shows "$line"
    done
}

@test "walls of a file are those of the same words on the line" {
    printf 'name: x\nmodel: {preset: llama2-7b}\ncluster: {gpu: a100-80gb-sxm, gpus: 16}\ntraining: {sequence: 4096, global_batch: 16}\n' >x.yaml
    expect 0 walls x.yaml --json
    mv out file.json
    expect 0 walls --model llama2-7b --gpu a100-80gb-sxm --gpus 16 --sequence 4096 --json
    for field in .walls .binding .kernels .fits; do
        [ "$(jq -c "$field" out)" = "$(jq -c "$field" file.json)" ]
    done
    [ "$(jq -r .schema out)" = orrery.walls/1 ]
}

@test "walls: MFU and bandwidth are as stated" {
    expect 0 walls --model llama2-7b --gpu a100-80gb-sxm --sequence 4096 --mfu 20% --bandwidth 10GB/s --json
    jq -e '[.walls[] | select(.key == "mfu") | .envelope] == [0.2]' out
    jq -e '[.walls[] | select(.key == "bandwidth") | .envelope] == [1e10]' out
    # half the MFU, twice the time
    jq '.walls[] | select(.key == "step") | .envelope' out >slow
    expect 0 walls --model llama2-7b --gpu a100-80gb-sxm --sequence 4096 --mfu 40% --json
    jq --slurpfile slow slow -e '(.walls[] | select(.key == "step") | .envelope) * 2 - $slow[0] | fabs < 1e-9' out
}

@test "walls: each wall is met" {
    expect 0 walls --model llama3-70b --gpu h100-80gb-sxm --gpus 8
    shows "envelope    memory of state"
    shows "this layout does not fit"
    expect 0 walls --model llama2-7b --gpu a100-80gb-sxm --gpus 8 --sequence 4096 --set training.sequence=1048576
    shows "envelope    memory of activations"
    expect 0 walls --model llama3-70b --gpu h100-80gb-sxm --gpus 1024 --bandwidth 1GB/s
    shows "envelope    communication"
}

@test "walls of a mixture of experts are counted" {
    expect 0 walls "$SCENARIOS/rule-of-thumb-671b.yaml"
    shows "such a model is only counted"
    expect 0 walls "$SCENARIOS/rule-of-thumb-671b.yaml" --json
    jq -e '.kernels == [] and .fits == null' out
}

@test "walls: what is wrong is told with its remedy" {
    expect 2 walls
    said "--walls takes a scenario, or --model and --gpu"
    expect 2 walls --model llama3-70b
    said "--gpu is missing"
    expect 2 walls "$hello" --gpus 8
    said "change a key of a file with --set"
    expect 2 walls --model 'x}: {y' --gpu h100-80gb-sxm
    said "names of the catalogue"
    expect 2 walls --model llama3-70b --gpu h100-80gb-sxm --tokens '1}'
    said "as in 15T"
    expect 2 walls "$hello" --bandwidth 100
    said "--bandwidth: expected a rate"
    expect 2 walls "$hello" --mfu 2
    expect 3 walls --model llama3-70 --gpu h100-80gb-sxm
    said "did you mean 'llama3-70b'"
    expect 3 walls --model gpt2-124m --gpu a100-80gb-sxm
    said "exceeds the 1024 learned positions"
    expect 1 walls nowhere.yaml
}
