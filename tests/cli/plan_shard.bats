# A plan in parts, joined, stopped and gone on with: what one process prints and writes.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    hello="$SCENARIOS/hello-8-gpus.yaml"
    unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX OMPI_COMM_WORLD_RANK
    export ORRERY
    small=(--model llama2-7b --gpu a100-80gb-sxm --gpus 16 --sequence 4096 --global-batch 64)
    tight=(--model llama2-13b --gpu a100-40gb-sxm --gpus 16 --sequence 4096 --global-batch 32)
}

whole() { # LINE...: text, document and database of one process
    code=0
    "$ORRERY" plan "$@" --db whole.db >whole.txt 2>err || code=$?
    "$ORRERY" plan "$@" --json 2>err | jq 'del(.seconds)' >whole.json || true
}

parts() { # N LINE...: N shards into a.1 to a.N, with 1, 2 and 4 threads
    local n=$1
    shift
    rm -f a.*
    for i in $(seq "$n"); do
        expect 0 "$ORRERY" plan "$@" --shard "$i/$n" --db "a.$i" --threads $((1 << i % 3))
        shows "shard $i/$n is searched"
    done
}

same_as_whole() { # N LINE...
    parts "$@"
    expect "$code" "$ORRERY" merge $(ls a.* | sort -r) --db merged.db
    cmp out whole.txt
    cmp merged.db whole.db
    expect "$code" "$ORRERY" merge a.* --json
    jq 'del(.seconds)' out | cmp - whole.json
}

@test "1, 3 and 8 shards make the text, the document and the database of one process" {
    whole "${small[@]}"
    for n in 1 3 8; do
        same_as_whole $n "${small[@]}"
    done
    expect 0 "$ORRERY" report merged.db
    cmp out whole.txt
    # the rows are what the document says, and parts of a step sum to it
    [ "$(sql merged.db "select count(*) from plan_candidate where fate = 'played'")" -gt 2 ]
    [ "$(sql merged.db "select json_extract(readfile('whole.json'), '\$.layouts[' || (cast(json_extract(readfile('whole.json'), '\$.fastest_rank') as int) - 1) || '].step_time_s') = (select min(step_s) from plan_candidate where fate = 'played')")" = 1 ]
    [ "$(sql merged.db "select json_extract(readfile('whole.json'), '\$.played') = (select count(*) from plan_play)")" = 1 ]
    [ "$(sql merged.db "select json_extract(readfile('whole.json'), '\$.rejected.rule') = (select count(*) from plan_candidate where fate = 'rule')")" = 1 ]
    [ "$(sql merged.db "select count(*) from plan_play p where fits and abs(step_s - (select sum(seconds) from plan_play_part q where q.place = p.place and q.turn = p.turn)) > 1e-9 * step_s")" = 0 ]
    [ "$(sql merged.db "select count(*) from plan_candidate where step_s < least_step_s or pass_step_s < least_step_s")" = 0 ]
}

@test "scarce memory, a file whose keys are held, another --top and --headroom" {
    whole "${tight[@]}" --top 3 --headroom 10%
    same_as_whole 3 "${tight[@]}" --top 3 --headroom 10%
    line=("${small[@]}" --tokens 100B --deadline 12d --budget 1MUSD --best cost --headroom 0)
    whole "${line[@]}"
    same_as_whole 3 "${line[@]}"
    line=("${small[@]}" --tokens 1T --mtbf 5y --seeds 3) # by what failures leave
    whole "${line[@]}"
    same_as_whole 3 "${line[@]}"
    line=("${small[@]}" --tokens 1T --deadline 1d) # nothing keeps it
    whole "${line[@]}"
    same_as_whole 3 "${line[@]}"
    whole "$hello" --hold tp --set layout.tp=2 --seed 5
    same_as_whole 3 "$hello" --hold tp --set layout.tp=2 --seed 5
}

@test "nothing fits; a search without layouts" {
    whole --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8
    [ "$code" = 4 ]
    same_as_whole 3 --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8
    whole "$hello" --hold tp --set layout.tp=7
    same_as_whole 2 "$hello" --hold tp --set layout.tp=7
}

@test "machines are dealt out; the last of them are cut" {
    line=("${tight[@]}" --tokens 1T --vary cluster.gpus=8,16,32 --vary training.sequence=2048,4096)
    whole "${line[@]}"
    same_as_whole 4 "${line[@]}"
    [ "$(sql a.2 "select group_concat(id) from (select id from plan order by id)")" = 1,4,5 ]
}

