# orrery profile: shapes to measure, profiles shown, checked, compared, made of published rows; and
# a scenario that stands on one.
load helper

validation="$SCENARIOS/../tests/validation"

@test "the shapes of a step are listed with the seconds that rest on them" {
    expect 0 "$ORRERY" profile shapes "$hello"
    shows "gemm - bf16 m=1024 n=2304 k=768 batch=1"
    shows "attention cudnn bf16 causal,backward"
    # The kernels of the mean rank take as long as its breakdown says, copies of buffers left out.
    sum=$(awk '!/^#/ {s += $1} END {print s}' out)
    "$ORRERY" run "$hello" --no-db --json >run.json
    parts=$(python3 -c "import json; b = json.load(open('run.json'))['breakdown']; print(b['compute'] + b['recompute'] + b['optimizer'])")
    awk -v a="$sum" -v b="$parts" 'BEGIN {exit !(a > 0.95 * b && a < 1.001 * b)}'
    expect 0 "$ORRERY" profile shapes "$hello" --set training.precision=fp16 --output shapes.txt
    grep -q "gemm - fp16" shapes.txt
    expect 3 "$ORRERY" profile shapes "$hello" --set layout.tp=5
}

@test "published rows become a profile that is shown, checked and compared" {
    expect 0 "$ORRERY" profile from "$validation/kernels.csv" --gpu h100-80gb-sxm --output h100.db
    shows "87 points of 108 rows of h100-80gb-sxm; 16 rows left out"
    expect 0 "$ORRERY" profile from "$validation/collectives.csv" --gpu h100-80gb-sxm --output ring.db
    expect 0 "$ORRERY" profile show ring.db
    shows "collective all_reduce bf16 ranks=8 bytes=1073741824"
    [ "$(sql ring.db "select device, gpu, driver, libraries, date, method from profile")" = \
        "h100-80gb-sxm|h100-80gb-sxm|not said|those of the sources|as published|published rows of collectives.csv" ]
    expect 0 "$ORRERY" profile show h100.db
    shows "gemm - fp8 m=8192 n=8192 k=8192 batch=1"
    sed -n 's/.*attention flash3 fp16 causal batch=\([0-9]*\) .*/\1/p' out >batches # by number: 2 before 16
    [ "$(uniq batches | wc -l)" -gt 2 ]
    sort -n batches | cmp - batches
    # The rate that was published, from the time that is kept.
    shows "attention flash3 fp16 causal batch=1 query_tokens=16384 key_tokens=16384 heads=16 kv_heads=16 head_size=128 value_size=128"
    grep "flash3 fp16 causal batch=1 query_tokens=16384.*heads=16 .*head_size=128" out | grep -q "616 TFLOP/s"
    expect 3 "$ORRERY" profile check h100.db
    shows "a hole: no m between 32768 and 802816"
    expect 0 "$ORRERY" profile compare h100.db h100.db
    shows "87 shapes in both: the second takes 1.000 of the first's time in the median, 1.000 to 1.000"
    expect 3 "$ORRERY" profile check h100.db --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.schema'), json_array_length(readfile('out'), '\$.points'), json_array_length(readfile('out'), '\$.remarks')")" = "orrery.profile/1|87|1" ]
    expect 0 "$ORRERY" profile show h100.db --json
    lacks remarks out
    expect 0 "$ORRERY" list profiles
    shows "h100.db"
    expect 3 "$ORRERY" profile from "$validation/kernels.csv" --gpu h100-80gb-sxm --output h100.db
    said "is there already"
    expect 3 "$ORRERY" profile from "$validation/memory.csv" --gpu h100-80gb-sxm --output other.db
    said "the columns of neither"
    expect 3 "$ORRERY" profile from "$validation/kernels.csv" --gpu nothing --output other.db
    [ ! -e other.db ]
}

