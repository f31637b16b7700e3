# `orrery lesson`: each lesson is played from start to end; answers are what the runs say.
load helper

lesson() { "$ORRERY" lesson "$@"; }
names() { "$ORRERY" lesson --json | jq -r '.rows[].name'; }

# small KEYS: a lesson in lesson.yaml whose section has these further lines
small() {
    printf 'name: small\nmodel: {preset: gpt2-124m}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n' >lesson.yaml
    printf 'training: {sequence: 1024, global_batch: 64}\nlayout: {microbatch: 8}\n' >>lesson.yaml
    printf 'lesson:\n  order: 1\n  shows: s\n  look_for: l\n' >>lesson.yaml
    printf '%s\n' "$@" >>lesson.yaml
}

@test "the course is listed in its order, each lesson once" {
    expect 0 lesson
    [ "$(wc -l <out)" -eq "$(find "$SCENARIOS/lessons" -name '*.yaml' | wc -l)" ]
    sed 's/\..*//' out | tr -d ' ' | sort -nc
    [ -z "$(sed 's/\..*//' out | sort | uniq -d)" ]
}

@test "a lesson by its number in the list is the lesson of that name" {
    for number in 1 6 11; do
        name=$("$ORRERY" lesson | sed -n "s/^ *$number\. \([a-z0-9-]*\) .*/\1/p")
        expect 0 lesson "$name"
        mv out by_name
        expect 0 lesson "$number"
        cmp out by_name
    done
    lesson 6 --html six.html >/dev/null 2>&1
    [ -e bubble.db ] && [ -e six.html ] # named by the lesson, not by its number
    for absent in 0 12 99999999999999999999; do
        expect 2 lesson $absent
        grep -q "there is no lesson '$absent'" err
    done
}
@test "every lesson plays, answers everything, and its captions lie within the run" {
    for name in $(names | awk -v every="${EVERY:-1}" 'NR % every == 0'); do
        expect 0 lesson "$name" --json
        jq -e '(.questions | length) >= 4 and all(.questions[]; .value != null and .text != "not known" and (.why | contains("not known") | not))' out
        jq -e '(.runs | length) >= 2 and all(.runs[]; .set != "" or .name == "")' out
        jq -e '.runs[0].step_time_s as $s | .captions | all(.at_s >= 0 and ($s == null or .at_s < $s or .at_s > 3600))' out
        expect 0 lesson "$name"
        shows "Look for"
        fits=0
        "$ORRERY" run "$SCENARIOS/lessons/$name.yaml" --no-db >/dev/null 2>&1 || fits=$?
        expect "$fits" "$ORRERY" check "$SCENARIOS/lessons/$name.yaml"
        [ "$fits" -eq 0 ] || [ "$fits" -eq 4 ]
    done
}

@test "an answer is what a run of its own says" {
    expect 0 lesson bubble --json
    mv out lesson.json
    "$ORRERY" run "$SCENARIOS/lessons/bubble.yaml" --db one.db >/dev/null 2>&1
    "$ORRERY" run "$SCENARIOS/lessons/bubble.yaml" --set layout.schedule=gpipe --db gpipe.db >/dev/null 2>&1
    [ "$(sql one.db "select printf('%.12g', bubble_ratio) from run")" = "$(jq -r '.questions[0].value' lesson.json | xargs printf '%.12g')" ]
    local a b
    a=$(sql one.db "select peak_reserved_bytes from run")
    b=$(sql gpipe.db "select peak_reserved_bytes from run")
    jq -e --argjson a "$a" --argjson b "$b" '.questions[1].value - $b / $a | fabs < 1e-12' lesson.json
    # before they are answered, the questions stand in any run's database
    [ "$(sql one.db "select count(*), count(value) from question")" = "5|0" ]
}

@test "a database holds lesson, runs and answers" {
    expect 0 lesson bubble --db x.db
    [ "$(sql x.db "select count(*) from lesson")" = 1 ]
    [ "$(sql x.db "select count(*), count(step_s) from lesson_run")" = "4|4" ]
    [ "$(sql x.db "select count(*), count(value), count(why) from question")" = "5|5|5" ]
    [ "$(sql x.db "select count(*) > 100 from slice")" = 1 ]
    expect 0 "$ORRERY" report x.db
    shows "One training step"
    expect 0 lesson bubble --no-answers
    shows "Four stages, eight microbatches"
    ! grep -q "closed form" out || false
}

@test "a lesson as a page: one file with the run, its questions and answers inside" {
    "$ORRERY" lesson bubble --html page.html 2>err || { grep -q "page" err && skip "a build without the page"; }
    [ "$(sql bubble.db "select count(value) from question")" = 5 ]
    [ "$(wc -c <page.html)" -lt 2000000 ]
    unpacked page.html | grep -q "Four stages, eight microbatches"
    expect 2 lesson bubble --html a.html --replay
    expect 2 lesson --html a.html
    said "which lesson?"
    expect 2 lesson bubble --port 80
}

@test "--set goes through the lesson and its runs" {
    expect 0 lesson bubble --set layout.microbatch=1 --json
    jq -e '.questions[0].value < 0.2' out
    expect 3 lesson bubble --set layout.pp=3
}

@test "the teacher's guide is what the lessons say now" {
    long_one
    "$BATS_TEST_DIRNAME/../../docs/generate-lessons" "$ORRERY" guide.md
    diff -u "$BATS_TEST_DIRNAME/../../docs/lessons.md" guide.md
}

@test "errors of a lesson stand in their place" {
    small '  questions:' '    - {ask: a, answer: step_tim, why: w}'
    expect 3 "$ORRERY" check lesson.yaml
    said "lesson.yaml:11:24: error: lesson.questions[0].answer: there is no column 'step_tim' in the table run"
    small '  questions:' '    - {ask: a, answer: step_s@other, why: "{step_s"}'
    expect 3 lesson lesson.yaml
    said "there is no run 'other' in this lesson"
    said "'{' without its '}'"
    small '  questions:' '    - {ask: a, answer: step_s + usable_hbm_bytes, why: w}'
    expect 3 lesson lesson.yaml
    said "s and B do not add up"
    small '  runs:' '    - {name: A, set: layout.tp=2, shows: s}' '    - {name: b, set: layout.tp, shows: s}'
    expect 3 lesson lesson.yaml
    said "lesson.runs[0].name: small letters, digits and _"
    said "lesson.runs[1].set: 'layout.tp' is not of the form KEY=VALUE"
    small '  runs:' '    - {name: b, set: layout.tp=3, shows: s}' '    - {name: b, set: layout.tp=2, shows: s}'
    expect 3 lesson lesson.yaml
    said "there is a run 'b' already"
    small '  runs:' '    - {name: b, set: layout.tp=3, shows: s}'
    expect 3 lesson lesson.yaml
    said "lesson.yaml:11:22: error: lesson.runs[0].set: "
    small '  loks_for: x'
    expect 3 lesson lesson.yaml
    said "did you mean 'look_for'"
}

@test "with --set a lesson says which of its words follow" {
    small
    expect 0 lesson lesson.yaml
    lacks "as it ships" out
    expect 0 lesson lesson.yaml --set layout.microbatch=1
    tr -s ' \n' ' ' <out | grep -q "the formulas of the answers follow; the sentences, and numbers that stand in a formula, tell of the lesson as it ships"
}

@test "what is no lesson is told" {
    expect 2 lesson buble
    said "did you mean 'bubble'?"
    expect 2 lesson "$hello"
    said "has no \`lesson:\`"
    expect 1 lesson nowhere.yaml
    small
    expect 0 lesson lesson.yaml
    shows "Lesson 1: small"
}
