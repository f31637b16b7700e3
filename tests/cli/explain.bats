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
    cp "$BATS_TEST_DIRNAME/../fuzz/corpus/huggingface/llama" Config.json # a path is no name of the catalogue
    sed 's/preset: llama2-7b/hf: Config.json/' x.yaml >hf.yaml
    expect 0 walls hf.yaml --json
    mv out file.json
    expect 0 walls --model ./Config.json --gpu a100-80gb-sxm --gpus 16 --sequence 4096 --json
    [ "$(jq -c '[.walls, .kernels]' out)" = "$(jq -c '[.walls, .kernels]' file.json)" ]
}

@test "walls of a database are those of its scenario, as it was run" {
    "$ORRERY" run "$hello" --set layout.tp=2 --db x.db --detail summary >/dev/null 2>&1
    expect 0 walls x.db --json
    mv out database.json
    expect 0 walls "$hello" --set layout.tp=2 --json
    [ "$(jq -c '[.walls, .kernels]' out)" = "$(jq -c '[.walls, .kernels]' database.json)" ]
    expect 2 walls x.db --set layout.tp=4
    said "a database is what was run"
    expect 1 walls nowhere.db
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
    expect 0 walls --model llama2-7b --gpu a100-80gb-sxm --gpus 8 --sequence 1048576
    shows "envelope    memory of activations"
    expect 0 walls --model llama3-70b --gpu h100-80gb-sxm --gpus 1024 --bandwidth 1GB/s
    shows "envelope    communication"
}

@test "walls of a mixture of experts" {
    expect 0 walls "$SCENARIOS/memory/rule-of-thumb-671b.yaml"
    shows "this layout does not fit"
    expect 0 walls "$SCENARIOS/memory/rule-of-thumb-671b.yaml" --json
    jq -e '(.kernels | length) > 0 and .fits == false' out
}

@test "walls: what is wrong is told with its remedy" {
    expect 2 walls
    said "it takes a scenario, or --model and --gpu"
    expect 2 walls --model llama3-70b
    said "--gpu is missing"
    expect 2 walls "$hello" --gpus 8
    said "a key of a file is changed with --set cluster.gpus=8"
    expect 2 walls --model 'x}: {y' --gpu h100-80gb-sxm
    said "names of the catalogue"
    for mark in \' \" \\ $'\n' $'\r' $'\t'; do # of a text in quotes of YAML
        expect 2 walls --model "./a${mark}b.json" --gpu h100-80gb-sxm
        said "names of the catalogue"
    done
    expect 2 walls --model llama3-70b --gpu h100-80gb-sxm --tokens '1}'
    said "as in 15T"
    expect 2 walls "$hello" --bandwidth 100
    said "--bandwidth: expected a rate"
    expect 2 walls "$hello" --mfu 2
    expect 3 walls --model llama3-70 --gpu h100-80gb-sxm
    said "did you mean 'llama3-70b'"
    expect 3 walls --model gpt2-124m --gpu a100-80gb-sxm --sequence 8192
    said "exceeds the 1024 learned positions"
    expect 1 walls nowhere.yaml
}

explain() { "$ORRERY" explain "$@"; }
run_db() { "$ORRERY" run "$@" >/dev/null 2>&1; }