@test "merge asks what plan asks: --why and --launch" {
    parts 2 "${small[@]}"
    for ask in "--why tp=8,pp=2" "--launch megatron" "--json --why microbatch=64,dp=16" --pareto; do
        # shellcheck disable=SC2086
        "$ORRERY" plan "${small[@]}" $ask 2>err | sed '/"seconds"/d' >want
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" merge a.1 a.2 $ask
        sed '/"seconds"/d' out | cmp - want
    done
}

@test "the default name says which shard; a pipe is read once" {
    for i in 1 2; do
        expect 0 "$ORRERY" plan "${small[@]}" --shard $i/2
        [ -e llama2-7b.plan.${i}of2.db ]
        expect 0 "$ORRERY" plan - --shard $i/2 <"$hello"
        [ -e stdin.plan.${i}of2.db ]
    done
    expect 0 "$ORRERY" plan - <"$hello"
    mv out want
    expect 0 "$ORRERY" merge stdin.plan.*of2.db
    cmp out want
    [ "$(JOB_COMPLETION_INDEX=1 "$ORRERY" plan "${small[@]}" --shard auto/2 --db auto.db | head -1)" = "shard 2/2 is searched" ]
}

@test "killed or interrupted, a search goes on and repeats nothing" {
    line=(--model llama3-70b --gpu h100-80gb-sxm --gpus 256 --global-batch 1024 --threads 1)
    "$ORRERY" plan "${line[@]}" --db whole.db >whole.txt 2>err
    kills=0
    last=0
    for n in $(seq 40); do
        "$ORRERY" plan "${line[@]}" --db s.db --resume >out 2>err &
        pid=$!
        sleep "0.$((RANDOM % 25 + 10 + n))"
        kill -$((n % 3 == 0 ? 2 : 9)) $pid 2>/dev/null || true
        got=0
        wait $pid || got=$?
        [ $got = 0 ] && break
        [ $got = 137 ] || [ $got = 130 ]
        kills=$((kills + 1))
        [ -s s.db.partial ] && now=$(sql s.db.partial "select (select count(*) from plan_layout) + (select count(*) from plan_time) + (select count(*) from plan_play)" 2>/dev/null) || now=$last
        [ "$now" -ge "$last" ]
        last=$now
    done
    [ $kills -ge 1 ]
    cmp s.db whole.db
    cmp out whole.txt
    expect 0 "$ORRERY" plan "${line[@]}" --db s.db --resume
    said "is complete: nothing is left to search"
    cmp out whole.txt
    expect 3 "$ORRERY" plan "${line[@]}" --top 3 --db s.db --resume
    said "cannot be resumed: it holds another plan"
    expect 3 "$ORRERY" plan "${line[@]}" --shard 1/2 --db s.db --resume
    said "(--shard differs)"
}

@test "what is no whole plan is refused, and what would help is said" {
    parts 3 "${small[@]}"
    whole "${small[@]}"
    "$ORRERY" run "$hello" --db run.db >out 2>err
    expect 1 "$ORRERY" merge a.1 a.3
    said "1 of 3 shards is missing (the first is 2)"
    expect 1 "$ORRERY" merge a.1 a.2 a.3 a.2
    said "both hold shard 2/3; give each shard once"
    expect 1 "$ORRERY" merge a.1 a.2 whole.db
    said "it holds a whole plan, not a shard"
    expect 1 "$ORRERY" merge a.1 a.2 run.db
    said "run.db: the file holds no plan"
    expect 1 "$ORRERY" merge a.1 a.2 nothing.db
    expect 0 "$ORRERY" plan "${small[@]}" --top 3 --shard 3/3 --db other
    expect 1 "$ORRERY" merge a.1 a.2 other
    said "are not shards of one plan"
    expect 0 "$ORRERY" plan "${small[@]}" --shard 3/4 --db other
    expect 1 "$ORRERY" merge a.1 a.2 other
    said "give the shards of one cut"
    cp a.3 old
    sql old "update meta set value = '0.0.1' where key = 'version'"
    expect 1 "$ORRERY" merge a.1 a.2 old
    said "another version of orrery wrote it"
    sql a.3 "update meta set value = '0' where key = 'complete'"
    expect 1 "$ORRERY" merge a.1 a.2 a.3
    said "a.3: shard 3/3 is not complete; go on with it"
    expect 1 "$ORRERY" report a.1
    said "'orrery merge' joins the shards"
    while IFS='|' read -r words text; do
        # shellcheck disable=SC2086
        expect 2 "$ORRERY" plan "${small[@]}" $words
        said "$text"
    done <<'CASES'
--shard 1/2 --json|to `orrery merge`
--shard 1/2 --why tp=2|to `orrery merge`
--shard 0/2|counted from 1
--resume|name it with --db
--emit slurm --resume|leave them to it
--shards 3|give --emit
CASES
    expect 2 "$ORRERY" plan --shard 1/2
    said "it takes a scenario"
    expect 2 "$ORRERY" merge a.1 a.2 --svg u.svg
    said "are of studies"
    expect 2 "$ORRERY" study "$hello" --seeds 1 --shard 1/1 --db s.1 --launch megatron
    expect 0 "$ORRERY" study "$hello" --seeds 1 --shard 1/1 --db s.1
    expect 2 "$ORRERY" merge s.1 --db s.db --why tp=2
    said "ask about a plan"
}

