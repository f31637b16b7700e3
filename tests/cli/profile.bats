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
    expect 0 "$ORRERY" profile show h100.db
    shows "gemm - fp8 m=8192 n=8192 k=8192 batch=1"
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
    said "no such file"
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
    expect 3 "$ORRERY" validate "$validation/kernels.csv" --profile nothing.db
}

@test "profile: options of other actions, a card that the catalogue has not" {
    cp "$SCENARIOS/catalogue/profiles/simulated.db" own.db
    expect 2 "$ORRERY" profile show own.db --output other.db
    said "orrery profile show: takes no --output"
    expect 2 "$ORRERY" profile check own.db --gpu h100-80gb-sxm
    expect 2 "$ORRERY" profile compare own.db own.db --set layout.tp=2
    expect 0 "$ORRERY" profile check own.db
    sqlite3 own.db "update profile set gpu = 'h100-80gb-smx'"
    expect 3 "$ORRERY" profile check own.db
    said "did you mean 'h100-80gb-sxm'?"
}
