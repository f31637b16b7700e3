# The pages of a plan and of a study: what they hold is what plan, study and report computed. How they look: tests/web.
load helper

needs_page() {
    "$ORRERY" run "$hello" --db page.db >/dev/null 2>&1
    "$ORRERY" replay page.db --html page.html >/dev/null 2>why || ! grep "without its page" why || skip "orrery was built without its page"
}
# page DB: its page, and the document in it as page.json.
page() {
    expect 0 "$ORRERY" replay "$1" --html page.html
    unpacked page.html | jq '.runs[0].run' >page.json
}
small=(--model llama3-8b --gpu h100-80gb-sxm --gpus 8 --global-batch 64)
mixture=(--model mixtral-8x7b --gpu h100-80gb-sxm --gpus 16 --global-batch 64 --tokens 1T --deadline 400d)
# Searches of three kinds: of a line, with a term that some miss, of several machines.
plans() {
    "$ORRERY" plan "${small[@]}" --db small.db --json >small.json 2>/dev/null
    "$ORRERY" plan "${mixture[@]}" --db mixture.db --json >mixture.json 2>/dev/null
}

@test "law: of a plan every layout is in one line of the funnel, as plan --json counts them" {
    needs_page
    plans
    for name in small mixture; do
        page $name.db
        jq -e --slurpfile told $name.json '.kind == "plan" and ($told[0] as $t | .machines[0] as $m |
            $m.searched == $t.searched and $m.tried_again == $t.tried_again and
            ([$m.groups[].count] | add) + $m.tried_again == $m.searched and
            ([$m.groups[] | select(.fate == "leader").count] | add) == ($t.layouts | length))' page.json
        # each fate, and none beside them
        jq -e --slurpfile told $name.json '(reduce .machines[0].groups[] as $g ({}; .[$g.fate] += $g.count) | del(.leader)) as $got
            | ($told[0].rejected | with_entries(select(.value > 0))) == $got' page.json
        # what is drawn of a group are its rows
        jq -e '. as $d | [.machines[0].groups[].drawn] as $drawn | [range($drawn | length)] |
            all(. as $g | ([$d.rows[] | select(.[1] == $g)] | length) == $drawn[$g])' page.json
        # rules, by the database: the last turn of each layout counts, the others were tried again
        sql $name.db "select rule || ' ' || count(*) from plan_layout where fate = 'rule' group by rule order by rule" >want
        jq -r '.machines[0].groups[] | select(.rule) | "\(.rule) \(.count)"' page.json | sort >got
        diff want got
    done
}

@test "law: leaders, steps, memory, parts and prices of the page are those of plan --json and of the database" {
    needs_page
    plans
    for name in small mixture; do
        page $name.db
        jq -e --slurpfile told $name.json '. as $d | ($d.columns | to_entries | map({(.value): .key}) | add) as $c |
            $d.machines[0].leaders as $l | $told[0].layouts as $t | ($t | length) > 0 and ($l | length) == ($t | length) and
            ([range($t | length)] | all(. as $i | $d.rows[$l[$i]] as $r | $t[$i] as $x |
                $r[$c.rank] == $x.rank and $r[$c.step_s] == $x.step_time_s and $r[$c.tokens_per_s] == $x.tokens_per_s and
                $r[$c.mfu] == $x.mfu and $r[$c.peak_bytes] == $x.peak_reserved_bytes and $r[$c.detail] == $x.detail and
                $r[$c.usd] == $x.cost_usd_per_1e9_tokens and $r[$c.pass_s] == $x.pass_step_time_s and
                ($x.breakdown | to_entries | all($r[$c[.key]] == .value))))' page.json
        # the document of plan --json stands in it whole, but for the seconds
        jq -e --slurpfile told $name.json '(.told | del(.seconds, .launch)) == ($told[0] | del(.seconds, .launch))' page.json
        # what was played: every one, and its numbers
        sql $name.db "select printf('%.12g %.12g %.0f', step_s, tokens_per_s, peak_reserved_bytes) from plan_play where fits = 1" | sort >want
        jq -r '. as $d | ($d.columns | to_entries | map({(.value): .key}) | add) as $c |
            .rows[] | select(.[$c.detail] == "op") | "\(.[$c.step_s]) \(.[$c.tokens_per_s]) \(.[$c.peak_bytes])"' page.json |
            awk '{printf "%.12g %.12g %.0f\n", $1, $2, $3}' | sort >got
        [ "$(wc -l <want)" -ge 10 ]
        diff want got
        # parts sum to the step of each that was played
        jq -e '. as $d | ($d.columns | index("compute")) as $p | ($d.columns | index("step_s")) as $s |
            [.rows[] | select(.[$p] != null) | ((.[$p:] | add) / .[$s] - 1) | fabs] | length >= 10 and max < 1e-9' page.json
    done
}

@test "the command of a layout plays it: the step and the memory that the page shows" {
    needs_page
    plans
    page small.db
    for rank in 1 3; do
        jq -r --argjson rank $rank '. as $d | ($d.columns | to_entries | map({(.value): .key}) | add) as $c |
            .machines[0] as $m | .rows[$m.leaders[$rank - 1]] as $r |
            $m.line_head + ([$r[$c.sets] | split(" ")[] | " --set layout." + .] | add) + " --db played.db" + $m.line_tail' page.json >line
        sed -i "s|^orrery |\"$ORRERY\" |" line
        expect 0 bash line
        [ "$(sql played.db "select printf('%.12g %.0f', step_s, peak_reserved_bytes) from run")" = \
            "$(jq -r --argjson i $((rank - 1)) '.layouts[$i] | "\(.step_time_s) \(.peak_reserved_bytes)"' small.json | awk '{printf "%.12g %.0f", $1, $2}')" ]
    done
}