@test "hostile shards: a sentence or the truth, never a crash" {
    parts 2 "${small[@]}"
    cp a.1 good
    while read -r change; do
        cp good a.1
        sql a.1 "$change" 2>/dev/null || true
        got=0
        timeout 60 "$ORRERY" merge a.1 a.2 >out 2>err || got=$?
        [ $got -le 4 ] || { echo "$got: $change"; cat err; return 1; }
        [ $got = 0 ] || grep -q "^orrery" err
    done <<'SQL'
delete from plan_layout
delete from plan_layout where place % 3 = 0
delete from plan_time
delete from plan
update plan set layouts = layouts + 1
update plan_layout set place = place + 1
update plan_layout set place = -1 where place = 0
update plan_layout set place = 99999999 where place = 0
update plan_layout set turn = 4000000000 where place = 0
update plan_layout set tp = tp * 2
update plan_layout set recompute_layers = 4000000000
update plan_layout set recompute = 'block', recompute_layers = 100000
update plan_layout set recompute = 'nonsense'
update plan_layout set schedule = hex(zeroblob(5000))
update plan_layout set fate = 'leader'
update plan_layout set fate = 'open', rule = null
update plan_layout set fate = 'memory'
update plan_layout set least_step_s = -1.0
update plan_layout set least_step_s = 9e999
update plan_layout set least_step_s = 1e-300
update plan_layout set tried = 4294967295
update plan_time set pass_step_s = 0.0
update plan_time set pass_step_s = 1e-300
update plan_ledger set fits = 0
update plan_ledger set fits = 1
update plan_play set fits = 0
update plan_play set step_s = null
update plan_play set step_s = -1.0
update plan_play set step_s = 1e-300
delete from plan_play_part
update plan_option set word = '--model' where place = 1
update plan_option set word = '--help' where place = 0
update plan_option set word = '--db' where place = 0
update plan_option set word = hex(zeroblob(100000)) where place = 1
insert into plan_option select max(place) + 1, '--' from plan_option
delete from plan_option
update meta set value = '2/2' where key = 'shard'
update meta set value = '1/1000' where key = 'shard'
update meta set value = 'x' where key = 'text'
update meta set value = null
drop table plan_time
SQL
    head -c 5000 good >a.1
    expect 1 "$ORRERY" merge a.1 a.2 --db m.db
    cp good a.1
    head -c 5000 a.2 >cut
    expect 1 "$ORRERY" merge a.1 cut
}

@test "job files: slurm, and kubernetes, each to its end; the last one merges" {
    "$ORRERY" plan "${small[@]}" --set 'name=a $(HOME) `x`' --db whole.db >whole.txt 2>err
    expect 0 "$ORRERY" plan "${small[@]}" --set 'name=a $(HOME) `x`' --db m.db --emit slurm --shards 3
    mv out job
    bash -n job
    grep -qx '#SBATCH --array=1-3' job
    for i in 3 1 3; do
        expect 0 env SLURM_ARRAY_TASK_ID=$i sh job
        shows "is not complete yet"
    done
    said "is complete: nothing is left to search"
    expect 0 env SLURM_ARRAY_TASK_ID=2 sh job
    cmp m.db whole.db
    sed '1,2d' out | cmp - whole.txt # behind what the shard says
    python3 -c 'import yaml' || skip "python3-yaml is not installed"
    rm -f m.*
    expect 0 "$ORRERY" plan "${small[@]}" --set 'name=a $(HOME) `x`' --db m.db --emit k8s --shards 2 --why tp=8
    python3 -c 'import yaml, sys
text = yaml.safe_load(open("out"))["spec"]["template"]["spec"]["containers"][0]["args"][0]
open("script", "w").write(text.replace("$$(", "$("))'
    for i in 1 0; do
        expect 0 env JOB_COMPLETION_INDEX=$i sh script
    done
    shows "Why not tp=8"
    cmp m.db whole.db
}
