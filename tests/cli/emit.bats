# Job files of a study: what they say, and what becomes of them under a shell, a pretended
# Kubernetes and a real Slurm controller on loopback.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    hello="$SCENARIOS/hello-8-gpus.yaml"
    cp "$hello" "it's hello.yaml"
    unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX OMPI_COMM_WORLD_RANK
    export ORRERY
    study=(study "it's hello.yaml" --vary layout.microbatch=1,2,4 --seeds 5 --seed 3
        --set perturbations.jitter=0.05 --set 'name=a $(HOME) `x`' --objective step_time_s --top 2)
    "$ORRERY" "${study[@]}" --db whole.db >whole 2>err
}

emit() { # ENGINE N: the job file in job
    expect 0 "$ORRERY" "${study[@]}" --db m.db --emit "$1" --shards "$2"
    mv out job
}

job_of_k8s() { # the script that the container gets, with Kubernetes' own $( taken back
    python3 - <<'PY'
import yaml
job = yaml.safe_load(open('job'))
spec = job['spec']
container = spec['template']['spec']['containers'][0]
assert job['apiVersion'] == 'batch/v1' and job['kind'] == 'Job'
assert spec['completionMode'] == 'Indexed' and spec['completions'] == spec['parallelism'] == 3
assert spec['backoffLimitPerIndex'] > 0 and spec['template']['spec']['restartPolicy'] == 'Never'
assert job['metadata']['name'].replace('-', '').isalnum() and len(job['metadata']['name']) < 64
assert container['command'] == ['/bin/sh', '-c'] and len(container['args']) == 1
mounts = {m['name'] for m in container['volumeMounts']}
assert mounts == {v['name'] for v in spec['template']['spec']['volumes']}
text = container['args'][0]
assert '$(' not in text.replace('$$(', '')
open('script', 'w').write(text.replace('$$(', '$('))
PY
}

@test "slurm: any order of tasks, one again, each to its end; the last one merges" {
    emit slurm 3
    bash -n job
    grep -qx '#SBATCH --array=1-3' job
    grep -qx '#SBATCH --requeue' job
    for i in 3 1 3; do
        expect 0 env SLURM_ARRAY_TASK_ID=$i sh job
        shows "is not complete yet"
        [ ! -e m.db ]
    done
    said "is complete: no point is left to play"
    expect 0 env SLURM_ARRAY_TASK_ID=2 sh job
    cmp m.db whole.db
}

@test "k8s: a Job that reads back, and whose indices do the same" {
    python3 -c 'import yaml' || skip "python3-yaml is not installed"
    emit k8s 3
    job_of_k8s
    sh -n script
    for i in 2 0 1; do
        expect 0 env JOB_COMPLETION_INDEX=$i sh script
    done
    cmp m.db whole.db
}

@test "nothing fits: all is done, so the job is; what is wrong fails" {
    study=(study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.microbatch=4,2)
    "$ORRERY" "${study[@]}" --db whole.db >out 2>err || [ $? -eq 4 ]
    emit slurm 1
    expect 0 env SLURM_ARRAY_TASK_ID=1 sh job
    cmp m.db whole.db
    expect 2 env SLURM_ARRAY_TASK_ID=2 sh job
    expect 3 "$ORRERY" study "$hello" --vary layout.microbatch=x --emit slurm
    [ ! -s out ]
}

@test "lines that no job file can hold" {
    while IFS='|' read -r words text; do
        # shellcheck disable=SC2086
        expect 2 "$ORRERY" study "$hello" $words
        said "$text"
    done <<'CASES'
--emit slurm --shard 1/2|leave them to it
--emit slurm --resume|leave them to it
--emit slurm --no-db|which --no-db leaves out
--shards 4|give --emit
--emit slurm --shards 1001|at most 1000
--emit slurmm|did you mean 'slurm'?
CASES
    cp "$hello" "$(printf 'a\nb.yaml')"
    expect 2 "$ORRERY" study "$(printf 'a\nb.yaml')" --emit k8s --db m.db
    said "line end"
    expect 2 "$ORRERY" study - --emit k8s <"$hello"
    said "name its file"
}

teardown() { # the controller ends with the test
    [ -n "${base:-}" ] || return 0
    for name in d c mu; do
        pid=$(cat "$base/$name.pid" 2>/dev/null) || continue
        kill "$pid" 2>/dev/null || true
        for _ in $(seq 100); do # it writes its state down
            [ -e "/proc/$pid/exe" ] || break
            sleep 0.1
        done
    done
    rm -rf "$base"
}

@test "a real Slurm controller on loopback plays the array and merges" {
    for tool in munged slurmctld slurmd sbatch scontrol flock; do
        command -v $tool >/dev/null || skip "$tool is not installed: Debian's slurm-wlm and munge have it"
    done
    [ "$(id -u)" = 0 ] || skip "slurmd as this test starts it wants root"
    emit slurm 3
    base=$(mktemp -d /tmp/orrery_slurm_XXXXXX) # the path of a socket is short
    host=$(hostname -s)
    chmod 755 "$base"
    mkdir "$base/st" "$base/sp"
    dd if=/dev/urandom of="$base/key" bs=128 count=1 2>/dev/null
    chmod 600 "$base/key"
    cat >"$base/slurm.conf" <<CONF
ClusterName=lo
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$base/mu
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=16837
SlurmdPort=16838
StateSaveLocation=$base/st
SlurmdSpoolDir=$base/sp
SlurmctldPidFile=$base/c.pid
SlurmdPidFile=$base/d.pid
SlurmctldLogFile=$base/c.log
SlurmdLogFile=$base/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2
PartitionName=lo Nodes=$host Default=YES
CONF
    export SLURM_CONF=$base/slurm.conf
    munged --key-file="$base/key" --socket="$base/mu" --pid-file="$base/mu.pid" \
        --log-file="$base/mu.log" --seed-file="$base/seed" 3>&- 4>&-
    slurmctld 3>&- 4>&- >/dev/null 2>&1
    slurmd 3>&- 4>&- >/dev/null 2>&1
    for _ in $(seq 50); do
        sinfo -h -o %T 2>/dev/null | grep -q idle && break
        sleep 0.2
    done
    expect 0 timeout 120 sbatch --wait job 3>&- 4>&-
    cmp m.db whole.db
    # again, of one task alone: nothing is played, and the same file is merged
    expect 0 timeout 120 sbatch --wait --array=2 job 3>&- 4>&-
    grep -q "is complete: no point is left to play" orrery-m.2.log
    cmp m.db whole.db
    # a plan, likewise
    plan=(plan --model llama2-7b --gpu a100-80gb-sxm --gpus 16 --sequence 4096 --global-batch 64)
    "$ORRERY" "${plan[@]}" --db one.db >one 2>err
    expect 0 "$ORRERY" "${plan[@]}" --db p.db --emit slurm --shards 3
    mv out job
    expect 0 timeout 120 sbatch --wait job 3>&- 4>&-
    cmp p.db one.db
}
