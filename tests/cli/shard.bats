# A study in parts, and joined: the same database as of one process.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    hello="$SCENARIOS/hello-8-gpus.yaml"
    long="$SCENARIOS/llama3-70b-64xh100.yaml"
    cat "$hello" - >weeks.yaml <<'YAML'
run: {duration: 2d}
failures: [{cause: gpu, unit: gpu, law: exponential, mtbf: 2d}]
checkpoint: {policy: sync, interval: 10min, storage: disk, stall: 20s, load: 30s}
storage: [{name: disk, path: host, survival: domain, total_write_bandwidth: 10GB/s, total_read_bandwidth: 10GB/s}]
recovery: {policy: restart-in-place, restart: {detect: 1min, start: 2min}}
YAML
    unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX OMPI_COMM_WORLD_RANK
    few=(study weeks.yaml --vary checkpoint.interval=5min,20min,1h --seeds 5)
}

dump() { sqlite3 "$1" .dump | sort; }

parts() { # N STUDY...: plays N shards into a.1 to a.N
    local n=$1
    shift
    rm -f a.*
    for i in $(seq "$n"); do
        expect 0 "$ORRERY" "$@" --shard "$i/$n" --db "a.$i"
    done
}

same_as_whole() { # N STUDY...
    parts "$@"
    shift
    code=0
    "$ORRERY" "$@" --db whole.db --csv >whole.csv 2>err || code=$?
    expect "$code" "$ORRERY" merge $(ls a.* | sort -r) --db merged.db --csv
    cmp out whole.csv
    dump whole.db >want
    dump merged.db | cmp - want
    cmp merged.db whole.db
}

@test "1, 3 and 8 shards make the rows of one process, byte for byte" {
    for n in 1 3 8; do # 13 points: with 3 one, with 8 five of them are cut by replication
        same_as_whole $n study weeks.yaml --vary checkpoint.interval=1min..4h:log:13 --seeds 20 --top 4
    done
    [ "$(sql a.1 "select group_concat(replications) from (select * from study_point order by point)")" = 20,3,2,3,2,3 ]
    expect 0 "$ORRERY" report merged.db
    mv out merged
    expect 0 "$ORRERY" report whole.db
    cmp out merged
}

@test "one point, fewer seeds than shards, a confidence, single steps, jitter" {
    same_as_whole 3 study weeks.yaml --seeds 100 --set name="A week" --seed 7
    same_as_whole 8 study weeks.yaml --seeds 3
    same_as_whole 3 study weeks.yaml --vary checkpoint.interval=5min,20min,1h,2h --seeds 300 --confidence 1%
    same_as_whole 8 study "$hello" --vary layout.microbatch=1,2,4 --objective step_time_s
    played=0 # a step without jitter is played by one shard alone
    for i in 1 2 3 4 5 6 7 8; do played=$((played + $(sql "a.$i" "select count(*) from study_value"))); done
    [ "$played" = "$(sql whole.db "select count(*) from study_value")" ]
    same_as_whole 3 study "$hello" --vary layout.microbatch=1,2 --seeds 7 --set perturbations.jitter=0.05
}

@test "points that break a rule, and those that do not fit" {
    same_as_whole 3 study "$long" --vary layout.tp=3,8 --vary layout.pp=2,4 --vary layout.microbatch=1,2
    [ "$code" = 0 ]
    same_as_whole 3 study "$long" --vary layout.microbatch=4,2
    [ "$code" = 4 ]
    same_as_whole 8 study weeks.yaml --vary model.preset=llama3-70b,gpt3-1.3b --seeds 3
}

@test "the default name says which shard; merge prints what the study prints" {
    for i in 1 2; do
        expect 0 "$ORRERY" "${few[@]}" --shard $i/2
        shows "shard $i/2: "
        shows "orrery merge"
        [ -e weeks.study.${i}of2.db ]
    done
    expect 0 "$ORRERY" "${few[@]}"
    mv out printed
    expect 0 "$ORRERY" merge weeks.study.*of2.db --db m.db --svg m.svg
    cmp out printed
    [ -s m.svg ]
    expect 0 "$ORRERY" merge weeks.study.*of2.db --db m.db --json
    said "replaced m.db"
    [ "$(sql :memory: "select json_array_length(readfile('out'), '$.points')")" = 3 ]
    expect 0 "$ORRERY" report weeks.study.1of2.db
    shows "another shard has it"
}

