# orrery replay: the page as one file. What it shows is tested in a browser (tests/web).
load helper

# A page that npm could not build is told of, and its tests are skipped, in the open.
needs_page() {
    "$ORRERY" run "$hello" --db page.db >/dev/null 2>&1
    "$ORRERY" replay page.db --html page.html >/dev/null 2>why || ! grep "without its page" why || skip "orrery was built without its page"
}

@test "replay --html writes one file of less than 2 MB that asks for nothing from outside" {
    needs_page
    expect 0 "$ORRERY" run "$long" --db x.db
    expect 0 "$ORRERY" replay x.db --html x.html
    [ "$(wc -c <x.html)" -lt 2000000 ]
    lacks 'src="http\|href="http\|url(http' x.html
    grep -q "Content-Security-Policy" x.html
    [ ! -e x.html.partial ]
}

# The largest; every one with PAGES=all. Lessons: tests/web/page.mjs.
@test "the page of each shipped scenario stays below 2 MB" {
    needs_page
    names="llama3-405b-16384xh100 step/deepseek-v3-2048xh800 weeks/airesim-defaults"
    [ "${PAGES:-few}" = few ] || names=$(shipped_names)
    for name in $names; do
        "$ORRERY" run "$SCENARIOS/$name.yaml" --db x.db >out 2>err || [ $? -eq 4 ]
        expect 0 "$ORRERY" replay x.db --html x.html
        [ "$(wc -c <x.html)" -lt 2000000 ]
    done
}

@test "replay writes the same bytes twice, and takes two databases" {
    needs_page
    expect 0 "$ORRERY" run "$hello" --db x.db
    expect 0 "$ORRERY" run "$hello" --set layout.microbatch=1 --db y.db
    expect 0 "$ORRERY" replay x.db y.db --html 1.html
    expect 0 "$ORRERY" replay x.db y.db --html 2.html
    cmp 1.html 2.html
    expect 2 "$ORRERY" replay x.db y.db x.db --html 3.html
    said "one database, or two"
}

@test "replay refuses what is no database, and never writes over one" {
    needs_page
    echo hello >foreign.db
    expect 1 "$ORRERY" replay foreign.db --html x.html
    expect 1 "$ORRERY" replay missing.db --html x.html
    expect 1 "$ORRERY" replay - --html x.html
    said "name its file"
    [ ! -e x.html ]
    expect 0 "$ORRERY" run "$hello" --db x.db
    expect 2 "$ORRERY" replay x.db --html x.db
    head -c $(($(wc -c <x.db) / 2)) x.db >half.db
    expect 1 "$ORRERY" replay half.db --html x.html
    [ ! -e x.html ]
}

@test "--alone: a stranger's scenario names files beside it, and none elsewhere" {
    sed 's|^model:.*|model: {hf: /etc/passwd}|' "$hello" >outside.yaml
    expect 3 "$ORRERY" check outside.yaml --alone
    lacks "root" err out
    said "is not beside the scenario"
    sed 's|^model:.*|model: {hf: ../x/config.json}|' "$hello" >above.yaml
    expect 3 "$ORRERY" run above.yaml --alone --no-db
    said "is not beside the scenario"
    expect 0 "$ORRERY" check "$hello" --alone
}
