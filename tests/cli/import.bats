# orrery import: what other programs measured, into what a scenario takes.
load helper

# An output of nccl-tests among 8 GPUs of a node: sizes, times in us.
nccl_tests() { # file
    {
        for rank in 0 1 2 3 4 5 6 7; do
            echo "#  Rank  $rank Group  0 Pid  7 on node-a device  $rank [0x1b] NVIDIA H100 80GB HBM3"
        done
        echo "#   size  count  type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw #wrong"
        echo "#    (B)  (elements)                 (us) (GB/s) (GB/s)          (us) (GB/s) (GB/s)"
        awk 'BEGIN {
            time = 100
            for (size = 4096; size <= 4294967296; size *= 4) {
                rate = size / time / 1000
                half = sprintf("%.2f %.2f %.2f 0", time, rate, rate * 1.75)
                printf "%d %d float sum -1 %s %s\n", size, size / 4, half, half
                time *= size < 1e6 ? 1.2 : 3.6
            }
        }'
    } >"$1"
}

@test "collectives of nccl-tests: into a profile, and a step takes their times" {
    nccl_tests nccl.txt
    expect 0 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu h100-80gb-sxm --output own.db
    shows "own.db: 11 points of 1 table"
    expect 0 "$ORRERY" profile show own.db
    shows "collective all_reduce fp32 ranks=8 bytes=4096"
    expect 0 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu h100-80gb-sxm --output own.db
    shows "11 points of 1 table added"
    cp "$hello" own.yaml
    expect 0 "$ORRERY" run own.yaml --set layout.sharding=zero-0 --set cluster.profile=own.db --db own-run.db
    shows "What the times of kernels rest on"
    [ "$(sql own-run.db "select count(*) > 0 from kernel_evidence where kernel = 'all_reduce, 8 in 1 node' and evidence = 'interpolated'")" = 1 ]
    [ "$(sql own-run.db 'select abs(sum(time_ratio) - 1) < 1e-9 from kernel_evidence')" = 1 ]
    # Four times the times, and the collectives take four times as long.
    busy() { sql "$1" "select sum(gpu_s) from kernel_evidence where kernel like 'all_reduce%' and evidence <> 'model'"; }
    cp own.db slow.db
    sqlite3 slow.db "update point set median_s = 4 * median_s"
    expect 0 "$ORRERY" run own.yaml --set layout.sharding=zero-0 --set cluster.profile=slow.db --db slow-run.db
    awk -v a="$(busy own-run.db)" -v b="$(busy slow-run.db)" 'BEGIN {exit !(a > 0 && b / a > 3.999 && b / a < 4.001)}'
    # A group that was not measured is the model's.
    expect 0 "$ORRERY" run own.yaml --set layout.tp=2 --set layout.sharding=zero-0 --set cluster.profile=own.db --db tp.db
    [ "$(sql tp.db "select distinct evidence from kernel_evidence where kernel = 'all_reduce, 2 in 1 node'")" = model ]
}

@test "collectives of another card, in other units or without a name are refused" {
    nccl_tests nccl.txt
    expect 0 "$ORRERY" import nccl-tests nccl.txt --output told.db # by busbw over algbw
    expect 0 "$ORRERY" profile show told.db
    shows "collective all_reduce fp32 ranks=8 bytes=4096"
    sed 's/ sum / none /' nccl.txt >nameless.txt
    expect 3 "$ORRERY" import nccl-tests nameless.txt --output own.db
    said "nameless.txt:9: which collective is it?"
    [ ! -e own.db ]
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_gather --output own.db
    said "busbw"
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduec --output own.db
    expect 2 "$ORRERY" import nccl-tests nccl.txt --op all_reduce
    expect 2 "$ORRERY" import nccl-test nccl.txt
    said "did you mean 'nccl-tests'?"
    expect 2 "$ORRERY" import
    expect 1 "$ORRERY" import nccl-tests nothing.txt --op all_reduce --output own.db
    expect 0 "$ORRERY" import nccl-tests - --op all_reduce --output own.db <nccl.txt
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu h100-80gb-sxm --output own.db
    said "give another --output"
    cp "$hello" own.yaml
    sqlite3 own.db "update point set median_s = median_s / 1000"
    expect 3 "$ORRERY" check own.yaml --set cluster.profile=own.db
    said "not in seconds"
}

@test "a log of failures becomes laws and a trace that a scenario takes" {
    {
        echo "at,unit_kind,unit,cause,repair"
        awk 'BEGIN {
            srand(3)
            for (i = 1; i <= 60; i++)
                printf "%.3fh,gpu,%d,\"HBM \"\"3\"\"\",%s\n", i * 24 + rand() * 20, int(rand() * 64), (i % 3 ? "2h" : "")
        }'
    } >log.csv
    expect 0 "$ORRERY" import failures log.csv --gpus 64 --start 2026-01-01 --end 2026-03-05 --output trace.csv
    shows '# 60 failures in'
    shows 'cause: "HBM \"3\"", unit: gpu, law: exponential, mtbf: '
    # 64 GPUs for 63 days less 40 repairs of 2 h, 60 failures: 67.1 days.
    awk '/law: exponential, mtbf/ {sub(/.*mtbf: /, ""); good = ($0 + 0 > 67 && $0 + 0 < 67.2)} END {exit !good}' out
    { cat "$hello"; echo "run: {duration: 10d}"; cat out; } >laws.yaml
    expect 0 "$ORRERY" check laws.yaml --set cluster.nodes=8
    { cat "$hello"; echo "run: {duration: 60d}"; echo "failures: [{cause: log, law: trace, trace: trace.csv}]"; } >replayed.yaml
    expect 0 "$ORRERY" check replayed.yaml --set cluster.nodes=8
    expect 3 "$ORRERY" import failures log.csv --gpus 32 --start 2026-01-01
    said "of 32 (--gpus, --gpus-per-node)"
    expect 2 "$ORRERY" import failures log.csv
    said "--gpus"
    expect 2 "$ORRERY" import failures log.csv --gpus 60
    expect 2 "$ORRERY" import failures log.csv --gpus 64 --start soon
    expect 2 "$ORRERY" import failures log.csv --gpus 64 --end 2026-03-05
}