@test "a step stands on a profile and says how far" {
    "$ORRERY" profile from "$validation/kernels.csv" --gpu h100-80gb-sxm --output h100.db
    cp "$hello" own.yaml
    expect 0 "$ORRERY" run own.yaml --set cluster.profile=h100.db --db own.db
    shows "What the times of kernels rest on"
    shows "h100: h100-80gb-sxm, as published"
    expect 0 "$ORRERY" report own.db
    shows "What the times of kernels rest on"
    [ "$(sql own.db 'select abs(sum(time_ratio) - 1) < 1e-9 from kernel_evidence')" = 1 ]
    # The longest first, and by name where two take the same time.
    by_row=$(sql own.db 'select kernel from kernel_evidence order by id')
    [ "$by_row" = "$(sql own.db 'select kernel from kernel_evidence order by gpu_s desc, kernel')" ]
    [ "$by_row" != "$(sql own.db 'select kernel from kernel_evidence order by gpu_s desc, kernel desc')" ]
    # Seconds and shares are one another's, and the seconds those of the mean rank's kernels.
    [ "$(sql own.db 'select max(abs(time_ratio * (select sum(gpu_s) from kernel_evidence) / gpu_s - 1)) < 1e-9 from kernel_evidence')" = 1 ]
    [ "$(sql own.db 'select sum(gpu_s) between .95 and 1.001 from (select gpu_s / (select compute_s + recompute_s + optimizer_s from run) as gpu_s from kernel_evidence)')" = 1 ]
    [ "$(sql own.db "select count(*) > 0 from kernel_evidence where kernel = 'attention' and evidence = 'extrapolated'")" = 1 ]
    expect 0 "$ORRERY" explain own.db
    shows "extrapolated"
    expect 0 "$ORRERY" run own.yaml --set cluster.profile=h100.db --no-db --json
    [ "$(sql :memory: "select abs(sum(value) - 1) < 1e-9, count(*) from json_each(readfile('out'), '\$.kernel_evidence')")" = "1|4" ]
    expect 0 "$ORRERY" run own.yaml --no-db
    lacks "rest on" out
}

@test "a profile of another card, in other units or damaged is refused with its place" {
    "$ORRERY" profile from "$validation/kernels.csv" --gpu h100-80gb-sxm --output h100.db
    cp "$hello" own.yaml
    expect 0 "$ORRERY" run own.yaml --set cluster.profile=h100.db --set cluster.gpu=h200-141gb-sxm --no-db
    said "it was measured on h100-80gb-sxm"
    sqlite3 h100.db "update point set median_s = median_s / 1000"
    expect 3 "$ORRERY" run own.yaml --set cluster.profile=h100.db --no-db
    said "not in seconds"
    head -c 5000 h100.db >cut.db
    expect 3 "$ORRERY" check own.yaml --set cluster.profile=cut.db
    said "cluster.profile: "
    expect 3 "$ORRERY" check own.yaml --set cluster.profile=nothing.db
    said "there is no file 'nothing.db' in the working folder"
    expect 3 "$ORRERY" profile show cut.db
    expect 2 "$ORRERY" profile
    expect 2 "$ORRERY" profile sing own.yaml
    said "not 'sing'"
    expect 2 "$ORRERY" profile compare cut.db
    said "two files"
}

@test "validate takes a profile for the rows of its card" {
    "$ORRERY" profile from "$validation/kernels.csv" --gpu h100-80gb-sxm --output h100.db
    expect 0 "$ORRERY" validate "$validation/kernels.csv" --where gpu=h100-80gb-sxm --csv --profile h100.db
    # What was measured is predicted as it was measured.
    awk -F, '$1 == "cublaslt-h100-80gb-sxm-fp8-8192x8192x8192" {found = ($7 < 1e-9 && $7 > -1e-9)} END {exit !found}' out
    expect 1 "$ORRERY" validate "$validation/kernels.csv" --profile nothing.db
}

