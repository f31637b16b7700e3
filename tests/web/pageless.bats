# Where Node was not there at build time: a clear sentence, and the pictures. And where it was: the same page from the lock file.
setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    hello=$SCENARIOS/hello-8-gpus.yaml
}
refuses() { # what it says to this
    run "$PAGELESS" "$@"
    [ "$status" -eq 1 ]
    [[ $output == *"built without its page, as node and npm were missing"*"orrery export FILE.db --svg gantt"* ]]
}

@test "a build without Node says so, and its page is empty" {
    run cmake -G "$GENERATOR" -S "$SOURCE" -B cut -DNODE=0 -DORRERY_TESTS=OFF
    [ "$status" -eq 0 ]
    [[ $output == *"node or npm is missing: \`orrery replay\` is left without its page"* ]]
    [ -e cut/analysis/page/page.html ] && [ ! -s cut/analysis/page/page.html ]
}

@test "without its page: replay and lesson say what to do, write no page, and pictures are drawn" {
    "$PAGELESS" run "$hello" --db x.db >/dev/null 2>&1
    refuses replay x.db
    refuses replay x.db --html x.html
    refuses lesson memory-wall --html y.html --db y.db
    [ ! -e x.html ] && [ ! -e y.html ]
    for kind in gantt memory map waterfall; do
        "$PAGELESS" export x.db --svg $kind --output $kind.svg
        grep -q "</svg>" $kind.svg
    done
    "$PAGELESS" lesson memory-wall >lesson.txt
    grep -q "?" lesson.txt
}

@test "the page is the same bytes, built again in another folder from its lock file" {
    [ -s "$BUILD/analysis/page/page.html" ] || skip "this build has no page"
    TZ=Asia/Tokyo LC_ALL=C "$SOURCE/analysis/page/web/build" "$PWD/elsewhere" "$PWD/page.html" 2>why
    [ -s page.html ] || skip "npm cannot fetch its packages: $(head -1 why)"
    cmp page.html "$BUILD/analysis/page/page.html"
    # Each package of the lock file is held by its hash.
    [ "$(grep -c '^    "node_modules/' "$SOURCE/analysis/page/web/package-lock.json")" = "$(grep -c '"integrity": "sha512-' "$SOURCE/analysis/page/web/package-lock.json")" ]
}