# What an import of failures prints is a section that a scenario takes, and so is its trace.
taken_back() { # kind, file, options of import
    expect 0 "$ORRERY" import "$@" --gpus 64 --output trace.csv
    grep -q '^failures:' out
    { cat "$hello"; echo "run: {duration: 10d}"; cat out; } >laws.yaml
    { cat "$hello"; echo "run: {duration: 10d}"; echo "failures: [{cause: log, law: trace, trace: trace.csv}]"; } >replayed.yaml
    expect 0 "$ORRERY" check laws.yaml --set cluster.nodes=8
    expect 0 "$ORRERY" check replayed.yaml --set cluster.nodes=8
}

@test "what a log says of repairs stands in the laws; what it does not say is counted" {
    {
        echo "at,unit_kind,unit,cause,repair"
        for day in 1 2 3 4; do echo "${day}d,gpu,$day,HBM,2h"; done
        printf '5d,node,1,PSU,1h\n6d,node,2,PSU,5h\n7d,node,3,PSU,3h\n8d,node,4,PSU,0s\n9d,node,5,PSU,\n'
        printf '10d,nic,1,link,\n11d,job,0,software,1h\n'
    } >log.csv
    taken_back failures log.csv --start 2026-01-01 --end 2026-02-01
    echo "12d,domain,0,power,4h" >>log.csv
    expect 0 "$ORRERY" import failures log.csv --gpus 64 --start 2026-01-01 --end 2026-02-01
    shows "# 2 failures without a repair: as the other rows of the cause, and where none states one, recovery.repair"
    shows "# left out: 1 repair of jobs: no node is repaired"
    grep -A1 'cause: "HBM"' out | grep -qF ', repair: {law: fixed, mean: 2h}}'
    grep -A3 'cause: "HBM"' out | grep -qxF '    # repair: 4 of 4, all alike'
    grep 'cause: "PSU"' out | grep -qF ', in_place: 0.25, repair: {law: exponential, mean: 3h}}'
    shows '    # repair: 3 of 5; mean +- 58 %; 1 of 0s, which a restart repairs; 1 without one are repaired as these'
    grep 'cause: "link"' out | lacks repair -
    grep 'cause: "software"' out | lacks repair -
    grep '"power"' out | grep -qF ', repair: {law: fixed, mean: 4h}'
    sed -i 's/,[^,]*$//' log.csv # without the column
    expect 0 "$ORRERY" import failures log.csv --gpus 64 --start 2026-01-01 --end 2026-02-01
    lacks repair out
}

# Repairs of 3 h on the mean, one spare: by the 24 h of recovery.repair the job would wait most of the time.
@test "weeks of the laws of a log are as the weeks of its replay, repairs and all" {
    {
        echo "at,unit_kind,unit,cause,repair"
        awk 'BEGIN {
            srand(1)
            for (i = 1; i <= 240; i++) {
                at += -6 * log(1 - rand())
                printf "%.3fh,node,%d,PSU,%.3fh\n", at, int(rand() * 64), -3 * log(1 - rand())
            }
        }'
    } >log.csv
    expect 0 "$ORRERY" import failures log.csv --gpus 512 --start 2026-01-01 --end 2026-03-02 --output trace.csv
    # The known mean comes back within three of its errors.
    awk '/repair: .*mean: / {sub(/.*mean: /, ""); mean = $0 + 0}
         /# repair: .* mean \+- / {sub(/.* mean \+- /, ""); error = $0 / 100}
         END {exit !(error > 0.02 && error < 0.12 && mean > 3 * (1 - 3 * error) && mean < 3 * (1 + 3 * error))}' out
    sed 's/nodes: 1/nodes: 64/; s/global_batch: 64/global_batch: 512/' "$hello" >base.yaml
    printf 'run: {duration: 60d}\nrecovery: {policy: warm-spare, spares: 1}\ncheckpoint: {interval: 10min}\n' >>base.yaml
    cat base.yaml out >laws.yaml
    { cat base.yaml; echo "failures: [{cause: log, law: trace, trace: trace.csv}]"; } >replayed.yaml
    expect 0 "$ORRERY" study laws.yaml --seeds 32 --db laws.db
    expect 0 "$ORRERY" run replayed.yaml --db replayed.db
    # P10 to P90 of the seeds are 2.56 standard deviations of a normal law: within four of them, beside the mean.
    local metric column
    for metric in goodput wait_s failures; do
        column=$metric
        [ "$metric" != goodput ] || column=goodput_ratio
        sql laws.db "attach 'replayed.db' as r; select abs((select $column from r.run) - mean) < 4 * (p90 - p10) / 2.56
            from study_summary where metric = '$metric'" | grep -qx 1
    done
    [ "$(sql replayed.db "select wait_s between 1e5 and 1e6 from run")" = 1 ] # of 5,184,000 s
}

@test "whatever an import of failures prints, a scenario takes" {
    {
        echo "at,unit_kind,unit,cause"
        local hour=0 cause
        for cause in a "a (node)" "a (gpu)" "a (node) (node)" auto null "~" "x: y" "#c" "'" '""' "\\n" "{" "é" " b " "$(printf 'z%.0s' {1..80})"; do
            for unit in gpu,5 node,5 job,0 gpu,6; do
                hour=$((hour + 1))
                echo "${hour}h,$unit,\"$cause\""
            done
        done
        printf '80h,gpu,1,two\n81h,node,1,two\n'
        printf '70h,gpu,1,"b\u200b"\n71h,gpu,1,"b\u200c"\n72h,gpu,1,"b?"\n' # shown alike
    } >log.csv
    taken_back failures log.csv --start 2026-01-01 --end 2026-03-01
    taken_back failures log.csv # all in three days, to the last of them
    expect 0 "$ORRERY" import failures log.csv --gpus 64 --start 2026-01-01 --end 2026-03-01
    [ "$(grep -c '  - {cause: ' out)" = $((16 * 3 + 3 + 2)) ]
    [ "$(grep -o '{cause: .*, unit: ' out | sort | uniq -d | wc -l)" = 0 ]
    printf '%s kernel: NVRM: Xid (PCI:0000:3b:00): %s\n' "2026-01-02T00:00:00 n1" 79 "2026-01-03T00:00:00 n1" 31 \
        "2026-01-04T00:00:00 n2" 200 "2026-01-05T00:00:00 n2" 95 >kernel.log
    taken_back xid kernel.log --start 2026-01-01 --end 2026-03-01
    printf 'DCGM_FI_DEV_XID_ERRORS{gpu="3",Hostname="n7"} %s\n' "0 1767312000000" "79 1767398400000" "31 1767484800000" >samples.txt
    taken_back dcgm samples.txt --start 2026-01-01
    printf '%s\n' "JobID|State|End|NodeList" "7|NODE_FAIL|2026-01-03T00:00:00|n3" "8|FAILED|2026-01-05T00:00:00|n3" \
        "9|NODE_FAIL|2026-01-06T00:00:00|n[3-4]" >jobs.txt
    taken_back slurm jobs.txt --start 2026-01-01
}