@test "profile: options of other actions, a card that the catalogue has not" {
    cp "$SCENARIOS/catalogue/profiles/simulated.db" own.db
    expect 2 "$ORRERY" profile show own.db --output other.db
    said "orrery profile show: takes no --output"
    for stray in "shapes --json" "show --seed=1" "compare --json" "check --set=seed=1" "from --seed=1"; do
        files=(x.db)
        [ "${stray% *}" != compare ] || files+=(y.db)
        expect 2 "$ORRERY" profile "${stray% *}" "${files[@]}" "${stray#* }"
        said "orrery profile ${stray% *}: takes no $(echo "${stray#* }" | cut -d= -f1)"
    done
    expect 2 "$ORRERY" profile check own.db --gpu h100-80gb-sxm
    expect 2 "$ORRERY" profile compare own.db own.db --set layout.tp=2
    expect 0 "$ORRERY" profile check own.db
    sqlite3 own.db "update profile set gpu = 'h100-80gb-smx'"
    expect 3 "$ORRERY" profile check own.db
    said "did you mean 'h100-80gb-sxm'?"
}

# What nccl-tests prints for a line of `profile shapes`: times of a formula, 50 us and so many GB/s.
nccl_output() { # PROGRAM LINE GB_PER_S
    echo "$2" | awk -v program="$1" -v rate="$3" '
        function bytes(text) {
            return text ~ /G$/ ? text * 1073741824 : text ~ /M$/ ? text * 1048576 : text ~ /K$/ ? text * 1024 : text + 0
        }
        {
            ranks = 0; each = 0
            for (i = 1; i < NF; i++) {
                if ($i == "-np") ranks = $(i + 1)
                if ($i == "-N") each = $(i + 1)
                if ($i == "-g" && ranks == 0) ranks = each = $(i + 1)
                if ($i == "-b") low = bytes($(i + 1))
                if ($i == "-e") high = bytes($(i + 1))
                if ($i == "-d") type = $(i + 1)
            }
            print "# Collective test starting: " program
            for (r = 0; r < ranks; r++)
                printf "#  Rank %d Group 0 Pid 1 on n%d device %d [0x1b] NVIDIA H100 80GB HBM3\n", r, int(r / each), r % each
            print "# size count type redop root time algbw busbw #wrong"
            factor = program ~ /all_reduce/ ? 2 * (ranks - 1) / ranks : program ~ /sendrecv/ ? 1 : (ranks - 1) / ranks
            redop = program ~ /reduce|sendrecv/ ? "sum" : "none"
            for (size = low; size <= high; size *= 2) {
                us = 50 + size / (rate * 1000)
                printf "%d %d %s %s -1 %.3f %.6f %.6f 0\n", size, size / 4, type, redop, us, size / us / 1000, factor * size / us / 1000
            }
        }'
}

@test "each group of a step has its line of nccl-tests, a lone one too" {
    for sharding in zero-0 zero-1 zero-3; do
        expect 0 "$ORRERY" profile shapes "$hello" --set layout.sharding=$sharding
        groups=$(sed -nE 's/^# [0-9.e+-]+ ([a-z_]+ ranks=[0-9]+ nodes=[0-9]+) .*/\1/p' out | sort -u | wc -l)
        [ "$groups" -ge 1 ]
        [ "$(grep -c '^#   .*_perf' out)" = "$groups" ]
    done
}

# The way from the question to the answer: what is listed, measured as it says, moves the step.
@test "the collectives of a step are listed with the lines that measure them, and then it rests on them" {
    llama="$SCENARIOS/llama3-70b-64xh100.yaml"
    expect 0 "$ORRERY" profile shapes "$llama"
    # Sequence parallelism over 8 ranks: hidden 8192 x sequence 8192 in bf16.
    shows "all_gather ranks=8 nodes=1 bytes=134217728 bfloat16"
    shows "#   reduce_scatter_perf -b 128M -e 128M -f 2 -g 8 -d bfloat16   # "
    # Gradients of Megatron go in fp32; dp 4 has one rank of a tp group in each of four nodes.
    shows "#   mpirun -np 4 -N 1 reduce_scatter_perf -b 32M -e 256M -f 2 -g 1 -d float   # "
    grep "^#   .*_perf" out >lines
    [ "$(wc -l <lines)" = 7 ]
    while read -r line; do
        program=$(echo "$line" | grep -o "[a-z_]*_perf")
        rate=100; case $line in *mpirun*) rate=10 ;; esac
        nccl_output "$program" "$line" $rate >output.txt
        expect 0 "$ORRERY" import nccl-tests output.txt --gpu h100-80gb-sxm --output own.db
    done <lines
    expect 0 "$ORRERY" run "$llama" --set "cluster.profile=$PWD/own.db" --db own-run.db
    lacks "unused" out
    lacks "it lacks" out
    [ "$(sql own-run.db "select count(*) from kernel_evidence where kernel like '% in % node%' and evidence = 'model'")" = 0 ]
    [ "$(sql own-run.db "select sum(time_ratio) > 0.1 from kernel_evidence where evidence in ('measured', 'interpolated')")" = 1 ]
    # At 100 GB/s in place of some 350 the step is longer.
    expect 0 "$ORRERY" run "$llama" --db plain.db
    [ "$(sql own-run.db "attach 'plain.db' as plain; select a.step_s > 1.05 * b.step_s from main.run a, plain.run b")" = 1 ]
    # An all-reduce, which sequence parallelism never runs, moves nothing, and that is said.
    nccl_output all_reduce_perf "x -b 256M -e 2G -f 2 -g 8 -d float" 100 >all_reduce.txt
    expect 0 "$ORRERY" import nccl-tests all_reduce.txt --gpu h100-80gb-sxm --output other.db
    expect 0 "$ORRERY" run "$llama" --set "cluster.profile=$PWD/other.db" --db other-run.db
    shows "  4 points of all_reduce among 8 ranks of 1 node unused"
    shows "  it lacks all_gather among 8 ranks of 1 node, 128 MiB: "
    shows "'orrery profile shapes SCENARIO' lists the lines of nccl-tests that measure them"
    expect 0 "$ORRERY" report other-run.db
    shows "  4 points of all_reduce among 8 ranks of 1 node unused"
    # Points near enough to be used are not called unused.
    nccl_output all_gather_perf "x -b 64M -e 64M -f 2 -g 8 -d float" 100 >near.txt
    expect 0 "$ORRERY" import nccl-tests near.txt --gpu h100-80gb-sxm --output near.db
    expect 0 "$ORRERY" run "$llama" --set "cluster.profile=$PWD/near.db" --no-db
    lacks "unused" out
    lacks "it lacks all_gather among 8 ranks" out
    shows "  it lacks reduce_scatter among 8 ranks of 1 node, 128 MiB: "
    # The same ranks over two nodes are another group.
    nccl_output all_gather_perf "x -np 8 -N 4 -b 64M -e 128M -f 2 -g 1 -d float" 10 >far.txt
    expect 0 "$ORRERY" import nccl-tests far.txt --gpu h100-80gb-sxm --output near.db
    expect 0 "$ORRERY" run "$llama" --set "cluster.profile=$PWD/near.db" --no-db
    shows "  2 points of all_gather among 8 ranks of 2 nodes unused"
}

