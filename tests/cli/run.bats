load helper

@test "run: report, database, views in words" {
    expect 0 "$ORRERY" run "$hello"
    shows "step time"
    shows "Where the time of the mean rank goes"
    shows "Memory of each stage"
    shows "digest"
    said "hello-8-gpus.db"
    [ "$(sql hello-8-gpus.db "select value from meta where key = 'complete'")" = 1 ]
    [ "$(sql hello-8-gpus.db "pragma integrity_check")" = ok ]
    [ "$(sql hello-8-gpus.db "select abs(sum(b.seconds) / max(u.step_s) - 1) < 1e-9 from breakdown b, run u")" = 1 ]
    [ "$(sql hello-8-gpus.db "select count(*) > 0 from bubble")" = 1 ]
    [ "$(sql hello-8-gpus.db "select count(*) > 0 from link_util")" = 1 ]
    [ "$(sql hello-8-gpus.db "select verdict from memory_peak")" = fits ]
    [ ! -e hello-8-gpus.db.partial ]
}

@test "no escape codes and no carriage returns without a terminal" {
    "$ORRERY" run "$hello" >out 2>err
    lacks "$(printf '\033')" out err
    lacks "$(printf '\r')" out err
}

@test "lines of the report stay within 100 columns" {
    for s in hello-8-gpus llama3-70b-64xh100 memory/memory-wall-70b-1gpu; do
        "$ORRERY" run "$SCENARIOS/$s.yaml" --no-db -v >out 2>err || true
        [ -s out ]
        LC_ALL=C.UTF-8 grep -nE '^.{101,}$' out && return 1
        "$ORRERY" memory "$SCENARIOS/$s.yaml" >out 2>err || true
        LC_ALL=C.UTF-8 grep -nE '^.{101,}$' out && return 1
    done
    true
}

@test "a long formula of MFU stays within 100 columns" {
    cat >v32.yaml <<'YAML'
model: {preset: deepseek-v3.2, layers: 4, experts: 8, groups_per_token: 0, expert_groups: 0}
cluster: {gpu: h200-141gb-sxm, gpus: 8}
software: {profile: megatron}
training: {sequence: 32768, global_batch: 8}
layout: {tp: 1, pp: 1, dp: 8, ep: 8, microbatch: 1, recompute: full}
YAML
    "$ORRERY" run v32.yaml --no-db >out 2>err
    shows "(6N + 6P - 2D + 6Laek + 2Ixs + 4Ixk a token against"
    shows "(6N + 6P - 2D + 6Laej + Ixs + 4Ixj: a token sees those before it)"
    sed -n '/^  MFU/,/^  HFU/p' out >mfu
    [ -s mfu ]
    LC_ALL=C.UTF-8 grep -nE '^.{101,}$' mfu && return 1
    true
}

@test "the same run twice: the same bytes of report, JSON and database" {
    "$ORRERY" run "$hello" --db a.db >a.txt
    "$ORRERY" run "$hello" --db b.db >b.txt
    cmp a.txt b.txt
    cmp a.db b.db
    "$ORRERY" run "$hello" --no-db --json >a.json
    "$ORRERY" run "$hello" --no-db --json >b.json
    cmp a.json b.json
    "$ORRERY" run "$hello" --db c.db --set training.sequence=512 >c.txt # and another differs
    run cmp -s a.txt c.txt
    [ "$status" -eq 1 ]
}

@test "--threads: one, two and seven give the same bytes of report, JSON and database" {
    for n in 1 2 7; do # every rank by itself, so that there is something to share
        jitter="--threads $n --set perturbations.jitter=0.02"
        "$ORRERY" run "$hello" $jitter --detail op --db "$n.db" >"$n.txt"
        "$ORRERY" run "$hello" $jitter --no-db --json >"$n.json"
        cmp 1.txt "$n.txt"
        cmp 1.json "$n.json"
        cmp 1.db "$n.db"
    done
    expect 2 "$ORRERY" run "$hello" --threads 0
    said "--threads"
    expect 0 "$ORRERY" run "$hello" --no-db --threads 100000 # no more than can be had
}