@test "a plan of several machines: a group of layouts for each, and the first of each leads it" {
    needs_page
    expect 0 "$ORRERY" plan --model llama3-8b --global-batch 64 --gpu h100-80gb-sxm --gpus 8 --vary cluster.gpus=8,16 --db vary.db --json
    mv out told.json
    page vary.db
    jq -e --slurpfile told told.json '. as $d | (.columns | index("step_s")) as $s | (.machines | length) == 2 and
        ([range(2)] | all(. as $i | $d.machines[$i] as $m | $told[0].machines[$i] as $t | $m.searched == $t.searched and
            $m.label == ($t.values | tostring) and
            ([$m.groups[].count] | add) + $m.tried_again == $m.searched and $d.rows[$m.leaders[0]][$s] == $t.layout.step_time_s))' page.json
    expect 0 bash -c "$(jq -r '.plan_line' page.json | sed "s|^orrery |\"$ORRERY\" |") --json"
    jq -e --slurpfile told told.json '.machines == $told[0].machines' out
}

@test "large plans: thinned with words, every layout that was played is there, below 6 MB" {
    needs_page
    expect 0 "$ORRERY" plan --model mixtral-8x7b --gpu h100-80gb-sxm --gpus 2048 --global-batch 2048 --db large.db --json
    jq -e '.searched > 20000' out
    mv out told.json
    page large.db
    [ "$(wc -c <page.html)" -lt 6000000 ]
    jq -e --slurpfile told told.json '(.rows | length) < 20100 and .machines[0].searched == $told[0].searched and
        any(.machines[0].groups[]; .drawn < .count)' page.json
    [ "$(sql large.db "select count(*) from plan_play where fits = 1")" = "$(jq '(.columns | index("detail")) as $c | [.rows[] | select(.[$c] == "op")] | length' page.json)" ]
}

@test "law: of a study every point and number is that of study --json, and the report is what study printed" {
    needs_page
    cp "$SCENARIOS/studies/checkpoint-interval-study.yaml" weeks.yaml
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=2min..3h:log:7 --seeds 8 --db one.db --json
    mv out one.json
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4 --vary layout.tp=1,2,4 --db two.db --json
    mv out two.json
    for name in one two; do
        page $name.db
        jq -e --slurpfile told $name.json '.kind == "study" and .told.points == $told[0].points and .told.optimum == $told[0].optimum and
            (.places | length) == (.told.points | length) and .points == (.told.points | length) and (.told.points | length) >= 6' page.json
        # the place of each point in the grid has the values of the point
        jq -e '. as $d | [range(.places | length)] | all(. as $i | [range($d.keys | length)] | all(. as $k |
            $d.keys[$k].values[$d.places[$i][$k]].number == $d.told.points[$i].vary[$d.keys[$k].key]))' page.json
        expect 0 "$ORRERY" report $name.db
        jq -rj '.report' page.json | diff - out
    done
    page one.db
    jq -e '.keys[0].log and .keys[0].unit == "s" and .told.points[0].closed_forms.young_s > 0' page.json
}

@test "a plan or a study has a page of its own; what report refuses is refused" {
    needs_page
    plans
    expect 1 "$ORRERY" replay small.db page.db --html x.html
    said "name it alone"
    expect 1 "$ORRERY" replay page.db small.db --html x.html
    said "name it alone"
    "$ORRERY" plan "${small[@]}" --shard 1/2 --db shard.db >/dev/null 2>&1
    expect 1 "$ORRERY" replay shard.db --html x.html
    said "orrery merge"
    cp small.db other.db
    sql other.db "update meta set value = '0.0.0' where key = 'version'"
    expect 1 "$ORRERY" replay other.db --html x.html
    said "another version"
    cp small.db option.db
    sql option.db "update plan_option set word = '--nonsense' where place = 0"
    expect 1 "$ORRERY" replay option.db --html x.html
    said "plan_option"
    cp small.db negative.db
    sql negative.db "update plan_time set pass_step_s = -1"
    expect 1 "$ORRERY" replay negative.db --html x.html
    cp small.db table.db
    sql table.db "drop table plan_time"
    expect 1 "$ORRERY" replay table.db --html x.html
    [ ! -e x.html ]
}

@test "where nothing fits the page says what kept every layout out" {
    needs_page
    expect 4 "$ORRERY" plan --model llama3-70b --gpu h100-80gb-sxm --gpus 8 --global-batch 64 --db none.db
    page none.db
    jq -e '.machines[0].leaders == [] and ([.machines[0].groups[].count] | add) + .machines[0].tried_again == .machines[0].searched' page.json
}

@test "of more points than a page holds the best one is in, also where it is the last" {
    needs_page
    expect 0 "$ORRERY" study "$hello" --vary cluster.gpu.hbm_bandwidth=2TB/s..4TB/s:1100 --db wide.db
    page wide.db
    jq -e '.points == 1100 and (.places | length) == 1000 and (.places | last) == [1099] and ((.places | unique | length) == 1000)' page.json
}
