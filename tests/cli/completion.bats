load helper

# complete_line WORD...: what bash offers for the last word, one a line. Bash itself breaks words at
# '=', so it stands as a word of its own.
complete_line() {
    # shellcheck disable=SC1090
    source <("$ORRERY" completion bash)
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _orrery
    printf '%s\n' "${COMPREPLY[@]}"
}
offers() { # WANTED -- WORD...: exactly these, in any order
    local want=()
    while [ "$1" != -- ]; do want+=("$1"); shift; done
    shift
    complete_line "$@" >got
    printf '%s\n' "${want[@]}" | sort >want
    sort got | diff want - || { echo "of: $*"; return 1; }
}

@test "bash completes commands, options and their choices" {
    offers memory -- orrery mem
    offers run -- orrery ru
    offers --set --seed -- orrery run x.yaml --se
    offers summary step -- orrery run x.yaml --detail s
    offers bash zsh fish -- orrery completion ""
    touch here.yaml
    offers here.yaml -- orrery run he
}

@test "bash completes keys of --set and --vary, and the words that they take" {
    offers layout.tp= -- orrery run x.yaml --set layout.tp
    offers failures[0].mtbf= -- orrery study x.yaml --vary failures[0].mt
    offers cluster.gpu.name= cluster.gpu.node= cluster.gpu.nominal_hbm= -- orrery run x --set = cluster.gpu.n
    offers h100-80gb-sxm h100-80gb-pcie h100-96gb-hbm2e-500w -- \
        orrery run x.yaml --set cluster.gpu = h100
    offers megatron megatron-2021 megatron-2022 -- orrery run x.yaml --set software = megatron
    offers true false -- orrery run x.yaml --set layout.sequence_parallel =
    offers zero-0 zero-1 zero-2 zero-3 -- orrery study x.yaml --vary layout.sharding = zero
    offers block every_other_layer full modules none per_operator selective uniform -- orrery run x --set layout.recompute =
    offers async -- orrery run x --set checkpoint.policy = a
    offers "" -- orrery run x.yaml --set layout.tp = 4
}

@test "bash completes families, entries of the catalogue and kinds" {
    offers gpus -- orrery list gp
    offers h200-141gb-sxm -- orrery list gpus h200
    offers zb-h1 zb-h2 -- orrery list schedule zb-h
    offers h200-141gb-sxm -- orrery collective --gpu h200
}

@test "every shell offers the kinds of import and the actions of profile, as --help lists them" {
    "$ORRERY" import --help | sed -n 's/^\([a-z][a-z-]*\) FILE .*/\1/p' >kinds
    "$ORRERY" import --help | sed -n 's/^\([a-z]*\) PREFIX .*/\1/p' >>kinds
    [ "$(wc -l <kinds)" -ge 8 ]
    grep -qx xid kinds # a form of `failures`
    mapfile -t kinds <kinds
    offers "${kinds[@]}" -- orrery import ""
    offers nccl-tests nccl-topo -- orrery import nccl
    touch nccl-own.txt
    offers nccl-own.txt -- orrery import nccl-tests nccl
    offers show shapes -- orrery profile sh
    for shell in zsh fish; do
        "$ORRERY" completion $shell >all
        for word in "${kinds[@]}" show check compare shapes from; do
            grep -qE "[( ']$word[) ']" all || { echo "$shell: $word"; return 1; }
        done
        grep -E "(1:word:|from import' -a).*[( ']topo[) ']" all
    done
}

@test "bash completes the lessons of the course beside files, and fleets behind --mtbf" {
    touch bubble-own.yaml
    offers bubble bubble-own.yaml -- orrery lesson bub
    offers rsc-1 rsc-2 -- orrery plan x.yaml --mtbf rsc
    offers bubble-own.yaml -- orrery lesson bubble bubble-
}

@test "each list of choices in zsh has its end" {
    "$ORRERY" completion zsh | grep -F ':(' >lists
    [ "$(wc -l <lists)" -gt 20 ]
    ! grep -vE ":\(.*\)'" lists || false
}

@test "zsh and fish know the same keys and names" {
    for shell in zsh fish; do
        expect 0 "$ORRERY" completion $shell
        shows "layout.tp"
        shows "failures[0].mtbf"
        shows "h200-141gb-sxm"
        shows "interleaved"
        for word in $("$ORRERY" lesson --json | jq -r '.rows[].name'); do
            grep lesson out | grep -qE "[' ]$word[ ;']" || { echo "$shell: $word"; return 1; }
        done
        grep -E -- "mtbf" out | grep -q "rsc-1"
        grep -E -- "(--best|-l best)" out | grep -qE "[('](step tokens cost days goodput energy)[)']" || { echo "$shell: --best"; return 1; }
        grep -E -- "(--format|-l format)" out | grep -qE "[('](chrome csv svg failures kineto chakra)[)']" || { echo "$shell: --format"; return 1; }
        if command -v $shell >/dev/null; then $shell -n out; fi
    done
    expect 2 "$ORRERY" completion csh
    said "there are: bash zsh fish"
}