@test "killed workers resume, and what was played is not played again" {
    big=(study weeks.yaml --vary checkpoint.interval=1min..4h:log:40 --threads 1 --seeds 60)
    "$ORRERY" "${big[@]}" --db whole.db >out 2>err
    kills=0
    for i in 1 2 3; do
        for _ in $(seq 12); do
            "$ORRERY" "${big[@]}" --shard $i/3 --db "s.$i" --resume >out 2>err &
            pid=$!
            sleep "0.0$((RANDOM % 40 + 10))"
            kill -9 $pid 2>/dev/null || true
            got=0
            wait $pid 2>/dev/null || got=$?
            [ $got = 0 ] && break
            [ $got = 137 ]
            kills=$((kills + 1))
            # what is there stays, and only grows
            if [ -s "s.$i.partial" ] && now=$(sql "s.$i.partial" "select count(*) from study_point" 2>/dev/null); then
                [ "$now" -ge "${last:-0}" ]
                last=$now
            fi
        done
        last=0
        for _ in 1 2; do
            expect 0 "$ORRERY" "${big[@]}" --shard $i/3 --db "s.$i" --resume
        done
        said "is complete: no point is left to play"
    done
    [ $kills -ge 3 ]
    expect 0 "$ORRERY" merge s.1 s.2 s.3 --db merged.db
    cmp merged.db whole.db
    expect 3 "$ORRERY" "${big[@]}" --shard 2/3 --db s.1 --resume
    said "it holds shard 1/3, and shard 2/3 is asked for"
    expect 3 "$ORRERY" "${big[@]}" --db s.1 --resume
    said "and the whole study is asked for"
}

@test "what is no whole study is refused, and what would help is said" {
    parts 3 "${few[@]}"
    "$ORRERY" "${few[@]}" --db whole.db >out 2>err
    "$ORRERY" run "$hello" --db run.db >out 2>err
    expect 1 "$ORRERY" merge a.1 a.3 --db m.db
    said "1 of 3 shards is missing (2): name their databases too, or play them with the same 'orrery study' line and --shard 2/3"
    expect 1 "$ORRERY" merge a.1 a.2 a.3 a.2 --db m.db
    said "a.2 and a.2 both hold shard 2/3; give each shard once"
    expect 1 "$ORRERY" merge a.1 a.2 whole.db --db m.db
    said "whole.db: it holds a whole study, not a shard"
    expect 1 "$ORRERY" merge a.1 a.2 run.db --db m.db
    said "run.db: the file holds no study"
    expect 1 "$ORRERY" merge a.1 a.2 weeks.yaml --db m.db
    expect 1 "$ORRERY" merge a.1 nothing.db --db m.db
    said "nothing.db"
    while IFS=: read -r other differs; do
        local line=() word
        for word in "${few[@]}"; do # another number of seeds takes the place of that of `few`
            [ "$other $word" != "--seeds 6 5" ] || word=6
            line+=("$word")
        done
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" "${line[@]}" ${other#--seeds 6} --shard 3/3 --db other.db
        expect 1 "$ORRERY" merge a.1 a.2 other.db --db m.db
        said "are not shards of one study: $differs differs"
    done <<'OTHERS'
--seeds 6:--seeds
--seed 2:the seed
--set checkpoint.stall=30s:--set
--objective ettr:--objective
--confidence 1%:--confidence
OTHERS
    expect 0 "$ORRERY" "${few[@]}" --shard 3/4 --db other.db
    expect 1 "$ORRERY" merge a.1 a.2 other.db --db m.db
    said "a.1 is shard 1/3 and other.db shard 3/4: give the shards of one cut"
    sed -i 's/20s/21s/' weeks.yaml
    expect 0 "$ORRERY" "${few[@]}" --shard 3/3 --db other.db
    expect 1 "$ORRERY" merge a.1 a.2 other.db --db m.db
    said "the scenario differs"
    cp a.3 old.db
    sql old.db "update meta set value = '0.0.1' where key = 'version'"
    expect 1 "$ORRERY" merge a.1 a.2 old.db --db m.db
    said "another version of orrery wrote it"
    sql a.3 "update meta set value = '0' where key = 'complete'"
    expect 1 "$ORRERY" merge a.1 a.2 a.3 --db m.db
    said "a.3: shard 3/3 is not complete; go on with it"
    said "--shard 3/3 --resume"
    [ ! -e m.db ] && [ ! -e m.db.partial ]
}

