# What `generalise` tells of two sources whose rows are simulated fastest, and what it notices.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    (head -1 "$STEPS"; grep ',llm_foundry,' "$STEPS" | grep ',8,8,' | head -6; grep ',vtrain,' "$STEPS" | head -6) >two-sources.csv
    (cat two-sources.csv; grep '^korthikanti22-t5-22b-' "$STEPS") >few-rows.csv # of the framework of vtrain
}

play() { # FILE NAME: the exit code of the gate is not judged on so few rows
    "$GENERALISE" "$1" --draws 2 --csv "$2.csv" --constants "$2.constants" --residues "$2.list" >"$2.txt" || [ $? -eq 1 ]
}

own() { sed -n 's/^SPREADS(\([0-9.]*\),.*/\1/p' "$1.list"; }

@test "errors by source, constants, intervals, and the list of what was measured" {
    play few-rows.csv few
    grep -q '^left out by source$' few.txt
    grep -q '^unfused bytes, nanotron and llm-foundry .* 6 ' few.txt
    grep -q '^80 % intervals of rows left out: share inside' few.txt
    grep -Eq '^  vtrain +6 +[0-9.]+ % \( *[0-9.]+ %\)' few.txt
    grep -Eq '^  all rows +14 ' few.txt
    [ "$(head -1 few.constants | cut -d, -f1,12)" = name,verdict ]
    grep -q '^SPREADS(0\.[0-9]*, ' few.list
}

@test "a source whose times are off is noticed: in its line, and in the width" {
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["source"] == "vtrain" { $at["step_time_s"] *= 2; $at["tokens_per_s_per_gpu"] /= 2 } 1' few-rows.csv >off.csv
    play few-rows.csv good
    play off.csv bad
    grep -q '^source,vtrain,6,0\.[01]' good.csv
    grep -Eq '^source,vtrain,6,0\.[45]' bad.csv
    [ "$(own good | tr -d .)" -lt "$(own bad | tr -d .)" ]
    [ "$(grep -c '^ROW("[^"]*", "llm_foundry", "mosaic", "mosaic", "[a-z0-9-]*", "[A-Z][a-z]*", "NVIDIA", "bf16", 16, 1, [0-9]*, 8, [0-9]*, 0, -\?0\.[0-9]*)$' good.list)" -eq 6 ]
}

@test "what is no file of steps, no option, no place to write: exit code 2" {
    run "$GENERALISE" "$(dirname "$STEPS")/layers.csv"
    [ "$status" -eq 2 ]
    run "$GENERALISE" two-sources.csv --draws 2
    [ "$status" -eq 2 ]
    [[ "$output" == *"two-sources.csv: no framework has dense rows of two sources, so no width is known; add such rows"* ]]
    run "$GENERALISE" few-rows.csv --draws
    [ "$status" -eq 2 ]
    run "$GENERALISE" few-rows.csv --draws 2 --csv no/such/folder
    [ "$status" -eq 2 ]
}