@test "the kernel's log, samples of DCGM and Slurm become causes" {
    echo "Nov  2 00:00:00 n7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus" >kernel.log
    echo "Nov  9 00:00:00 n7 kernel: NVRM: Xid (PCI:0000:3b:00): 95, Uncontained ECC error" >>kernel.log
    expect 0 "$ORRERY" import xid kernel.log --gpus 8 --start 2026-11-01 --end 2026-11-11
    shows 'cause: "GPU off the bus", unit: gpu, law: exponential, mtbf: 80d'
    shows 'cause: "GPU memory", unit: gpu'
    expect 3 "$ORRERY" import xid kernel.log --gpus 8
    said "give --start"
    printf 'DCGM_FI_DEV_XID_ERRORS{gpu="3",Hostname="n7"} %s\n' "0 1793577600000" "79 1793577660000" >samples.txt
    expect 0 "$ORRERY" import dcgm samples.txt --gpus 8 --start 2026-11-01 --end 2026-11-11
    shows 'cause: "GPU off the bus", unit: gpu'
    printf '%s\n' "JobID|State|End|NodeList" "7|NODE_FAIL|2026-11-03T00:00:00|n3" "8|COMPLETED|2026-11-05T00:00:00|n3" >jobs.txt
    expect 0 "$ORRERY" import slurm jobs.txt --gpus 32 --start 2026-11-01
    shows 'cause: "node", unit: node, law: exponential, mtbf: 16d'
    printf '%s\n' "JobID|State|End|NodeList" "7|NODE_FAIL|2026-11-03T00:00:00|n[3-4]" "8|NODE_FAIL|2026-11-03T00:05:00|n[3-4]" \
        "9|NODE_FAIL|2026-11-05T00:00:00|n[3-4]" "9|FAILED|2026-11-05T00:00:00|n7" >jobs.txt
    expect 0 "$ORRERY" import slurm jobs.txt --gpus 32 --start 2026-11-01
    shows '# left out: 1 repeat of a failure'
    shows '# a repeat has the cause and the unit (of a job: the nodes) of a failure within 10min before it'
    shows '# 2 failures of one node of several: on the first of them, since the log does not tell which (sacct: FailedNode)'
    shows 'cause: "node, not told which", unit: node, law: exponential, mtbf: 8d'
}