@test "hostile shards: a sentence, never a crash" {
    parts 2 "${few[@]}"
    for i in 1 2; do cp a.$i good.$i; done
    while read -r sql; do
        for i in 1 2; do
            cp good.$i a.$i
            sql a.$i "$sql" 2>/dev/null || true
            got=0
            "$ORRERY" merge a.1 a.2 --db m.db >out 2>err || got=$?
            [ $got -le 1 ] || { echo "$got: $sql"; cat err; return 1; }
            [ $got = 1 ] && said "orrery merge: "
        done
    done <<'SQL'
delete from study_raw
delete from study_raw where rowid = 3
delete from study_point where rowid is null or point = 0; delete from study_point
update study_point set replications = 1
update study_point set replications = 999999999
update study_point set point = point + 100
update study_raw set seed = seed + 1
update study_raw set seed = -9223372036854775807
update study set seeds = 0
update study set seeds = 9223372036854775807
update study set seeds = 1000000
update study_option set value = '0/0' where name = '--shard'
update study_option set value = '3/2' where name = '--shard'
update study_option set value = '1/1000' where name = '--shard'
update study_option set value = 'auto' where name = '--shard'
update study_option set value = 'x=' || hex(zeroblob(100000)) where name = '--vary'
delete from study_option
delete from study
insert into study_refused select 1, point, label, 'no' from study_point
drop table study_raw
update meta set value = null
SQL
    cp good.1 a.1
    sql a.1 "update study_point set fits = 0 where replications < 5"
    expect 1 "$ORRERY" merge a.1 good.2 --db m.db
    said "is damaged"
    head -c 5000 good.1 >a.1
    expect 1 "$ORRERY" merge a.1 good.2 --db m.db
    expect 1 "$ORRERY" merge /dev/null good.2 --db m.db
}

shard_of() { # what `--shard $1` becomes under these variables
    env "${@:2}" "$ORRERY" "${few[@]}" --shard "$1" --db auto.db >out 2>err && sed -n 's/^shard \([0-9/]*\):.*/\1/p' out
}

@test "--shard auto: a Slurm array, an index of Kubernetes, ranks of Open MPI" {
    slurm=(SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_MAX=10 SLURM_ARRAY_TASK_STEP=3 SLURM_ARRAY_TASK_COUNT=3)
    [ "$(shard_of auto "${slurm[@]}" SLURM_ARRAY_TASK_ID=4)" = 1/3 ]
    [ "$(shard_of auto "${slurm[@]}" SLURM_ARRAY_TASK_ID=10)" = 3/3 ]
    [ "$(shard_of auto/12 "${slurm[@]}" SLURM_ARRAY_TASK_ID=10)" = 10/12 ]
    [ "$(shard_of auto/3 JOB_COMPLETION_INDEX=0)" = 1/3 ]
    [ "$(shard_of auto/3 JOB_COMPLETION_INDEX=2)" = 3/3 ]
    [ "$(shard_of auto OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4)" = 2/4 ]
    while IFS=: read -r text variables words; do
        # shellcheck disable=SC2086
        expect 2 env $variables "$ORRERY" "${few[@]}" --shard "$text" --db auto.db
        said "$words"
    done <<'CASES'
auto::neither a Slurm array
auto:JOB_COMPLETION_INDEX=1:does not tell how many
auto/2:JOB_COMPLETION_INDEX=2:shard 3 of 2
auto/2:JOB_COMPLETION_INDEX=two:no whole number
auto:SLURM_ARRAY_TASK_ID=1:SLURM_ARRAY_TASK_MIN is not set
auto:SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=2:no whole range
auto:SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=0 SLURM_ARRAY_TASK_COUNT=2:no whole range
auto/3:OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4:mpirun started 4 ranks
auto:OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 JOB_COMPLETION_INDEX=1:both JOB_COMPLETION_INDEX and OMPI_COMM_WORLD_RANK
0/3::counted from 1
4/3::counted from 1
1/0::from 1 to 1000
1/1001::from 1 to 1000
2:: is no shard; write i/n
1/2/3:: is no shard
-1/2:: is no shard
99999999999999999999/2:: is no shard
auto/:JOB_COMPLETION_INDEX=1: is no shard
automatic:: is no shard
CASES
    [ ! -e nothing ]
    for with in --no-db --csv --json "--svg u.svg"; do
        # shellcheck disable=SC2086
        expect 2 "$ORRERY" "${few[@]}" --shard 1/2 $with
    done
    expect 2 "$ORRERY" merge "$hello"
    said "--db FILE"
    expect 2 "$ORRERY" merge --db m.db
    said "DB... is missing"
    expect 0 "$ORRERY" "${few[@]}" --shard 1/1 --db a.1
    shows "shard 1/1: 3 of 3 points, 15 replications"
    grep -q "with the 1 database$" out
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=5min --seeds 1 --shard 1/1 --db one.1
    grep -qx "shard 1/1: 1 of 1 point, 1 replication" out
    expect 0 "$ORRERY" "${few[@]}" --shard 1/15 --db first.15
    grep -qx "shard 1/15: 1 of 3 points, 1 replication" out
    shows "with the 15 databases"
    expect 2 "$ORRERY" merge a.1 --db a.1
    said "would be written over a.1, which is read"
}