# The terms add up to the step, of weeks to the wall clock of a kept step, and to the tokens of a day.
adds_up() {
    sqlite3 "$1" "delete from meta where key = 'text'" # no elasticities, which take longer
    expect 0 explain "$1" --json --threads 1
    sqlite3 -json "$1" "select step_s, wall_s, useful_s, tokens_per_s, tokens_per_day from run" >run.json
    jq -e --slurpfile run run.json '
        def near($a; $b): ($a - $b | fabs) <= 1e-9 * ($b | fabs);
        $run[0][0] as $r
        | ($r.wall_s != null and $r.useful_s > 0) as $weeks
        | (if $weeks then $r.step_s * $r.wall_s / $r.useful_s else $r.step_s end) as $kept
        | ([.waterfall[].seconds] | add) as $sum
        | (.waterfall | last | .tokens_per_day) as $day
        | near($sum; $kept) and near(.kept_step_s; $kept) and near(.tokens_per_day; $day)
          and near($day; if $weeks then $r.tokens_per_day else $r.tokens_per_s * 86400 end)
          and near(([.idle[]] | add // 0) + .paced_s; [.waterfall[] | select(.term | test("^(exposed_.*|bubble|host|straggler)$")) | .seconds] | add)
        ' out >/dev/null || { echo "$1 does not add up"; jq '[.waterfall[] | {term, seconds}]' out; cat run.json; return 1; }
}

@test "the waterfall adds up, over the shipped scenarios that are timed" {
    long_one
    timed=0
    for file in $(shipped); do
        case $(basename "$file") in *-study.yaml | rule-of-thumb-* | memory-*) continue ;; esac
        run_db "$file" --db x.db --detail summary || continue
        adds_up x.db
        timed=$((timed + 1))
    done
    [ "$timed" -ge 15 ]
}

@test "the waterfall adds up over layouts, schedules, shardings and perturbations" {
    for sets in "layout.tp=2 layout.sharding=fsdp" "layout.pp=4 layout.schedule=gpipe" \
        "layout.pp=2 layout.vpp=2 layout.schedule=interleaved" "layout.cp=2" "layout.recompute=full" \
        "training.causal=false" "perturbations.jitter=5%"; do
        args=()
        for set in $sets; do args+=(--set "$set"); done
        run_db "$hello" --db x.db "${args[@]}" --detail summary || { echo "refused: $sets"; return 1; }
        adds_up x.db
    done
}

@test "the critical path tiles the step, with what the database keeps of it" {
    run_db "$SCENARIOS/llama3-70b-64xh100.yaml" --set layout.pp=4 --set training.global_batch=32 --db x.db
    expect 0 explain x.db --json
    end=$(sqlite3 x.db "select max(ts + dur) / 1e9 from slice_raw s join track t on t.id = s.track_id where t.kind = 'stream'")
    jq -e --argjson last "$end" '.critical_path | ([.parts[].seconds] | add) + .gaps_s - $last | fabs < 1e-9' out
    jq -e '.critical_path.crossings > 0' out # from stage to stage
    printf 'model: {layers: 2, hidden: 2048, heads: 16, vocabulary: 32k}\ncluster: {gpu: h100-80gb-sxm, gpus: 1}\ntraining: {sequence: 2048, global_batch: 1}\n' >one.yaml
    run_db one.yaml --db one.db
    expect 0 explain one.db --json
    # one rank: its path is all that it computes
    busy=$(sqlite3 one.db "select sum(dur) / 1e9 from slice_raw s join track t on t.id = s.track_id where t.name = 'compute' and s.depth = 0")
    jq -e --argjson busy "$busy" '.critical_path | [.parts[] | select(.stream == "compute") | .seconds] | add - $busy | fabs < 1e-6' out
    # a card at half speed: all wait for it, so the path goes through what it computes
    run_db "$SCENARIOS/llama3-70b-64xh100.yaml" --set training.global_batch=16 --set 'perturbations={stragglers: [{gpu: 9, speed: 50%}]}' --db slow.db
    expect 0 explain slow.db --json
    slow=$(sqlite3 slow.db "select sum(dur) / 1e9 from slice_raw s join track t on t.id = s.track_id join rank_class c on c.id = t.rank_class where t.name = 'compute' and s.depth = 0 and c.speed_ratio < 0.6 group by c.id limit 1")
    usual=$(sqlite3 slow.db "select max(b) from (select sum(dur) / 1e9 as b from slice_raw s join track t on t.id = s.track_id join rank_class c on c.id = t.rank_class where t.name = 'compute' and s.depth = 0 and c.speed_ratio > 0.9 group by c.id)")
    jq -e --argjson slow "$slow" --argjson usual "$usual" '.critical_path | [.parts[] | select(.stream == "compute") | .seconds] | add | . > $usual * 1.5 and . > $slow * 0.9' out
    jq -e '[.critical_path.parts[] | select(.stream == "tp") | .wire] | unique == ["nvlink"]' out
    # what is idle is idle in the timeline, cause by cause; what a slower card paces is told beside it
    jq -r '.idle | to_entries[] | "\(.key) \(.value * 1e6 | round)"' out | sort >got
    sqlite3 slow.db "select cause || ' ' || cast(round(sum(dur) / 1e3 / (select count(*) from rank)) as integer) from idle group by cause having sum(dur) > 0" | sort >want
    diff want got
    jq -e '.paced_s > 0 and (.idle.straggler + .paced_s - (.waterfall[] | select(.term == "straggler") | .seconds) | fabs < 1e-9)' out
    expect 0 explain slow.db
    shows "not idle: ops that last longer"
    run_db "$hello" --db x.db --detail step
    expect 0 explain x.db
    if [ "$(sqlite3 x.db 'select count(*) from slice_raw')" = 0 ]; then
        shows "run again with --detail op"
    fi
    run_db "$hello" --db x.db --detail summary
    expect 0 explain x.db
    shows "run again with --detail op"
}

@test "elasticities are of the run as it was: --set, --seed, standard input" {
    long_one
    run_db "$hello" --db x.db --set layout.tp=2 --seed 7 --detail summary
    expect 0 explain x.db --json
    jq -e '.elasticities | length >= 8' out
    # small kernels, launched one by one: the host is all that counts
    jq -e '[.elasticities[] | select(.input == "host") | .step][0] > 0.9' out
    jq -e '[.elasticities[] | select(.input == "nvlink") | .stands_on[0].origin] == ["specification"]' out
    "$ORRERY" run - --db stdin.db <"$hello" >/dev/null 2>&1
    expect 0 explain stdin.db --json
    jq -e '.elasticities | length >= 8' out
    jq -e '[.elasticities[].input] | index("mtbf") == null' out
}

@test "an elasticity names the figure that it belongs to, and all that tie" {
    run_db "$hello" --db x.db --detail summary
    expect 0 explain x.db
    grep -q "^  host .*software.megatron.launch .*8[0-9]\.[0-9] % of it" out
    expect 0 explain x.db --json
    jq -e '.elasticities[0] | .input == "host" and .stands_on[0].name == "software.megatron.launch"
        and (([.stands_on[].cost] | add) - .cost | fabs) < 0.01' out
    run_db "$hello" --db x.db --detail summary --set software.pass_host=5ms --set software.data_host=10ms
    expect 0 explain x.db
    [ "$(grep -A1 "^  host  *+" out | grep -cE "software.megatron.(pass_host 5ms|data_host 10ms)")" = 2 ]
}

@test "each figure that arithmetic stands on buys what is said of it" {
    long_one
    model=(--set model.preset=llama3-8b --set layout.recompute=none --set training.global_batch=16 --set layout.sharding=fsdp)
    run_db "$hello" --db x.db --detail summary "${model[@]}" --set training.attention=flash3
    expect 0 explain x.db --json
    jq -c '.elasticities[] | select(.input == "flops") | .stands_on[] | [.name, .cost]' out >rows
    [ "$(wc -l <rows)" -ge 3 ] # a peak and both passes of attention
    step() {
        "$ORRERY" run "$hello" --no-db --json "${model[@]}" --set training.attention=flash3 "$@" 2>/dev/null | jq .cost_usd_per_step
    }
    while read -r row; do
        key=$(jq -r '.[0] | split(".")[2]' <<<"$row")
        value=$(sql x.db "select value from constant where name = '$(jq -r '.[0]' <<<"$row")'")
        unit=MFLOP/s
        [ "$key" != clock ] || unit=MHz
        low=$(step --set "cluster.gpu.$key=$(jq -n "$value * 0.9 / 1e6")$unit")
        high=$(step --set "cluster.gpu.$key=$(jq -n "$value * 1.1 / 1e6")$unit")
        jq -e --argjson low "$low" --argjson high "$high" '(($high / $low | log) / (1.1 / 0.9 | log) - .[1] | fabs) < 1e-6' <<<"$row" ||
            { echo "$key: $low $high for $row"; return 1; }
    done <rows
}

@test "of weeks failures are an input" {
    long_one
    run_db "$SCENARIOS/weeks/llama3-405b-54-days.yaml" --db w.db --detail summary
    expect 0 explain w.db --json
    jq -e '[.elasticities[] | select(.input == "mtbf") | .cost][0] | . < -0.01 and . > -0.2' out
    jq -e '[.elasticities[] | select(.input == "mtbf") | .step] == [0]' out
    expect 0 explain w.db
    shows "lost_work"
}

@test "the tornado has the same bytes for any number of threads" {
    long_one
    run_db "$hello" --db x.db --detail summary
    expect 0 explain x.db --svg a.svg --threads 1
    expect 0 explain x.db --svg b.svg --threads 3
    cmp a.svg b.svg
    python3 "$BATS_TEST_DIRNAME/svg_marks.py" a.svg >marks
    grep -q "hbm_bandwidth" a.svg
}

@test "a hostile database is told apart, and harms nothing" {
    run_db "$hello" --db good.db
    damaged() { # SQL, sentence
        cp good.db bad.db
        sqlite3 bad.db "$1"
        expect 1 timeout 20 "$ORRERY" explain bad.db
        said "$2"
    }
    expect 1 explain nowhere.db
    expect 1 explain "$hello"
    said "of a scenario it tells --walls"
    expect 1 explain - <good.db
    damaged "update run set compute_s = compute_s + 1" "do not add up"
    damaged "update run set step_s = null" "memory ended before a step was timed"
    damaged "update run set step_s = -1" "memory ended before a step was timed"
    damaged "update slice_raw set dur = -5 where id = 3" "slice_raw is damaged"
    damaged "update slice_raw set wait = ts + 1 where id = 30" "slice_raw is damaged"
    damaged "delete from run" "holds no run"
    damaged "drop view breakdown" "missing"
    without() { # SQL, why there are no elasticities
        cp good.db bad.db
        sqlite3 bad.db "$1"
        expect 0 timeout 20 "$ORRERY" explain bad.db --json
        jq -e --arg why "$2" '.elasticities == null and (.no_elasticities | contains($why))' out
        expect 3 timeout 20 "$ORRERY" explain bad.db --svg x.svg
        [ ! -e x.svg ]
    }
    without "delete from meta where key = 'text'" "holds no scenario"
    without "update meta set value = 'model: {preset: nonsense}' where key = 'text'" "cannot be read again"
    without "insert into meta values ('set.0001', 'layout.tp=2')" "its run has 'tp 1', what it restores to 'tp 2'"
    without "insert into meta values ('set.0001', 'model.layers=1000000000')" "cannot be read again"
    without "insert into meta values ('set.0001', 'software.launch=1ms')" "another version"
    without "update meta set value = cast(x'ff00fe' as text) where key = 'text'" ""
    cp good.db bad.db
    sqlite3 bad.db "update string set text = char(27) || '[31m' || text; update constant set source = char(27), text = char(27) || 'x'"
    expect 0 explain bad.db
    lacks "$(printf '\033')" out
}

@test "what does not fit, studies, and options that do not go together" {
    "$ORRERY" run "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml" --db oom.db >/dev/null 2>&1 || true
    expect 4 explain oom.db
    said "memory ended before a step was timed"
    "$ORRERY" study "$SCENARIOS/weeks/rsc-1.yaml" --seeds 2 --db study.db >/dev/null 2>&1
    expect 1 explain study.db
    said "holds no run"
    run_db "$hello" --db x.db --detail summary
    expect 2 explain x.db --set layout.tp=2
    expect 2 explain x.db --mfu 40%
    expect 2 explain --walls "$hello" --svg x.svg
    expect 2 explain
    expect 2 explain x.db --svg x.db
}