@test "the wires of a machine become a cluster that a scenario takes" {
    {
        echo "        GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 NIC0 NIC1 NIC2 NIC3 CPU Affinity"
        for row in 0 1 2 3 4 5 6 7; do
            printf 'GPU%d' $row
            for column in 0 1 2 3 4 5 6 7; do
                if [ $row = $column ]; then printf ' X'; else printf ' NV18'; fi
            done
            for nic in 0 1 2 3; do
                if [ $((row / 2)) = $nic ]; then printf ' PIX'; else printf ' SYS'; fi
            done
            echo " 0-31"
        done
    } >topo.txt
    expect 0 "$ORRERY" import topo topo.txt --gpu h100-80gb-sxm
    shows "gpus: 8"
    shows "nics: 4"
    shows "18 links"
    { sed '/^cluster:/d' "$hello"; cat out; } >own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.rank_count')")" = 8 ]
    expect 0 "$ORRERY" import topo topo.txt
    shows "# gpu: not told"
    sed -i 's/^GPU3 NV18/GPU3 NV12/' topo.txt
    expect 3 "$ORRERY" import topo topo.txt
    said "topo.txt:5: the matrix is not symmetric"
    {
        echo '<system version="1"><cpu numaid="0">'
        for gpu in 0 1 2 3 4 5 6 7; do
            echo "<gpu dev=\"$gpu\" sm=\"90\" rank=\"$gpu\"><nvlink target=\"5\" count=\"18\" tclass=\"0x068000\"/></gpu>"
            echo "<nic><net name=\"mlx5_$gpu\" speed=\"400000\"/></nic>"
        done
        echo '</cpu></system>'
    } >topo.xml
    expect 0 "$ORRERY" import nccl-topo topo.xml --gpu h100-80gb-sxm
    shows "nvlink_bandwidth: 450GB/s   # 18 links of 25 GB/s"
    shows "nic_bandwidth: 400Gb/s"
    { sed '/^cluster:/d' "$hello"; cat out; } >own.yaml
    expect 0 "$ORRERY" check own.yaml
    # The usual node of the card, told by itself, is that node.
    [ "$("$ORRERY" run own.yaml --no-db --json | python3 -c "import json, sys; print(json.load(sys.stdin)[\"step_time_s\"])")" = "$("$ORRERY" run "$hello" --no-db --json | python3 -c "import json, sys; print(json.load(sys.stdin)[\"step_time_s\"])")" ]
}

@test "operators of a trace become a profile that a step takes" {
    cat >trace.json <<'END'
{"schemaVersion": 1, "deviceProperties": [{"name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7, "Input Dims": [[1024, 768], [768, 2304]],
  "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 21.5, "dur": 30.25, "args": {"External id": 7, "correlation": 42}},
 {"ph": "X", "cat": "kernel", "name": "other", "ts": 60.5, "dur": 10.0, "args": {"External id": 8}}]}
END
    expect 0 "$ORRERY" import pytorch trace.json --gpu h100-80gb-sxm --output own.db
    shows "own.db: 1 point of 1 operator, 75.2 % of 40.3 us in kernels"
    shows "24.8 % of the kernels' seconds are of no known kind and count as compute: 10.0 us other"
    lacks "left out" out
    expect 0 "$ORRERY" run "$hello" --set cluster.profile="$PWD/own.db" --db run.db
    [ "$(sql run.db "select count(*) > 0 from kernel_evidence where evidence = 'measured'")" = 1 ]
    # The same product in fp32, of which no profile can know how it was computed.
    sed 's/c10::BFloat16/float/g' trace.json >fp32.json
    expect 3 "$ORRERY" import pytorch fp32.json --output other.db
    said "no measurement for a profile in it: 1 product in fp32, of which a trace does not tell whether tf32 ran"
    jq '.traceEvents += [.traceEvents[0] | .name = "aten::bmm" | .args["External id"] = 9]' trace.json >left.json
    expect 0 "$ORRERY" import pytorch left.json --output other.db
    shows "left out: 1 operator of another number format or form than those of profiles"
    rm other.db
    expect 3 "$ORRERY" import pytorch "$hello" --output other.db
    said "no JSON"
    expect 2 "$ORRERY" import pytorch trace.json
}

@test "a packed trace is read as the one that it holds" {
    cat >trace.json <<'END'
{"schemaVersion": 1, "deviceProperties": [{"name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7, "Input Dims": [[1024, 768], [768, 2304]],
  "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 21.5, "dur": 30.25, "args": {"External id": 7, "correlation": 42}}]}
END
    gzip -k trace.json
    expect 0 "$ORRERY" import pytorch trace.json --output plain.db
    expect 0 "$ORRERY" import pytorch trace.json.gz --output packed.db
    [ "$(sql plain.db 'select * from point')" = "$(sql packed.db 'select * from point')" ]
    expect 0 "$ORRERY" import pytorch - --output packed.db <trace.json.gz
    head -c 100 trace.json.gz >cut.gz
    expect 3 "$ORRERY" import pytorch cut.gz --output cut.db
    said "packed by gzip, and cut: copy it again"
    [ ! -e cut.db ]
    { printf '\050\265\057\375'; cat trace.json; } >trace.zst
    expect 3 "$ORRERY" import pytorch trace.zst --output cut.db
    said "unpack it first: zstd -d trace.zst"
    printf '{"traceEvents": [{"cat": "python_function", "name": "\377"},\n' >rubbish.json
    tail -n +2 trace.json >>rubbish.json
    expect 0 "$ORRERY" import pytorch rubbish.json --output rubbish.db
    said "1 byte that is no text, read as '?'"
    nccl_tests nccl.txt
    gzip nccl.txt
    expect 0 "$ORRERY" import nccl-tests nccl.txt.gz --op all_reduce --output own.db
}

# A result log of MLPerf Training: 60 s to start, then two blocks of 4 steps, 3 s and 2.5 s each.
mllog() { # file, global batch
    local at=1750000000
    event() { # after so many seconds: key, value, metadata
        at=$(awk -v a="$at" -v b="$1" 'BEGIN {printf "%.3f", a + b}')
        echo ":::MLLOG {\"namespace\": \"\", \"time_ms\": ${at/./}, \"event_type\": \"POINT_IN_TIME\", \"key\": \"$2\", \"value\": $3, \"metadata\": {\"file\": \"a.py\"${4:+, $4}}}"
    }
    {
        event 0 init_start null
        event 0 submission_benchmark '"llama31_8b"'
        event 0 submission_platform '"1xDGXH100"'
        event 0 global_batch_size "$2"
        event 0 max_sequence_length 8192
        event 60 init_stop null
        event 0 run_start null
        event 0 block_start null '"samples_count": 64, "step": 0'
        event 12 block_stop null '"samples_count": 64, "step": 4'
        event 5 block_start null '"samples_count": 64, "step": 4'
        event 10 block_stop null '"samples_count": 64, "step": 8'
        event 0 run_stop null '"status": "success"'
    } >"$1"
}

@test "a result log of MLPerf Training and its configuration are a scenario that runs" {
    mllog result_0.txt 16
    echo 'export TP=2 PP=1 MINIBS=${MINIBS:=4} DGXNGPU=8 FP8=True' >config_common.sh
    cat >config_DGXH100_1x8x4.sh <<'END'
source $(dirname ${BASH_SOURCE[0]})/config_common.sh
source $(dirname ${BASH_SOURCE[0]})/config_gone.sh
export DGXNNODES=1
export CONTEXT_PARALLEL=1 MICRO_BATCH_SIZE=1 INTERLEAVED_PIPELINE=null SEQ_PARALLEL=True
export USE_DIST_OPTIMIZER=0
END
    expect 0 "$ORRERY" import mllog result_0.txt --config config_DGXH100_1x8x4.sh --gpu h100-80gb-sxm
    shows "# start-up    60.000 s   init_start to init_stop"
    shows "# step time   2.75 s   median of 2 blocks without evaluation" # (3 + 2.5) / 2
    shows "# training    27.000 s   run_start to run_stop"
    shows "# status      success"
    lacks 'left out\|fp8_attention\|cuda_graphs\|ends_count' out
    shows "5.81818 samples/s, 47662.5 tokens/s, 5957.82 tokens/s/GPU"    # 16 / 2.75, x 8192, / 8
    shows "  tp: 2                            # config_common.sh:1, TP"
    shows "  global_batch: 16                 # result_0.txt:4"
    shows "  dp: 4                            # GPUs / (tp x pp x cp)"
    shows "  precision: fp8                   # config_common.sh:1, FP8"
    shows "  sequence_parallel: true          # config_DGXH100_1x8x4.sh:4, SEQ_PARALLEL"
    shows "  sharding: zero-0                 # config_DGXH100_1x8x4.sh:5, USE_DIST_OPTIMIZER"
    shows "# config_gone.sh is not there: what it sets is not known"
    shows "  # recompute: not said"
    cp out own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db
    shows "tp 2 (sequence parallel) x pp 1 x dp 4"
    # Adapters in 8 bits are what no scenario takes: it says so, and runs in 16.
    sed 's/llama31_8b/llama2_70b_lora/' result_0.txt >lora.txt
    expect 0 "$ORRERY" import mllog lora.txt --config config_DGXH100_1x8x4.sh --gpu h100-80gb-sxm
    shows "  # precision: fp8; adapters are simulated in 16 bits # config_common.sh:1, FP8"
    shows "  adapter: lora                    # lora.txt:2"
    shows "  # adapter_rank: not said"
    # Alone the log says no layout, and no card.
    expect 0 "$ORRERY" import mllog - <result_0.txt
    shows "  # tp: not said"
    shows "  # gpu: not said: --gpu NAME"
    shows "# No --config: the layout is what the log says."
    # What is tracked comes before what blocks say, which is told beside it.
    sed -i '$i :::MLLOG {"time_ms": 1750000087000, "key": "tracked_stats", "value": {"train_step_time": 2}}' result_0.txt
    expect 0 "$ORRERY" import mllog result_0.txt
    shows "# step time   2 s   median of 1 values of train_step_time"
    shows "#   or        2.75 s   median of 2 blocks without evaluation, not taken"
    shows "# throughput  8 samples/s, 65536 tokens/s"
}

@test "what a log of MLPerf Training lacks, and what its software is told, is said" {
    # Without init_stop a start ends where the run begins; throughput alone: 16 / 4 = 4 s a step.
    mllog result_0.txt 16
    sed -i '/init_stop/d; /block_/d; /run_stop/d' result_0.txt
    echo ':::MLLOG {"time_ms": 1750000070000, "key": "tracked_stats", "value": {"throughput": 4}}' >>result_0.txt
    echo ':::MLLOG {"time_ms": 1750000071000, "key": "block_start", "value": 0, "metadata": {"step": 1}}' >>result_0.txt
    echo ':::MLLOG {"time_ms": 1750000000000, "key": "power_reading", "value": 9000}' >>result_0.txt
    expect 0 "$ORRERY" import mllog result_0.txt
    shows "# start-up    60.000 s   init_start to run_start, as init_stop is not logged"
    shows "# training    not said   run_start to run_stop"
    shows "# status      no run_stop: the log ends before the run"
    shows "# step time   4 s   median of 1 values of throughput"
    shows "# throughput  4 samples/s, 32768 tokens/s"
    shows "# power       its readings are left out: they are of one node"
    shows "# left out    1 start or end of blocks without the other"
    shows "# software: not said"
    # One end alone counts for nothing; each graph and a format that is off are told.
    mllog result_1.txt 16
    sed -i '/run_stop/d' result_1.txt
    echo 'TP=1 ASYM_PP_LOSS=1 LAYER_CUDA_GRAPH=1 FP8_DPA=0' >config_a.sh
    expect 0 "$ORRERY" import mllog result_1.txt --config config_a.sh
    shows "# status      no run_stop: the log ends before the run"
    shows "  cuda_graphs: layer"
    shows "  fp8_attention: false"
    lacks "ends_count" out
    echo 'TP=1 ASYM_PP_LOSS=1 ASYM_PP_EMBED=1 FP8_DPA=0 OVERWRITTEN_NUM_LAYERS=16' >config_b.sh
    expect 0 "$ORRERY" import mllog result_1.txt --config config_b.sh
    shows "  ends_count: true"
    shows "  fp8_attention: false"
    shows "  layers: 16"
    lacks "cuda_graphs" out
}

@test "a measured run is a row that validate reads" {
    mllog result_0.txt 16
    echo 'TP=2 PP=1 CP=1 MINIBS=4 MBS=2 DGXNGPU=8 DGXNNODES=1 FP8=True FP8_RECIPE=delayed USE_DIST_OPTIMIZER=True' >config_a.sh
    echo 'SEQ_PARALLEL=1 ASYM_PP_EMBED=1 ASYM_PP_LOSS=True FULL_CUDA_GRAPH=1 LAYER_CUDA_GRAPH=1 FP8_DPA=1' >>config_a.sh
    expect 0 "$ORRERY" import mllog result_0.txt --config config_a.sh --gpu h100-80gb-sxm --row
    cp out row.csv
    cell() { awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i; n = NF} NR == 2 {print NF == n ? $c : "width"}' row.csv; }
    [ "$(head -1 row.csv)" = "$(head -1 "$SCENARIOS/../tests/validation/steps.csv")" ]
    [ "$(cell row_id) $(cell model) $(cell step_time_s) $(cell tokens_per_s_per_gpu)" = "result_0 llama3-8b 2.75 5957.818182" ]
    [ "$(cell layers) $(cell hidden) $(cell heads) $(cell kv_heads) $(cell head_dim) $(cell ffn_hidden) $(cell vocab)" = "32 4096 32 8 128 14336 128256" ]
    [ "$(cell ffn) $(cell positions) $(cell experts)" = "swiglu rope 0" ]
    [ "$(cell gpu) $(cell gpus) $(cell gpus_per_node) $(cell fabric)" = "h100-80gb-sxm 8 8 none" ]
    [ "$(cell tp) $(cell pp) $(cell dp) $(cell cp) $(cell ep)$(cell vpp)" = "2 1 4 1 " ]
    [ "$(cell zero) $(cell sequence_parallel) $(cell microbatch) $(cell global_batch) $(cell seq_len)" = "1 1 2 16 8192" ]
    [ "$(cell precision) $(cell recompute)$(cell software)" = "fp8 " ]
    [ "$(cell stated)" = "software.fp8_recipe=delayed;software.cuda_graphs=full;software.fp8_attention=true;layout.ends_count=true" ]
    expect 0 "$ORRERY" validate row.csv
    shows "result_0"
    shows "2.75 s"
    # One log, one forecast: what neither file says is chosen alike for a scenario and for a row.
    echo 'TP=2 PP=1 CP=1 MINIBS=4 DGXNGPU=8 DGXNNODES=1' >config_b.sh
    "$ORRERY" import mllog result_0.txt --config config_b.sh --gpu h100-80gb-sxm >own.yaml
    "$ORRERY" import mllog result_0.txt --config config_b.sh --gpu h100-80gb-sxm --row >own.csv
    "$ORRERY" run own.yaml --no-db --json >run.json
    "$ORRERY" validate own.csv --json >rows.json
    same="select abs(json_extract(readfile('rows.json'), '\$.rows[0].predicted') / json_extract(readfile('run.json'), '\$.step_time_s') - 1) < 1e-9"
    [ "$(sql :memory: "$same")" = 1 ]
    expect 3 "$ORRERY" import mllog result_0.txt --config config_a.sh --row
    said "result_0.txt: --row needs what is not said: the card (--gpu NAME)"
    expect 3 "$ORRERY" import mllog result_0.txt --gpu h100-80gb-sxm --row
    said "the number of GPUs, tp, pp or cp (--config FILE)"
    echo 'TP=2 PP=1 CP=1 MINIBS=4' >config_c.sh # 8 GPUs by the batch, on nobody knows how many nodes
    expect 3 "$ORRERY" import mllog result_0.txt --config config_c.sh --gpu h100-80gb-sxm --row
    said "the number of nodes (--config FILE)"
    [ ! -s out ]
    sed '/max_sequence_length/d' result_0.txt >short.txt
    expect 3 "$ORRERY" import mllog short.txt --config config_a.sh --gpu h100-80gb-sxm --row
    said "short.txt: --row needs what is not said: the sequence length"
    # Each number at its own column: no two are the same.
    echo 'TP=3 PP=4 VP=5 CP=6 EP=2 DGXNNODES=18 DGXNGPU=8 MINIBS=7 MBS=7 LAYER_CUDA_GRAPH=1 FP8_RECIPE=mxfp8' >config_d.sh
    echo 'ASYM_PP_EMBED=1 SEQ_PARALLEL=False USE_DIST_OPTIMIZER=False LORA_DIM=32 FP8_DPA=0' >>config_d.sh
    mllog lora.txt 14
    sed -i 's/llama31_8b/llama2_70b_lora/; s/1xDGXH100/18xDGXH100/' lora.txt
    expect 0 "$ORRERY" import mllog lora.txt --config config_d.sh --gpu h100-80gb-sxm --row
    cp out row.csv
    [ "$(cell row_id) $(cell source) $(cell cite) $(cell model) $(cell layers)" = "lora mllog lora.txt llama2-70b 80" ]
    [ "$(cell gpus) $(cell gpus_per_node) $(cell fabric)" = "144 8 unknown" ]
    [ "$(cell tp) $(cell pp) $(cell vpp) $(cell cp) $(cell ep) $(cell dp)" = "3 4 5 6 2 2" ]
    [ "$(cell zero) $(cell sequence_parallel) $(cell microbatch) $(cell global_batch)" = "0 0 7 14" ]
    [ "$(cell tokens_per_s_per_gpu)" = "$(awk 'BEGIN {printf "%.10g", 14 * 8192 / 2.75 / 144}')" ]
    [ "$(cell stated)" = "software.fp8_recipe=mxfp8;software.cuda_graphs=layer;training.adapter=lora;training.adapter_rank=32" ]
    expect 2 "$ORRERY" import topo result_0.txt --row
    # Experts and layers as they ran: 256 routed, 8 a token, 1 shared, 3 dense layers first.
    echo 'TP=1 PP=1 CP=1 EP=8 DGXNNODES=1 DGXNGPU=8 MINIBS=2 OVERWRITTEN_NUM_LAYERS=10' >config_e.sh
    mllog 'a"b,c.txt' 16
    sed -i 's/llama31_8b/deepseek_v3_671b/' 'a"b,c.txt'
    expect 0 "$ORRERY" import mllog 'a"b,c.txt' --config config_e.sh --gpu h100-80gb-sxm --row
    cp out row.csv
    [ "$(cell row_id) $(cell cite) $(cell layers) $(cell ep)" = "a_b_c a b c.txt 10 8" ]
    [ "$(cell experts) $(cell experts_per_token) $(cell moe_ffn_hidden) $(cell shared_experts) $(cell dense_layers)" = "256 8 2048 1 3" ]
}

@test "a log whose step times, status or platform speak against it" {
    mllog result_0.txt 16
    echo 'TP=2 PP=1 CP=1 MINIBS=4 DGXNGPU=8 DGXNNODES=1' >config_a.sh
    row() { "$ORRERY" import mllog "$1" --config config_a.sh --gpu "${2:-h100-80gb-sxm}" --row "${@:3}"; }
    expect 0 row result_0.txt
    lacks "quality noisy" err
    grep -q "result_0,mllog,result_0.txt,ok,clean,2.75," out
    # Ten times less by what is tracked than by the blocks.
    sed '$i :::MLLOG {"time_ms": 1750000087000, "key": "tracked_stats", "value": {"train_step_time": 0.275}}' result_0.txt >tenth.txt
    expect 3 row tenth.txt
    said "tenth.txt:12: a step takes 0.275 s by train_step_time (median of 1, to this line) and 2.75 s by blocks (median of 2, to line 11)"
    [ ! -s out ]
    # A run that did not succeed: its steps are noisy.
    sed 's/success/aborted/' result_0.txt >aborted.txt
    expect 0 row aborted.txt
    grep -q "aborted,mllog,aborted.txt,ok,noisy,2.75," out
    said "aborted.txt: quality noisy, as the status of its run_stop is aborted"
    sed '/run_stop/d' result_0.txt >cut.txt
    expect 0 row cut.txt
    grep -q "cut,mllog,cut.txt,ok,noisy,2.75," out
    said "cut.txt: quality noisy, as there is no run_stop"
    sed 's/"status": "success"/"a": 1/' result_0.txt >silent.txt
    expect 0 row silent.txt
    said "silent.txt: quality noisy, as its run_stop has no status"
    # The platform names the card of the run.
    expect 3 row result_0.txt b200-180gb-sxm
    said "result_0.txt:3, submission_platform 1xDGXH100: 'H100' (h100-80gb-sxm in the catalogue) is not b200-180gb-sxm"
    said "--other-card takes it"
    [ ! -s out ]
    expect 0 row result_0.txt b200-180gb-sxm --other-card
    said "warning: "
    grep -q ",b200-180gb-sxm," out
    sed 's/1xDGXH100/1xsomewhere/' result_0.txt >nowhere.txt
    expect 0 row nowhere.txt b200-180gb-sxm
    sed 's/1xDGXH100/1xNVL_GB200/' result_0.txt >rack.txt
    expect 3 row rack.txt b200-180gb-sxm
    expect 0 row rack.txt gb200-186gb
}

@test "a log that contradicts its configuration, or is none, is refused" {
    mllog result_0.txt 32
    echo 'export TP=2 PP=1 CP=1 MINIBS=4 DGXNGPU=8 DGXNNODES=1' >config_a.sh
    expect 3 "$ORRERY" import mllog result_0.txt --config config_a.sh
    said "config_a.sh:1, MINIBS: the global batch is 16 here and 32 by result_0.txt:4: give the configuration of this run"
    [ ! -s out ]
    echo 'LOGDIR=results' >config_mounts.sh
    expect 3 "$ORRERY" import mllog result_0.txt --config config_mounts.sh
    said "config_mounts.sh: it sets nothing of a layout"
    echo 'if [ 1 -eq 1 ]; then TP=2' >config_cut.sh
    expect 3 "$ORRERY" import mllog result_0.txt --config config_cut.sh
    said 'config_cut.sh:1: what begins here has no `fi`'
    expect 1 "$ORRERY" import mllog result_0.txt --config config_none.sh
    said "cannot read config_none.sh"
    cat result_0.txt result_0.txt >twice.txt
    expect 3 "$ORRERY" import mllog twice.txt
    said "twice.txt:13: init_start again: the file holds several runs"
    head -c 400 result_0.txt >cut.txt
    expect 3 "$ORRERY" import mllog cut.txt
    said "what follows :::MLLOG is no JSON"
    printf ':::MLLOG \0' >nul.txt
    expect 3 "$ORRERY" import mllog nul.txt
    said "nul.txt:1: a control character (0x00)"
    expect 3 "$ORRERY" import mllog config_a.sh
    said "it is no result log of MLPerf Training"
    expect 2 "$ORRERY" import topo result_0.txt --config config_a.sh
    said "takes no --config"
    yes "$(printf 'x%.0s' {1..1000})" | head -c 70000000 >large.txt || true
    expect 3 "$ORRERY" import mllog large.txt
    said "large.txt: more than 64 MiB; cut out what is to be read"
}

@test "what was measured does not join a profile of the simulated card" {
    nccl_tests nccl.txt
    cp "$SCENARIOS/catalogue/profiles/simulated.db" own.db
    before=$(sha256sum own.db)
    card=$(sql own.db 'select gpu from profile')
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --output own.db ${card:+--gpu "$card"}
    said "of a card that is not there (simulated)"
    [ "$before" = "$(sha256sum own.db)" ]
}

@test "options that say nothing to a kind, and cards that nobody knows" {
    nccl_tests nccl.txt
    expect 2 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --output own.db --gpu h100-80gb-smx
    said "did you mean 'h100-80gb-sxm'?"
    [ ! -e own.db ]
    expect 2 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --output own.db --gpus 8
    said "orrery import nccl-tests: takes no --gpus"
    expect 2 "$ORRERY" import topo nccl.txt --output cluster.yaml
    said "takes no --output"
    expect 2 "$ORRERY" import xid nccl.txt --gpus 8 --op all_reduce
    said "takes no --op"
    expect 2 "$ORRERY" import nccl-topo nccl.txt --merge 1min
    expect 0 "$ORRERY" import --help
    for kind in nccl-tests pytorch failures xid dcgm slurm topo nccl-topo chakra mllog; do
        grep -q "^$kind " out
    done
}

@test "of the Xids of one incident the first counts; what DCGM's samples leave out is told as it is" {
    local sample='DCGM_FI_DEV_XID_ERRORS{gpu="%s",Hostname="n7"} %s %s000\n'
    # shellcheck disable=SC2059
    {
        printf "$sample" 3 0 1793577600 3 79 1793577660 3 119 1793577720 3 119 1793577780
        printf "$sample" 5 94 1793577600 5 94 1793577660
    } >samples.txt
    expect 0 "$ORRERY" import dcgm samples.txt --gpus 8 --start 2026-11-01 --end 2026-11-11
    shows "# 1 failure in 10d of 8 GPUs, 8 in a node"
    shows 'cause: "GPU off the bus", unit: gpu'
    shows "# left out: 1 Xid that came within 10min of another on the same unit: the first names the cause"
    shows "# left out: 1 Xid that the first sample of a GPU already showed"
    shows "# left out: 3 samples without a new Xid"
    lacks "system processor" out
    lacks "something else" out
    expect 0 "$ORRERY" import dcgm samples.txt --gpus 8 --start 2026-11-01 --end 2026-11-11 --merge 30s
    shows "# 2 failures in 10d"
    shows 'cause: "GPU system processor", unit: gpu'
}

@test "a launch of Megatron-LM becomes a scenario that runs, and writes the same launch again" {
    cat >train.sh <<'END'
GPUS=8
torchrun --nproc-per-node $GPUS pretrain_gpt.py --num-layers 4 --hidden-size 1024 --num-attention-heads 16 \
    --seq-length 2048 --micro-batch-size 1 --global-batch-size 32 --bf16 --vocab-size 32000 \
    --tensor-model-parallel-size $TP --use-distributed-optimizer --not-known 4
END
    expect 3 "$ORRERY" import megatron train.sh --gpu h100-80gb-sxm
    grep -qF -- 'train.sh:4: --tensor-model-parallel-size: $TP: it has no value; --set TP=VALUE says it' err
    expect 0 "$ORRERY" import megatron train.sh --gpu h100-80gb-sxm --set TP=2 --output own.yaml
    grep -qF -- "warning: 1 not known here, and left out: not-known" err
    grep -q "^  dp: 4$" own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db
    shows "tp 2 x pp 1 x dp 4, zero-1"
    "$ORRERY" export own.yaml --launch megatron >one.sh 2>/dev/null
    expect 0 "$ORRERY" import megatron - --gpu h100-80gb-sxm <one.sh
    cp out two.yaml
    "$ORRERY" export two.yaml --launch megatron >two.sh 2>/dev/null
    cmp <(grep -v ^STEPS= one.sh) <(grep -v ^STEPS= two.sh) # which tokens say in the second
    echo "title: mine" >mine.yaml
    expect 1 "$ORRERY" import megatron train.sh --set TP=2 --output mine.yaml
    expect 3 "$ORRERY" import megatron train.sh --set TP=2 --gpus 9
    grep -qF -- "9 GPUs do not divide by tp 2" err
    expect 2 "$ORRERY" import megatron train.sh --row
    expect 3 "$ORRERY" import megatron train.sh --set 2=TP
    grep -qF -- "--set 2=TP" err
}

@test "a configuration of torchtitan becomes a scenario that runs" {
    printf '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\nseq_len = 8192\n' >own.toml
    printf '[activation_checkpoint]\nmode = "full"\n[compile]\nenable = true\n' >>own.toml
    expect 0 "$ORRERY" import torchtitan own.toml --gpu h100-80gb-sxm --gpus 8
    shows "  preset: llama3-8b                  # own.toml:3, --model.flavor"
    cp out own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db
    shows "tp 1 x pp 1 x dp 8, fsdp, recompute full"
    expect 3 "$ORRERY" import torchtitan own.toml
    grep -qF "global_batch_size is not said" err
}

@test "an execution of Calculon, its model and its system become a scenario that runs" {
    echo '{"num_procs": 16, "tensor_par": 4, "pipeline_par": 2, "data_par": 2, "tensor_par_net": 0, "batch_size": 16,
"microbatch_size": 1, "datatype": "float16", "optimizer_sharding": true, "training": true, "mine": 1}' >run.json
    echo '{"hidden": 1024, "feedforward": 4096, "seq_size": 1024, "attn_heads": 16, "attn_size": 64, "num_blocks": 8}' >llm.json
    echo '{"matrix": {"float16": {"tflops": 250}}, "mem1": {"GiB": 48, "GBps": 1500}, "mem2": {"GiB": 64, "GBps": 20},
"networks": [{"bandwidth": 200, "size": 8}, {"bandwidth": 20, "efficiency": 0.8, "size": 512}]}' >system.json
    expect 0 "$ORRERY" import calculon run.json --model llm.json --system system.json --output own.yaml
    grep -qF "warning: run.json:2, mine: not known here, and left out" err
    expect 0 "$ORRERY" run own.yaml --no-db
    shows "16 x custom in 2 x custom"
    shows "dense fp16 peak of 250 TFLOP/s"
    shows "tp 4 x pp 2 x dp 2, zero-1"
    expect 0 "$ORRERY" import calculon run.json --model llm.json --gpu h100-80gb-sxm
    shows "  gpu: h100-80gb-sxm"
    expect 2 "$ORRERY" import calculon run.json
    grep -qF "needs --model FILE" err
    expect 1 "$ORRERY" import calculon run.json --model none.json
    expect 2 "$ORRERY" import megatron run.json --model llm.json
}

@test "a configuration of DeepSpeed becomes a scenario that runs, and a script of it the same script again" {
    echo '{"train_batch_size": 16, "train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3}}' >ds.json
    expect 0 "$ORRERY" import deepspeed ds.json --model gpt2-1.5b --gpu h100-80gb-sxm --gpus 8 --output own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db --set training.sequence=1024
    shows "tp 1 x pp 1 x dp 8, zero-3"
    expect 3 "$ORRERY" import deepspeed ds.json --model gpt2-1.5b --gpus 32
    grep -qF "ds.json:1: train_batch_size: 16 sequences are not microbatches of 1" err
    "$ORRERY" export "$SCENARIOS/hello-8-gpus.yaml" --launch deepspeed >one.sh 2>/dev/null
    expect 0 "$ORRERY" import deepspeed one.sh --gpu h100-80gb-sxm --output two.yaml
    "$ORRERY" export two.yaml --launch deepspeed --set model.vocabulary=50257 >two.sh 2>/dev/null
    cmp <(grep -v '^#\|^STEPS=\|^MODEL=' one.sh) <(grep -v '^#\|^STEPS=\|^MODEL=' two.sh)
}

@test "a YAML of nanotron becomes a scenario that runs" {
    printf 'parallelism: {dp: 2, pp: 2, tp: 2, pp_engine: 1f1b, tp_mode: REDUCE_SCATTER}\ntokens: {sequence_length: 1024, micro_batch_size: 1, ' >n.yaml
    printf 'batch_accumulation_per_replica: 4}\noptimizer: {zero_stage: 1}\nmodel: {model_config: {hidden_size: 1024, intermediate_size: 2816, ' >>n.yaml
    printf 'num_attention_heads: 16, num_hidden_layers: 8, vocab_size: 32000}}\n' >>n.yaml
    expect 0 "$ORRERY" import nanotron n.yaml --gpu h100-80gb-sxm --output own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db
    shows "tp 2 (sequence parallel) x pp 2 x dp 2, zero-1, recompute none"
    expect 3 "$ORRERY" import nanotron n.yaml --gpus 16
    grep -qF "makes 8 ranks, not 16 (--gpus)" err
}

@test "a resolved YAML of NeMo becomes a scenario that runs" {
    printf 'trainer: {num_nodes: 1, devices: 8, precision: bf16}\nmodel: {micro_batch_size: 1, global_batch_size: 16, encoder_seq_length: 1024, ' >n.yaml
    printf 'num_layers: 8, hidden_size: 1024, num_attention_heads: 16, tensor_model_parallel_size: 2, tokenizer: {type: GPT2BPETokenizer}, ' >>n.yaml
    printf 'optim: {name: distributed_fused_adam}, kv_channels: %s}\n' null >>n.yaml
    expect 0 "$ORRERY" import nemo n.yaml --gpu h100-80gb-sxm --output own.yaml
    expect 0 "$ORRERY" run own.yaml --no-db
    shows "tp 2 x pp 1 x dp 4, zero-1, recompute none"
    sed -i "s/kv_channels: null/kv_channels: '\${.x}'/" n.yaml
    expect 3 "$ORRERY" import nemo n.yaml --gpu h100-80gb-sxm
    grep -qF "model.kv_channels: is not resolved" err
}