@test "a file that a scenario names is sought in the folder of the scenario, which is said" {
    mkdir sub
    expect 0 "$ORRERY" profile from "$validation/kernels.csv" --gpu h100-80gb-sxm --output sub/h100.db
    sed 's/^cluster: {/cluster: {profile: h100.db, /' "$hello" >sub/own.yaml
    grep -q profile: sub/own.yaml
    expect 0 "$ORRERY" check sub/own.yaml
    (cd sub && expect 0 "$ORRERY" check own.yaml)
    expect 0 "$ORRERY" check "$PWD/sub/own.yaml"
    # Not there: the path as it is written, the folder, and the one that was meant.
    mv sub/h100.db h100.db
    column=$(grep -o '.*profile: ' sub/own.yaml | wc -c)
    expect 3 "$ORRERY" check sub/own.yaml
    said "sub/own.yaml:6:$column: error: cluster.profile: there is no file 'h100.db' in sub/, the folder of the scenario; there is one in the working folder: give its whole path"
    shows "1 error"
    rm h100.db
    expect 3 "$ORRERY" check sub/own.yaml
    grep -q "in sub/, the folder of the scenario$" err
    (cd sub && expect 3 "$ORRERY" check own.yaml && said "there is no file 'h100.db' in the working folder")
    expect 3 "$ORRERY" check "$hello" --set cluster.profile=/no/h100.db
    grep -q "cluster.profile: there is no file '/no/h100.db'$" err
    sed 's/^model: .*/model: {hf: c.json}/' "$hello" >sub/hf.yaml
    expect 3 "$ORRERY" check sub/hf.yaml
    said "there is no file 'c.json' in sub/"
}

