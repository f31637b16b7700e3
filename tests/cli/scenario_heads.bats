# What the first lines of scenario files promise ("set X to Y: a third of the step goes"), run.
load helper

# Columns of the table run, apart by '|'.
run_of() { # columns, file, options
    rm -f head.db
    expect 0 "$ORRERY" run "$SCENARIOS/$2" --db head.db "${@:3}" && sql head.db "select $1 from run"
}
# holds EXPRESSION NUMBERS...: a, b, ... of awk are the numbers.
holds() {
    echo "${@:2}" | tr '|' ' ' | awk "{a = \$1; b = \$2; c = \$3; d = \$4; e = \$5; f = \$6; exit !($1)}" ||
        { echo "not true: $1, of ${*:2}"; return 1; }
}

@test "contended-fabric: a quarter of the step goes, a quarter of that from exposed_dp, the rest from compute" {
    local columns="step_s, exposed_dp_s, compute_s" both
    both="$(run_of "$columns" step/contended-fabric.yaml) $(run_of "$columns" step/contended-fabric.yaml --set cluster.fabric.oversubscription=1)"
    holds "(a - d) / a > .22 && (a - d) / a < .28" "$both"
    holds "(b - e) / (a - d) > .22 && (b - e) / (a - d) < .3" "$both"
    holds "(c - f) / (a - d) > .67 && (c - f) / (a - d) < .78" "$both"
    holds "a > .3915 && a < .3925 && d > .2985 && d < .2995" "$both"
}

@test "torus-7b, straggler, hello: a third of the step, a sixth of it, no wait for the host" {
    holds "(a - b) / a > .28 && (a - b) / a < .38" "$(run_of step_s step/torus-7b.yaml) $(run_of step_s step/torus-7b.yaml --set cluster.fabric=ib-hdr-8x200)"
    holds "(a - b) / b > .14 && (a - b) / b < .19" "$(run_of step_s step/straggler.yaml) $(run_of step_s llama3-70b-64xh100.yaml)"
    holds "a / b > .3" "$(run_of "host_s, step_s" hello-8-gpus.yaml)"
    holds "a / b < .05" "$(run_of "host_s, step_s" hello-8-gpus.yaml --set layout.microbatch=8)"
}

@test "memory-13b-1gpu: both die while the optimizer is built, megatron at the master weights" {
    expect 4 "$ORRERY" memory "$SCENARIOS/memory/memory-13b-1gpu.yaml"
    grep -q "asks for .* for exp_avg of layer .* (moments)" out
    grep -q "in  *optimizer construction" out
    lacks '^  gradients ' out
    expect 4 "$ORRERY" memory "$SCENARIOS/memory/memory-13b-1gpu.yaml" --set software=megatron
    grep -q "asks for .* for master weights of layer .* (master)" out
    grep -q "in  *optimizer construction" out
    grep -q "^  gradients  *48.5 GiB" out
}

# Means of 32 seeds, each within two points of what the line says.
@test "weeks: what is kept with a save each hour or five minutes, two racks or four, waiting or going on" {
    local file keys percent
    while read -r percent file keys; do
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" study "$SCENARIOS/weeks/$file.yaml" --seeds 32 --db head.db $keys
        holds "a > b - .02 && a < b + .02" "$(sql head.db "select mean from study_summary where metric = 'goodput'") $(awk "BEGIN {print $percent / 100}")"
        rm head.db
    done <<'END'
72.0 rsc-1
93.4 rsc-1 --set checkpoint.interval=5min
97 rsc-2
98 blast-radius-nvl72 --set recovery.spares=4
98.7 elastic-vs-restart
87.5 blast-radius-nvl72
END
}
