load helper

# Lines of curves; every one has this width, and nothing else has it.
lines() { grep -c 'stroke-width="1.8"' "$1" || true; }
teardown() { # nothing outside the page, no text over another
    for figure in *.svg; do python3 "$BATS_TEST_DIRNAME/svg_marks.py" "$figure" >/dev/null || return 1; done
}

@test "words are categories: a label and a dot each, no line, no axis of numbers" {
    expect 0 "$ORRERY" study "$hello" --vary layout.sharding=zero-0,zero-1,zero-3 --no-db --svg words.svg
    for word in zero-0 zero-1 zero-3; do
        [ "$(grep -c ">$word</text>" words.svg)" = 1 ]
    done
    [ "$(lines words.svg)" = 0 ]
    [ "$(grep -c '<circle' words.svg)" = 3 ]
    # vertical lines of a grid stand at numbers alone
    [ "$(grep -c '<path d="M[0-9.]* [0-9.]*V.*#e4e4e4' words.svg)" = 0 ]
    # beside a key of numbers words make curves, whichever is named first
    expect 0 "$ORRERY" study "$hello" --vary layout.sharding=zero-0,zero-3 --vary layout.microbatch=1,2,4 --no-db --svg both.svg
    [ "$(lines both.svg)" = 2 ]
    grep -q ">layout.microbatch</text>" both.svg
    [ "$(grep -c ">zero-3</text>" both.svg)" = 1 ]
    [ "$(grep -c '<circle' both.svg)" = 6 ]
}

@test "all curves, or a sentence that names those that are left out" {
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4 --vary training.global_batch=64,128,192,256,320,384,448,512 --no-db --svg eight.svg
    [ "$(lines eight.svg)" = 8 ]
    lacks "curves are drawn" eight.svg
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4 --vary training.global_batch=64,128,192,256,320,384,448,512,576,640 --no-db --svg ten.svg
    [ "$(lines ten.svg)" = 8 ]
    # a larger batch is the faster one: the two smallest stay out
    grep -q "The best 8 of 10 curves are drawn; left out: training.global_batch (64), (128)\." ten.svg
    # the legend stands right of the frame, which ends at 90 + 564
    [ "$(grep -c '<rect x="668.0"' ten.svg)" = 8 ]
}

@test "what does not fit is a cross, what breaks a rule is told, one point has an axis" {
    expect 0 "$ORRERY" study "$long" --vary layout.microbatch=1,2,3,4 --no-db --svg gaps.svg
    [ "$(grep -c 'l8 8m0 -8l-8 8' gaps.svg)" = 2 ]
    grep -q "layout.microbatch=2: does not fit, 3.89 GiB short" gaps.svg
    grep -q ">1 of 4 points breaks a rule and has no dot.</text>" gaps.svg
    [ "$(grep -c '<circle' gaps.svg)" = 1 ]
    [ "$(lines gaps.svg)" = 0 ]
    lacks "nan" gaps.svg
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=4 --no-db --svg one.svg
    [ "$(grep -c '<circle' one.svg)" = 1 ]
    grep -q ">4.0</text>" one.svg
}

@test "figures are the same bytes each time, on any number of threads" {
    cp "$hello" weeks.yaml
    cat >>weeks.yaml <<'YAML'
run: {duration: 3d}
failures: [{cause: gpu, unit: gpu, law: exponential, mtbf: 2d}]
checkpoint: {policy: sync, interval: 10min, storage: pfs, stall: 20s, load: 30s}
YAML
    for threads in 1 3; do
        expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..4h:log:7 --seeds 40 --threads $threads --no-db --svg $threads.svg
    done
    cmp 1.svg 3.svg
    # ticks are times of a clock; marks of closed forms stand above the frame, whose top is 114
    for label in "1 min" "10 min" "1 h" "4 h"; do
        grep -q ">$label</text>" 1.svg
    done
    [ "$(grep -c 'y="\(108\|92\|76\|60\).0".*>\(optimum\|Young\|Daly\|exact\) ' 1.svg)" = "$(grep -c '>\(optimum\|Young\|Daly\|exact\) ' 1.svg)" ]
    grep -q ">Young " 1.svg
    # bands where there are seeds, none from one
    [ "$(grep -c 'fill-opacity="0.35"' 1.svg)" = 1 ]
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..4h:log:7 --seeds 1 --no-db --svg single.svg
    lacks 'fill-opacity="0.35"' single.svg
}

@test "the pipeline is drawn by the same hand, with the notes of the scenario" {
    printf '%s\n' "$(sed '/^notes:/,$d' "$long")" >noted.yaml
    printf 'notes:\n  - {at: 1s, say: "Now <full> & \x27steady\x27."}\n' >>noted.yaml
    expect 0 "$ORRERY" run noted.yaml --db noted.db
    expect 0 "$ORRERY" export noted.db --format svg --output p.svg
    expect 0 "$ORRERY" export noted.db --format svg --output q.svg
    cmp p.svg q.svg
    grep -q ">1 at 1 s: Now &lt;full&gt; &amp; 'steady'.</text>\|>1  at 1 s: Now &lt;full&gt; &amp; 'steady'.</text>" p.svg
    for label in "stage 0" "stage 1" forward backward "0 s" "5 s" "30 s"; do
        grep -q ">$label</text>" p.svg
    done
    grep -q ">bubble .*: the pipeline has no work for this stage yet</text>" p.svg
    # stage 0 is the upper row; each stage is hatched where nothing covers it
    upper=$(sed -n 's/.* y="\([0-9.]*\)".*>stage 0<.*/\1/p' p.svg)
    lower=$(sed -n 's/.* y="\([0-9.]*\)".*>stage 1<.*/\1/p' p.svg)
    [ "${upper%.*}" -lt "${lower%.*}" ]
    [ "$(sed -n 's/.* y="\([0-9.]*\)".*fill="url(#idle)".*/\1/p' p.svg | sort -u | wc -l)" = 3 ] # two rows and the legend
}

@test "values that differ by rounding alone are drawn" {
    expect 0 timeout -s KILL 60 "$ORRERY" study "$hello" --no-db --svg close.svg \
        --vary cluster.node.nvlink_latency=1us,1.0000000000000002us
    grep -q "cluster.node.nvlink_latency" close.svg
}