# A card that moves 1 TB/s and starts in no time takes a second for 10^12 bytes.
@test "what was measured stands beside the model, by family and length" {
    card="--set cluster.gpu.hbm_bandwidth=1000GB/s --set cluster.gpu.hbm_efficiency=100% --set cluster.gpu.kernel_start=0s"
    cp "$SCENARIOS/catalogue/profiles/simulated.db" own.db
    sqlite3 own.db "create table old as select * from point limit 1; delete from point"
    point() {
        sqlite3 own.db "insert into point select '$1', $2, spread_ratio, samples, outliers, settled, clock_hz, power_w, slowing from old"
    }
    point "memory stream bf16 bytes=2000000000" 0.008
    point "memory stream bf16 bytes=3000000000" 0.003
    point "memory stream bf16 bytes=4000000000" 0.012
    point "memory stream bf16 bytes=5000000000" 0.010
    point "memory stream bf16 bytes=6000000000" 0.060
    point "memory stream bf16 bytes=2000000" 0.000003
    point "memory stream bf16 bytes=20000000" 0.000050
    point "memory stream bf16 bytes=500000000" 0.000250
    point "memory add bf16 bytes=2000000000" 0.0030
    point "copy to-device fp32 bytes=65536" 0.000005
    point "gemm - fp4 m=256 n=256 k=256 batch=1" 0.000005
    point "launch graph fp32 count=16" 0.000005
    sqlite3 own.db "drop table old"
    # shellcheck disable=SC2086
    expect 0 "$ORRERY" profile model own.db "$hello" $card
    tr -s ' ' <out >words
    shows "simulated"
    grep -qx " memory stream bf16 below 10 us 1 1.500 1.500 1.500" words
    grep -qx " memory stream bf16 10 to 100 us 1 2.500 2.500 2.500" words
    grep -qx " memory stream bf16 0.1 to 1 ms 1 0.500 0.500 0.500" words
    grep -qx " memory stream bf16 above 1 ms 5 2.000 3.000 4.000" words
    grep -qx " memory add bf16 above 1 ms 1 1.500 1.500 1.500" words
    grep -qx " 3 points that the model of a kernel does not know" words
    [ "$(grep -c "memory stream" out)" = 4 ]
    expect 1 "$ORRERY" profile model own.db "$SCENARIOS/no-such.yaml"
    expect 2 "$ORRERY" profile model own.db
}

@test "the profile of a real H100 is whole, of this card and of no other" {
    real="$SCENARIOS/catalogue/profiles/h100-80gb-sxm-580.db"
    expect 0 "$ORRERY" profile check "$real"
    shows "447 points, 0 remarks"
    expect 0 "$ORRERY" profile model "$real" "$hello"
    grep -q "gemm split-sums fp8 accumulate " out
    grep -q "attention cudnn bf16 causal " out
    expect 3 "$ORRERY" profile model "$real" "$SCENARIOS/step/fsdp-7b.yaml"
    said "is not a100-80gb-sxm"
    expect 0 "$ORRERY" run "$SCENARIOS/llama3-70b-64xh100.yaml" --set "cluster.profile=$real" --no-db
    grep "of the time on measured kernels" out | grep -q " 89.1 %"
}
