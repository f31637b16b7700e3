# orrery-calibrate on the simulated card, from the shapes of a scenario to a run that stands on what
# was measured; and on a machine without a GPU.
load helper

committed="$SCENARIOS/catalogue/profiles/simulated.db"

@test "a machine without a GPU is told so, exit code 5" {
    if nvidia-smi -L >/dev/null 2>&1; then skip "there is a GPU"; fi
    expect 5 "$CALIBRATE" --minutes 1 --output card.db
    grep -qE "no NVIDIA GPU that can be used here|built without CUDA" err
    said "--device simulated"
    [ ! -e card.db ]
}

# A kernel of two launches is twice the one that was measured: interpolated.
@test "shapes, calibration, check, run: the step's kernels are measured" {
    "$ORRERY" profile shapes "$hello" --output shapes.txt
    expect 0 "$CALIBRATE" --device simulated --for shapes.txt --minutes 3 --gpu h100-80gb-sxm --output card.db
    shows "100.0 % of its kernels' time is measured"
    said "% of the step"
    expect 0 "$ORRERY" profile check card.db
    shows "0 remarks"
    expect 0 "$ORRERY" run "$hello" --set "cluster.profile=$PWD/card.db" --db own.db
    shows "99.3 % of the time on measured kernels, 0.7 % interpolated, 0.0 % extrapolated, 0.0 %"
    [ "$(sql own.db "select distinct kernel from kernel_evidence where evidence <> 'measured'")" = "embedding gradient" ]
    # Another layout asks for other shapes: what lies between or outside is told.
    expect 0 "$ORRERY" run "$hello" --set "cluster.profile=$PWD/card.db" --set layout.microbatch=2 --no-db
    grep "on measured kernels" out | grep -qv "99.3 % of the time on measured"
}

@test "the budget ends it, the same command goes on" {
    expect 0 "$CALIBRATE" --device simulated --minutes 0.1 --output card.db
    shows "the minutes are over"
    lacks "of the step" err
    before=$(sql card.db "select count(*) from point")
    [ "$before" -gt 5 ]
    expect 3 "$ORRERY" profile check card.db
    shows "not finished"
    expect 0 "$CALIBRATE" --device simulated --minutes 5 --output card.db
    shows "$before of them before"
    [ "$(sql card.db 'select complete from profile')" = 1 ]
    expect 0 "$ORRERY" profile check card.db
}

@test "an interrupted calibration says so, and goes on" {
    "$CALIBRATE" --device simulated --minutes 60 --output card.db >out 2>err &
    calibration=$!
    until grep -q "of 490 points" err; do
        kill -0 $calibration # it is to be interrupted, so it must be running
        sleep 0.01
    done
    kill -TERM $calibration
    code=0
    wait $calibration || code=$?
    [ $code = 130 ]
    said "interrupted; the same command goes on with card.db"
    shows "it was interrupted"
    lacks "the minutes are over" out
    expect 0 "$CALIBRATE" --device simulated --minutes 60 --output card.db
    shows "of them before"
}

@test "a profile keeps to one card of the catalogue" {
    expect 0 "$CALIBRATE" --device simulated --minutes 0.05 --output card.db
    [ "$(sql card.db 'select gpu from profile')" = "" ]
    expect 0 "$CALIBRATE" --device simulated --minutes 0.05 --gpu h100-80gb-sxm --output card.db
    [ "$(sql card.db 'select gpu from profile')" = h100-80gb-sxm ]
    expect 1 "$CALIBRATE" --device simulated --minutes 0.05 --gpu h200-141gb-sxm --output card.db
    said "card.db is of h100-80gb-sxm, not of h200-141gb-sxm: give another file"
    expect 0 "$CALIBRATE" --device simulated --minutes 0.05 --output card.db
    [ "$(sql card.db 'select gpu from profile')" = h100-80gb-sxm ]
}

@test "a report that cannot be written is an error" {
    if [ ! -c /dev/full ]; then skip "no /dev/full"; fi
    code=0
    "$CALIBRATE" --device simulated --minutes 0.05 --output card.db >/dev/full 2>err || code=$?
    [ $code = 1 ]
    said "the report cannot be written"
}

@test "the committed profile is read by this version and stands for its scenario" {
    expect 0 "$ORRERY" profile show "$committed"
    shows "no card was measured"
    expect 0 "$ORRERY" profile check "$committed"
    shows "518 points, 0 remarks"
    expect 0 "$ORRERY" list profiles --catalogue "$SCENARIOS/catalogue"
    shows "simulated.db"
    expect 0 "$ORRERY" run "$hello" --set "cluster.profile=$committed" --no-db
    shows "What the times of kernels rest on"
}

# A scenario's shapes alone leave sizes between them that nothing tells of.
@test "holes of a profile without the grid are named" {
    "$ORRERY" profile shapes "$hello" --output shapes.txt
    expect 0 "$CALIBRATE" --device simulated --for shapes.txt --no-grid --minutes 3 --gpu h100-80gb-sxm --output card.db
    expect 3 "$ORRERY" profile check card.db
    shows "a hole: no n between 3072 and 50304"
}

@test "what makes no sense is refused" {
    expect 0 "$CALIBRATE" --help
    shows "built with"
    expect 2 "$CALIBRATE" --minutes none
    said "--minutes 'none': expected a number of minutes above 0"
    for minutes in 0 nan inf -1 "" 0x3 1e300 3m 10081; do
        expect 2 "$CALIBRATE" --device simulated --minutes "$minutes"
    done
    expect 2 "$CALIBRATE" --no-grid
    expect 2 "$CALIBRATE" --device tensor
    said "expected cuda or simulated"
    expect 2 "$CALIBRATE" --output
    said "--output needs a value"
    expect 2 "$CALIBRATE" --outptu card.db
    said "--outptu makes no sense here"
    expect 1 "$CALIBRATE" --device simulated --minutes 1 --output nowhere/card.db
    said "nowhere/card.db: cannot be opened: No such file or directory"
    printf '1 gemm - bf16 m=1 n=\033[31m1 k=1 batch=1\n' >strange.txt
    expect 1 "$CALIBRATE" --device simulated --for strange.txt
    said "no list of shapes: a byte 0x1b"
    printf '1 gemm - bf16 m=1 n=1 k=1 batch=1\n\0' >strange.txt
    expect 1 "$CALIBRATE" --device simulated --for strange.txt
    said "no list of shapes: a byte 0x00"
    expect 1 "$CALIBRATE" --device simulated --for nothing.txt
    said "cannot be read"
    echo "1 gemm - bf16 m=1" >short.txt
    expect 1 "$CALIBRATE" --device simulated --for short.txt
    said "short.txt:1:"
    echo "no profile" >text.db
    expect 1 "$CALIBRATE" --device simulated --output text.db
    [ "$(cat text.db)" = "no profile" ]
}

@test "it links no GSL" {
    ldd "$CALIBRATE" >libraries
    ! grep -q liborrery_ libraries || skip "shared wings (preset edit) bring their own libraries"
    grep -q sqlite libraries
    lacks gsl libraries
}
