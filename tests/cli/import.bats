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
    expect 3 "$ORRERY" import nccl-tests nccl.txt --output own.db
    said "nccl.txt:9: which collective is it?"
    [ ! -e own.db ]
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_gather --output own.db
    said "busbw"
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduec --output own.db
    expect 2 "$ORRERY" import nccl-tests nccl.txt --op all_reduce
    expect 2 "$ORRERY" import nccl-test nccl.txt
    said "did you mean 'nccl-tests'?"
    expect 2 "$ORRERY" import
    expect 3 "$ORRERY" import nccl-tests nothing.txt --op all_reduce --output own.db
    expect 0 "$ORRERY" import nccl-tests - --op all_reduce --output own.db <nccl.txt
    expect 3 "$ORRERY" import nccl-tests nccl.txt --op all_reduce --gpu h200-141gb-sxm --output own.db
    said "give another --output"
    cp "$hello" own.yaml
    sqlite3 own.db "update point set median_s = median_s / 1000"
    expect 3 "$ORRERY" check own.yaml --set cluster.profile=own.db
    said "not in seconds"
}