@test "JSON has the stable keys; the breakdown sums to the step" {
    "$ORRERY" run "$hello" --no-db --json >out
    for key in schema version scenario seed digest step_time_s tokens_per_s tokens_per_s_per_gpu mfu hfu \
        model_flops_per_step peak_allocated_bytes peak_reserved_bytes usable_hbm_bytes fits \
        bubble_ratio class_count rank_count event_count breakdown; do
        shows "\"$key\":"
    done
    sum=$(sql :memory: "select abs(sum(b.value) / json_extract(readfile('out'), '\$.step_time_s') - 1) < 1e-9
        from json_each(readfile('out'), '\$.breakdown') b")
    [ "$sum" = 1 ]
}

@test "digest does not depend on folding or detail" {
    for option in "" --unfold "--detail flow" "--detail summary" "--detail step" "--detail kernel"; do
        "$ORRERY" run "$hello" --json --db x.db $option | grep '"digest"' >>digests
    done
    [ "$(wc -l <digests)" -eq 6 ]
    [ "$(sort -u digests | wc -l)" -eq 1 ]
}

@test "views of ranks look from the class to its ranks, not through all ranks for each row" {
    "$ORRERY" run "$hello" --db a.db >out
    for view in slice counter; do
        plan=$(sql a.db "explain query plan select count(*) from $view")
        [[ "$plan" == *"SEARCH r USING "*"(rank_class=?"* ]] || { echo "$plan"; return 1; }
    done
    # One rank's rows, and all of them.
    [ "$(sql a.db "select count(*) from slice where rank = 3")" = "$(sql a.db "select op_count from run")" ]
    [ "$(sql a.db "select count(*) from slice")" = "$(sql a.db "select sum(t.slices * c.rank_count)
        from track t join rank_class c on c.id = t.rank_class")" ]
}

@test "each detail records its rows" {
    "$ORRERY" run "$hello" --detail summary --db a.db >out
    [ "$(sql a.db "select count(*) from slice_raw")" = 0 ]
    "$ORRERY" run "$hello" --detail step --db a.db >out
    [ "$(sql a.db "select count(*) = (select count(*) from rank_class) from slice_raw")" = 1 ]
    "$ORRERY" run "$hello" --detail op --db a.db >out
    ops=$(sql a.db "select count(*) from slice_raw")
    [ "$ops" = "$(sql a.db "select op_count from run")" ]
    "$ORRERY" run "$hello" --detail kernel --db a.db >out
    [ "$(sql a.db "select count(*) from slice_raw where depth = 0")" = "$ops" ]
    [ "$(sql a.db "select count(*) > $ops from slice_raw")" = 1 ]
    "$ORRERY" run "$hello" --detail flow --db a.db >out
    [ "$(sql a.db "select count(*) > 0 from transfer")" = 1 ]
}

@test "spans of a track do not overlap, whatever the rounding" {
    "$ORRERY" run "$hello" --db a.db >out
    [ "$(sql a.db "select count(*) from (select ts, lag(ts + dur) over (partition by track_id order by ts, id) as before
        from slice_raw) where ts < before")" = 0 ]
}

@test "-v lists the defaults, and the database holds them" {
    expect 0 "$ORRERY" run "$hello" -v
    shows "Defaults taken"
    [ "$(sql hello-8-gpus.db "select count(*) > 0 from message where severity = 'default'")" = 1 ]
}

@test "what does not fit: exit 4, the failure in words, the ledger in the database" {
    expect 4 "$ORRERY" run "$SCENARIOS/memory/memory-13b-1gpu.yaml"
    shows "Out of memory at step zero"
    shows "exp_avg"
    [ "$(sql memory-13b-1gpu.db "select fits from run")" = 0 ]
    [ "$(sql memory-13b-1gpu.db "select count(*) from message where severity = 'failure'")" = 1 ]
    [ "$(sql memory-13b-1gpu.db "select count(*) from breakdown")" = 0 ]
    [ "$(sql memory-13b-1gpu.db "select verdict from memory_peak")" = "out of memory" ]
}

@test "memory: verdict, rule of thumb, smallest cluster" {
    expect 4 "$ORRERY" memory "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml"
    shows "Out of memory at step zero"
    shows "1,120 GB"
    shows "14 cards"
    expect 4 "$ORRERY" memory "$SCENARIOS/memory/rule-of-thumb-671b.yaml"
    shows "135 cards"
    expect 4 "$ORRERY" memory "$SCENARIOS/memory/rule-of-thumb-671b-fp8.yaml"
    shows "76 cards"
    expect 4 "$ORRERY" run "$SCENARIOS/memory/rule-of-thumb-671b.yaml"
    expect 4 "$ORRERY" memory "$SCENARIOS/memory/memory-13b-1gpu.yaml" --json
    for key in parameters static_bytes_model rule_of_thumb_bytes minimum_gpus fits first_failure tensor \
        tenant at bytes short_bytes call_site classes tenants peak_allocated_bytes peak_reserved_bytes; do
        shows "\"$key\":"
    done
}

@test "memory: what the smallest cluster keeps as stated, and how many cards would do without" {
    cat >stated.yaml <<'YAML'
model: {preset: gemma2-9b}
cluster: {gpu: a100-40gb-sxm, node: aws-p4d, nodes: 1}
training: {sequence: 8192, global_batch: 16, precision: bf16}
layout: {tp: 2, cp: 2, microbatch: 4, sharding: zero-1, recompute: none}
software: nanotron
YAML
    grep -v "^layout" stated.yaml >open.yaml
    "$ORRERY" memory open.yaml --json >open.json 2>/dev/null || true
    local fewer
    fewer=$(jq .minimum_gpus open.json)
    jq -e '.minimum_gpus_opened == null' open.json
    expect 4 "$ORRERY" memory stated.yaml
    shows "  Kept as stated: layout.sharding, layout.recompute, layout.microbatch"
    shows "  Were they open, $fewer cards would hold it."
    "$ORRERY" memory stated.yaml --json >stated.json 2>/dev/null || true
    jq -e ".minimum_gpus > $fewer and .minimum_gpus_opened == $fewer" stated.json
    expect 4 "$ORRERY" memory stated.yaml --limit "$fewer" # none as stated, the same without
    shows "no legal layout up to $fewer GPUs holds it"
    shows "  Were they open, $fewer cards would hold it."
    sed -i 's/^layout.*/layout: {tp: 2, cp: 2, microbatch: 1, recompute: full}/' stated.yaml # what holds least
    "$ORRERY" memory stated.yaml --json >stated.json 2>/dev/null || true
    jq -e ".minimum_gpus == $fewer and .minimum_gpus_opened == null" stated.json
    expect 4 "$ORRERY" memory stated.yaml
    ! grep "Kept as stated" out || false
}

@test "collective: table, JSON, refusals" {
    expect 0 "$ORRERY" collective --op all_reduce --gpus 8 --min 8 --max 1GiB --factor 8
    [ "$(grep -vc '^#' out)" -eq 10 ]
    expect 0 "$ORRERY" collective --op send --gpus 16 --node dgx-a100 --gpu a100-80gb-sxm \
        --fabric ib-hdr-8x200 --min 1M --max 1M --json
    for key in op ranks bytes algorithm protocol time_s algbw_bytes_per_s busbw_bytes_per_s; do
        shows "\"$key\":"
    done
    expect 0 "$ORRERY" collective --gpus 16 --gpu b200-180gb-sxm --min 1MiB --max 1MiB
    shows "2 x dgx-b200 over ib-ndr-8x400"
    expect 0 "$ORRERY" collective --gpus 16 --gpu gb200-186gb --min 1MiB --max 1MiB
    shows "1 x gb200-nvl72 over its own links"
    expect 2 "$ORRERY" collective --op all_redcue
    said "did you mean 'all_reduce'?"
    expect 2 "$ORRERY" collective --gpus 1
    expect 2 "$ORRERY" collective --op send --gpus 3
    expect 2 "$ORRERY" collective --min 8G --max 1k
    expect 2 "$ORRERY" collective --min 8 --max 8GiB --factor 1.0001
    expect 2 "$ORRERY" collective --node "dgx-h100, nodes: 5"
    expect 3 "$ORRERY" collective --node dgx-h1000
}

# Exchanges as measured: 240 MiB of 8 B200 in 433 us by SimuMax's fit, 8 GiB in 11.7 (NVIDIA's 640 GB/s) to 13.0 ms (its 577); 8 H100
# in 220 us and 21.7 ms for 64 MiB and 8 GiB (tests/validation/exchanges.csv).
@test "an all-to-all takes what was measured on 8 B200, GB200 and H100" {
    local gpu
    for gpu in b200-180gb-sxm gb200-186gb; do
        "$ORRERY" collective --op all_to_all --gpus 8 --gpu $gpu --min 251658240 --max 251658240 --json |
            jq -e '.rows[0].time_s | . > 385e-6 and . < 445e-6'
        "$ORRERY" collective --op all_to_all --gpus 8 --gpu $gpu --min 8GiB --max 8GiB --json |
            jq -e '.rows[0].time_s | . > 11.7e-3 and . < 13.0e-3'
    done
    "$ORRERY" collective --op all_to_all --gpus 8 --min 64MiB --max 8GiB --factor 128 --json |
        jq -e '[.rows[0].time_s / 220.1e-6, .rows[1].time_s / 21.73e-3] | all(. > .97 and . < 1.03)'
}

@test "export: chrome and csv of a run" {
    "$ORRERY" run "$hello" --detail kernel >out 2>err
    expect 0 "$ORRERY" export hello-8-gpus.db --output t.json
    [ ! -s out ]
    "$NESTING" t.json
    # Each event is a row of the database, in every column.
    sql hello-8-gpus.db "select t.rank_class, t.id, s.ts, s.dur, s.wait, n.text, p.text, ifnull(s.microbatch, ''),
        ifnull(s.layer, ''), ifnull(s.chunk, '') from slice_raw s join track t on t.id = s.track_id
        join string n on n.id = s.name join string p on p.id = s.phase
        where t.rank_class in (select id from rank_class)" | LC_ALL=C sort >rows
    jq -r '.traceEvents[] | select(.ph == "X") | [.pid, .tid, (.ts * 1000 | round), (.dur * 1000 | round),
        .args.wait_ns, .name, .cat, (.args | .microbatch // "", .layer // "", .chunk // "")] | map(tostring) | join("|")' \
        t.json | LC_ALL=C sort | cmp - rows
    [ "$(wc -l <rows)" -gt 100 ]
    expect 0 "$ORRERY" export hello-8-gpus.db --format svg
    head -c 4 out | grep -q '<svg'
    expect 0 "$ORRERY" export hello-8-gpus.db --rank 3
    shows "rank 3"
    expect 1 "$ORRERY" export hello-8-gpus.db --rank 99
    expect 0 "$ORRERY" export hello-8-gpus.db --format csv --table breakdown
    [ "$(wc -l <out)" -eq 13 ]
    expect 2 "$ORRERY" export hello-8-gpus.db --format csv --table braekdown
    said "did you mean 'breakdown'?"
    expect 2 "$ORRERY" export hello-8-gpus.db --format csv --table xyzzyxyzzyxyzzy # far from all: they are listed
    for table in $(sql hello-8-gpus.db "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite%'"); do
        said " $table"
    done
    expect 1 "$ORRERY" export t.json
    expect 1 "$ORRERY" export nothing.db
    expect 1 "$ORRERY" export hello-8-gpus.db --output no/such/folder/t.json
}

@test "run --uncertainty: percentiles, influences, probability against another layout" {
    expect 0 "$ORRERY" run "$hello" --no-db --uncertainty 6
    shows "How sure: 6 draws"
    shows "P90"
    shows "the model's own error"
    shows "software.megatron.launch"
    shows "of this software on this card"
    LC_ALL=C.UTF-8 grep -nE '^.{101,}$' out && return 1
    "$ORRERY" run "$hello" --no-db --uncertainty=6 --json >a.json
    "$ORRERY" run --uncertainty=6 --no-db --json "$hello" >b.json
    cmp a.json b.json
    [ "$(sql :memory: "select json_extract(readfile('a.json'), '\$.uncertainty.step_time_s.p10') <
        json_extract(readfile('a.json'), '\$.uncertainty.step_time_s.p90')")" = 1 ]
    [ "$(sql :memory: "select abs(json_extract(readfile('a.json'), '\$.uncertainty.model_variance_ratio') +
        sum(json_extract(i.value, '\$.variance_ratio')) - 1) < 1e-9
        from json_each(readfile('a.json'), '\$.uncertainty.influences') i")" = 1 ]
    expect 0 "$ORRERY" run "$hello" --no-db --uncertainty=4 --against "$hello"
    shows "the first is faster with probability 0.50: the same"
    shows "time of the second over the first: 1.000 to 1.000 (P10 to P90), 1.000"
    shows "one step (equal digests)"
    expect 0 "$ORRERY" run "$hello" --no-db --uncertainty=4 --against "$SCENARIOS/step/fsdp-7b.yaml"
    shows "errors of the model are not shared"
}

@test "run --uncertainty: what was never measured is said, and is wider" {
    own="json_extract(readfile('%s.json'), '\$.uncertainty.log_spread_of_model')"
    "$ORRERY" run "$hello" --no-db --uncertainty 2 --json --set software=nemo --set cluster.gpu=h100-80gb-sxm >near.json
    "$ORRERY" run "$hello" --no-db --uncertainty 2 --json --set software=nemo --set cluster.gpu=h200-141gb-sxm >far.json
    expect 0 "$ORRERY" run "$hello" --no-db --uncertainty 2 --set software=nemo --set cluster.gpu=h200-141gb-sxm
    shows "own error: no measurement of this software on this card"
    grep -Eq '"measured": "[0-9]+ measured steps? of this software on this card; the nearest, [^ ]+ \([0-9]+ GPUs\), is predicted [0-9]+ % too (fast|slow); the largest has [0-9]+ GPUs"' near.json
    grep -q '"measured": "no measurement of this software on this card ([0-9]* on other cards); the nearest, ' far.json
    "$ORRERY" run "$hello" --no-db --uncertainty 2 --json --set software=nemo --set cluster.gpu=mi300x-192gb >other.json
    grep -q '"measured": "no measured step is on a card of this maker (AMD); no measurement of this software on this card ([0-9]* on ' other.json
    # shellcheck disable=SC2059
    [ "$(sql :memory: "select $(printf "$own" near) <= $(printf "$own" far) and $(printf "$own" far) < $(printf "$own" other)")" = 1 ]
}

@test "run --against and --uncertainty: what does not go together" {
    expect 2 "$ORRERY" run "$hello" --no-db --against "$hello"
    said "--against needs --uncertainty"
    expect 2 "$ORRERY" run "$hello" --no-db --uncertainty=many
    said "expected a whole number"
    expect 2 "$ORRERY" run "$hello" --no-db --uncertainty 0
    said "above 0"
    expect 2 "$ORRERY" run "$hello" --no-db --uncertainty=999999999
    said "at most"
    expect 1 "$ORRERY" run "$hello" --no-db --uncertainty 2 --against no-such.yaml
    cp -r "$SCENARIOS/catalogue" broken
    sed -i 's/gemm_efficiency: [0-9.]*%, hbm/gemm_efficiency: lots, hbm/' broken/gpus.yaml
    expect 3 "$ORRERY" run "$hello" --no-db --catalogue broken --set cluster.gpu=h100-80gb-sxm
    said "lots"
}

@test "a step that rests on lock-step is warned about, and nobody else" {
    cat >lock.yaml <<'END'
model: {layers: 1, hidden: 2048, heads: 16, vocabulary: 1000}
cluster: {gpu: a100-40gb-sxm, node: hgx-a100-4nic, nodes: 2, fabric: {kind: fat_tree}}
training: {sequence: 1024, global_batch: 24}
layout: {tp: 8, microbatch: 3, sequence_parallel: true, order: dp-tp-cp-pp}
END
    expect 0 "$ORRERY" run lock.yaml --no-db
    said "warning: alike groups share wires in lock-step"
    step=$(sed -n 's/^  step time *//p' out)
    said " ms to $step as the answer" # the step that is told stands at the end of the range
    read -r share shortest < <(sed -n 's/.* up to \([0-9.]*\) % shorter: take \([0-9.]*\) ms to .*/\1 \2/p' err)
    awk "BEGIN { s = ${step% ms}; exit !($share > 1 && sqrt(($shortest / s - 1 + $share / 100) ^ 2) < .1 / s + 5e-4) }"
    expect 0 "$ORRERY" run lock.yaml --no-db --json
    shows '"warnings": ['
    shows "alike groups share wires in lock-step"
    shows '"draws": 8'
    expect 0 "$ORRERY" run lock.yaml --no-db --set layout.order=tp-cp-dp-pp
    lacks lock-step err
    expect 0 "$ORRERY" run "$hello" --no-db --json
    lacks lock-step out err
}

@test "a dear choice is warned about with its price, by check and run, at its place; a good one is not" {
    local main="$SCENARIOS/llama3-70b-64xh100.yaml"
    expect 0 "$ORRERY" check "$main"
    lacks costs out err
    shows "no errors, 0 warnings"
    expect 0 "$ORRERY" run "$main" --no-db --set layout.recompute=full
    said "warning: layout.recompute: costs 3"
    said "with layout.recompute=none, which fits, a step takes 37."
    expect 0 "$ORRERY" check "$main" --set layout.tp=16 --set layout.pp=1
    said "warning: layout.tp: costs"
    said "with layout.tp=8 layout.pp=2, which fits"
    expect 0 "$ORRERY" check "$main" --set layout.tp=16 --set layout.pp=1 --json
    shows "layout.tp: costs"
    expect 0 "$ORRERY" run "$main" --db priced.db --set layout.recompute=full --json
    shows "layout.recompute: costs"
    # check tries all that could be dear, run what its own step makes probable
    costs() { grep -o 'layout[^ ]*: costs.*' err | sort; }
    for scenario in "$main" "$hello"; do
        expect 0 "$ORRERY" run "$scenario" --no-db --set layout.recompute=full
        costs >of_run
        expect 0 "$ORRERY" check "$scenario" --set layout.recompute=full
        costs >of_check
        [ -z "$(comm -23 of_run of_check)" ]
    done
    [ "$(comm -13 of_run of_check | grep -c "^layout.*: costs")" = 1 ]
    [ "$(sqlite3 priced.db "select count(*) from message where severity = 'warning' and text like 'layout.recompute: costs%'")" = 1 ]
}

@test "activations on the host: less on the card, time that is told, and a host that is too small" {
    peak() { sed -n 's/^ *"peak_reserved_bytes": \([0-9.e+-]*\).*/\1/p' "$1" | head -n 1; }
    local -a whole=("$hello" --set layout.recompute=none)
    expect 0 "$ORRERY" run "${whole[@]}" --no-db --json
    cp out before.json
    expect 0 "$ORRERY" run "${whole[@]}" --db away.db --json --set layout.activation_offload=1
    awk "BEGIN {exit !($(peak out) < $(peak before.json))}"
    [ "$(sql away.db "select sum(op_count) from stream_use where stream in ('to_host', 'from_host')")" = 176 ]
    [ "$(sql away.db "select offload_s > 0 and fits from run")" = 1 ]
    expect 4 "$ORRERY" run "${whole[@]}" --db small.db --set layout.activation_offload=1 --set cluster.node.host_memory=1GB
    shows "were the host large enough"
    shows "memory of the node's CPUs"
    [ "$(sql small.db "select place from out_of_memory")" = host ]
    expect 4 "$ORRERY" run "$hello" --no-db --set layout.optimizer_offload=1 --set cluster.node.host_memory=1GB
    shows "state, gradients and weights of a node"
    expect 3 "$ORRERY" run "$hello" --no-db --set layout.activation_offload=1 --set cluster.node.nvme_read_bandwidth=0GB/s --set layout.activation_offload_to=nvme
    said "take cpu"
}

@test "a lower power cap slows a step, one above tdp changes nothing and is warned of, and one below idle power is refused" {
    step() { "$ORRERY" run "$SCENARIOS/llama3-70b-64xh100.yaml" --no-db --json --set "cluster.gpu.power=$1" | sed -n 's/^ *"step_time_s": \([0-9.e+-]*\).*/\1/p' | head -n 1; }
    full=$(step 700W) half=$(step 350W) less=$(step 500W) more=$(step 1000W)
    awk "BEGIN {exit !($half > 1.2 * $full && $half > $less && $less > $full && $more == $full)}"
    expect 3 "$ORRERY" run "$hello" --no-db --set cluster.gpu.power=60W
    said "draws all of its power cap"
    expect 0 "$ORRERY" run "$hello" --no-db --set cluster.gpu.power=100W
    lacks "has no effect above" err
    expect 0 "$ORRERY" run "$hello" --no-db --set cluster.gpu.power=100kW
    said "cluster.gpu.power has no effect above the card's tdp: it limits what the card draws"
}

@test "run --measured: a slow step of one's own moves the forecast up and narrows it; what cannot speak is refused" {
    ends() { sed -n '/"step_time_s": {/,/}/s/.*"\(p[0-9]*\)": \([0-9.e+-]*\).*/\2/p' "$1" | tr '\n' ' '; }
    local slow
    "$ORRERY" run "$hello" --no-db --json --uncertainty=16 >before.json
    slow=$(sed -n 's/^ *"step_time_s": \([0-9.e+-]*\),.*/\1/p' before.json | head -n 1 | awk '{print 1.1 * $1}')
    expect 0 "$ORRERY" run "$hello" --db own.db --json --uncertainty=16 --measured "step=${slow}s"
    [ -n "$(ends before.json)" ]
    echo "$(ends before.json) $(ends out) $slow" | awk '{gap = $5 - $7; exit !($5 > $2 && gap * gap < ($2 - $7) ^ 2 && $6 / $4 < $3 / $1)}'
    [ "$(sqlite3 own.db "select own_steps = 1 and own_shift_ratio > 0 and model_log_spread < prior_log_spread from uncertainty")" = 1 ]
    expect 0 "$ORRERY" run "$hello" --no-db --uncertainty=4 --set layout.microbatch=2 --measured "$hello:step=${slow}s"
    shows "measured by you: 1"
    said_nothing_of() { ! grep -q "standard errors" err; }
    said_nothing_of
    expect 0 "$ORRERY" run "$hello" --no-db --uncertainty=4 --measured step=1h
    said "standard errors from the forecast of that scenario"
    expect 2 "$ORRERY" run "$hello" --no-db --measured 3.1s
    said "expected [SCENARIO:]step=TIME"
    expect 2 "$ORRERY" run "$hello" --no-db --measured step=3.1
    said "has no unit"
    expect 2 "$ORRERY" run "$hello" --no-db --measured step=3s --uncertainty --against "$hello"
    said "give one of the two"
    expect 2 "$ORRERY" run "$hello" --no-db --measured "$SCENARIOS/step/gpt3-175b-1024xa100.yaml:step=3s"
    said "says nothing of"
    expect 1 "$ORRERY" run "$hello" --no-db --measured "nothere.yaml:step=3s"
}

@test "the database lists every node and card of a cluster, each card on its node" {
    expect 0 "$ORRERY" run "$SCENARIOS/llama3-70b-64xh100.yaml" --db cluster.db
    [ "$(sql cluster.db "select count(*), min(id), max(id) from node")" = "8|0|7" ]
    [ "$(sql cluster.db "select count(*), min(id), max(id), sum(node <> id / 8) from gpu")" = "64|0|63|0" ]
}

write_own() {
    cat >own.yaml <<'YAML'
model: {preset: llama3-8b}
cluster: {gpu: h100-80gb-sxm, gpus: 64}
training: {global_batch: 512}
layout: {tp: 2, pp: 1, cp: 1, dp: 32, vpp: 1, microbatch: 2, sharding: zero-1, recompute: none}
software: nemo
YAML
}

# 64 H100, 989.4 TFLOP/s each. With 1 Mi tokens an MFU counts nearly twice what kernels do.
@test "run and plan --measured: a step shorter than its FLOPs at the peak is refused, whoever's it is" {
    write_own
    local command step least flops
    expect 0 "$ORRERY" run own.yaml --no-db --json
    least=$(jq '.step_time_s * .causal_mfu' out)
    for command in "run own.yaml --no-db" "plan own.yaml"; do
        for step in step=0.1s own.yaml:step=100ms "step=$(jq -n "$least * 0.999")s"; do
            # shellcheck disable=SC2086
            expect 2 "$ORRERY" $command --measured "$step"
            [ ! -s out ]
            said "--measured $step: that is "
            said "no step of that scenario takes less than $(awk -v s="$least" 'BEGIN { printf "%#.3g s", s }') for its FLOPs"
            said "give the time of a whole step (512 sequences), in its unit (s, ms)"
            lacks "standard errors" err
        done
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" $command --measured "step=$(jq -n "$least * 1.001")s"
        # shellcheck disable=SC2086
        expect 2 "$ORRERY" $command --measured step=7.5s --measured step=7.5ms
        said "--measured step=7.5ms: that is "
    done
    expect 2 "$ORRERY" run own.yaml --db kept.db --measured step=0.1s
    [ ! -e kept.db ]
    # What MFU counts twice is no reason.
    sed -i 's/{global_batch: 512}/{sequence: 1048576, global_batch: 8}/; s/tp: 2.*zero-1/tp: 8, cp: 8, microbatch: 1/; s/recompute: none/recompute: full/' own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db --json
    flops=$(jq '.step_time_s * .mfu * 0.99' out)
    jq -e '.mfu > 1.5 * .causal_mfu' out
    expect 0 "$ORRERY" run own.yaml --no-db --measured "step=${flops}s"
}

@test "run and plan --measured: steps of one scenario that contradict each other widen, one outside is told" {
    local command before wide near own
    ends() { jq -r '[.uncertainty.step_time_s.p10, .uncertainty.step_time_s.p90] | (.[1] / .[0] | log)' out; }
    write_own
    cp own.yaml other.yaml
    sed -i 's/global_batch: 512/global_batch: 256/' other.yaml
    expect 0 "$ORRERY" run own.yaml --no-db --json --uncertainty=8
    before=$(ends)
    own=$(jq .step_time_s out)
    expect 0 "$ORRERY" run own.yaml --no-db --json --uncertainty=8 --measured other.yaml:step=3.7s --measured other.yaml:step=3.75s
    near=$(ends)
    lacks "steps scatter by" err
    expect 0 "$ORRERY" run own.yaml --no-db --json --uncertainty=8 --measured other.yaml:step=5.5s --measured other.yaml:step=2.6s
    wide=$(ends)
    jq -ne "$near < $before and $wide > 3 * $before"
    for command in "run own.yaml --no-db" "plan own.yaml"; do
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" $command --measured step=11s --measured step=5s --measured step=8s
        said "--measured step=5s: below P0.01 of what 11.0 s, measured of the same scenario, leaves: steps scatter by"
        said "these by 40 %, which the interval takes"
        lacks "step=8s: .*leaves" err
        said "--measured step=11s: "
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" $command --measured "step=$(jq -n "$own * 1.05")s"
        lacks "standard errors" err
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" $command --measured "step=$(jq -n "$own * 1.25")s"
        said "standard errors from the forecast of that scenario"
        grep -Eq "at P99\.[0-9]+, |above P99\.99, " err
    done
}

@test "run and plan --measured: the interval is around the step beside it, and hangs on what is said" {
    local own change step low high
    write_own
    # The scenario itself: its scatter alone. Of another one figures matter as before.
    expect 0 "$ORRERY" run own.yaml --no-db --uncertainty=16 --measured step=7.5s
    shows "no figure of the catalogue: you measured this step itself"
    lacks "elasticity\|gemm_efficiency" out
    expect 0 "$ORRERY" run own.yaml --no-db --json --uncertainty=16 --measured step=7.5s
    jq -e '.uncertainty | .influences == [] and .model_variance_ratio == 1' out
    jq -e '.uncertainty | ((.step_time_s.p90 / .step_time_s.p50 | log) / .log_spread_of_model / 1.2815516 - 1 | fabs) < 1e-3' out
    expect 0 "$ORRERY" run own.yaml --no-db --uncertainty=16 --measured own.yaml:step=7.5s
    shows "gemm_efficiency"
    lacks "you measured this step itself" out
    # The first of a plan, measured itself or by way of another file.
    sed -i 's/tp: 2, \(.*\) dp: 32, vpp: 1, microbatch: 2/tp: 1, \1 dp: 64, vpp: 1, microbatch: 1/' own.yaml
    expect 0 "$ORRERY" plan own.yaml --json
    own=$(jq .layouts[0].step_time_s out)
    for change in "" own.yaml:; do
        expect 0 "$ORRERY" plan own.yaml --json --measured "${change}step=7.5s"
        jq -e --argjson own "$own" '.layouts[0] | .step_time_s == $own and .p10 < .forecast_step_time_s and .forecast_step_time_s < .p90' out
        jq -e '.layouts[0] | (.p10 * .p90 | sqrt) / .forecast_step_time_s - 1 | fabs < 1e-6' out
        read -r step low high <<<"$(jq -r '.layouts[0] | "\(.forecast_step_time_s) \(.p10) \(.p90)"' out)"
        expect 0 "$ORRERY" plan own.yaml --measured "${change}step=7.5s"
        shows "$(awk -v a="$step" -v b="$low" -v c="$high" 'BEGIN { printf "  step      %#.3g s; 80 %% of steps between %#.3g s and %#.3g s", a, b, c }')"
        shows "$(awk -v a="$own" -v b="$step" 'BEGIN { printf "by you: the model'\''s %#.3g s becomes %#.3g s", a, b }')"
        if [ -z "$change" ]; then
            shows "the scatter of such steps alone, as this one was measured"
        else
            shows "if the catalogue's figures are exact"
        fi
    done
}
