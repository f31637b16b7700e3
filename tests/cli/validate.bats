# orrery validate: files of every kind are known by their columns, hostile ones are refused.
load helper

@test "every kind of file is recognised and every row is listed" {
    for kind in layers kernels collectives memory; do
        file="$SCENARIOS/../tests/validation/$kind.csv"
        expect 0 "$ORRERY" validate "$file" --csv
        rows=$(($(wc -l <"$file") - 1))
        [ "$(tail -n +2 out | cut -d, -f1 | sort -u | wc -l)" -eq "$rows" ]
    done
}

@test "any number of threads gives the same bytes" {
    file="$SCENARIOS/../tests/validation/collectives.csv"
    expect 0 "$ORRERY" validate "$file" --json --threads 1
    mv out one
    expect 0 "$ORRERY" validate "$file" --json --threads 7
    cmp one out
}

@test "what is no file of measurements is refused with a sentence" {
    expect 3 "$ORRERY" validate missing.csv
    : >empty.csv
    expect 3 "$ORRERY" validate empty.csv
    said "is empty"
    printf 'a,b\n1,2\n' >strange.csv
    expect 3 "$ORRERY" validate strange.csv
    said "would also need"
    printf 'row_id,params,dp,zero,bytes_per_gpu\nx,1\000,1,1,16\n' >nul.csv
    expect 3 "$ORRERY" validate nul.csv
    said "control character"
    printf 'row_id,params,dp,zero,bytes_per_gpu\nx,1,1\n' >narrow.csv
    expect 3 "$ORRERY" validate narrow.csv
    said "narrow.csv:2: 3 fields"
    { printf 'row_id,params,dp,zero,bytes_per_gpu\n'; head -c 10000000 /dev/zero | tr '\0' 1; } >long.csv
    expect 3 "$ORRERY" validate long.csv
    said "longer than"
    printf 'row_id,params,dp,zero,bytes_per_gpu\n"x,1,1,1,16\n' >open.csv
    expect 3 "$ORRERY" validate open.csv
    said "does not end"
}

@test "a row that cannot be simulated is refused with its reason, and counted" {
    printf 'row_id,source,quality,params,dp,zero,bytes_per_gpu\na,s,clean,1e9,2,7,16\n' >bad.csv
    printf '"b, ""c""",s,clean,1e9,1,0,16e9\n' >>bad.csv
    expect 0 "$ORRERY" validate bad.csv --csv
    shows 'a,s,clean,bytes,,16,-1,refused: '
    shows '"b, ""c""",s,clean,bytes,16000000000,16000000000,0,'
    expect 0 "$ORRERY" validate bad.csv
    shows "refused 1"
}

@test "--where keeps the rows whose column holds one of the words" {
    printf 'row_id,source,quality,params,dp,zero,bytes_per_gpu\na,s,clean,1e9,2,0,16e9\nb,s,clean,1e9,2,1,10e9\nc,s,clean,1e9,2,10,10e9\n' >three.csv
    expect 0 "$ORRERY" validate three.csv --where zero=1,0 --csv
    [ "$(grep -c '^[abc],' out)" = 2 ]
    expect 0 "$ORRERY" validate three.csv --where zero=1 --csv
    [ "$(grep '^[abc],' out | cut -d, -f1)" = b ]
    expect 3 "$ORRERY" validate three.csv --where zerro=1
    said "no column 'zerro'"
    expect 3 "$ORRERY" validate three.csv --where zero=
    said "COLUMN=WORD"
    expect 3 "$ORRERY" validate three.csv --where zero=5
    said "no rows where zero=5"
}

@test "a picture: whole or not at all, of the clean rows, the same for any number of threads" {
    file=$(realpath "$BATS_TEST_DIRNAME/../validation/layers.csv")
    expect 0 "$ORRERY" validate "$file" --where quality=clean --svg a.svg --threads 1
    expect 0 "$ORRERY" validate "$file" --csv --svg b.svg --threads 5
    cmp a.svg b.svg
    head -c 4 a.svg | grep -qx '<svg'
    tail -c 7 a.svg | grep -qx '</svg>'
    [ "$(grep -c '<circle' a.svg)" -eq 10 ]
    expect 1 "$ORRERY" validate "$file" --svg missing/a.svg
    said "missing/a.svg"
    mkdir full && cd full
    got=0
    (ulimit -f 1; exec "$ORRERY" validate "$file" --json --svg a.svg >/dev/null 2>&1) || got=$?
    [ "$got" -eq 1 ]
    [ -z "$(ls)" ]
}

@test "the page of fidelity: a table, worst rows with their causes, a picture" {
    generate="$BATS_TEST_DIRNAME/../../docs/generate-validation"
    "$generate" "$ORRERY" "$PWD/page.md" kernels layers
    grep -q '^| kernels | azure | rate | 29 |' page.md
    [ "$(sed -n '/^## kernels.csv/,/^## layers.csv/p' page.md | grep -c '^| `')" -eq 10 ]
    anchor=$(sed -n 's/.*](#\([a-z0-9-]*\)) |$/\1/p' page.md | head -1)
    grep '^### ' page.md | tr 'A-Z ' 'a-z-' | grep -qx -- "###-$anchor"
    head -c 4 validation-layers.svg | grep -qx '<svg'
}

@test "validate --uncertainty: coverage of the intervals by source; steps alone" {
    (head -1 "$SCENARIOS/../tests/validation/steps.csv"; grep ',vtrain,' "$SCENARIOS/../tests/validation/steps.csv" | head -6) >few.csv
    expect 0 "$ORRERY" validate few.csv --uncertainty 3 --worst 0
    shows "80 % intervals: figures of the catalogue (3 draws)"
    shows "own error by these rows"
    "$ORRERY" validate few.csv --uncertainty 3 --threads 1 --json >a.json
    "$ORRERY" validate few.csv --uncertainty 3 --threads 4 --json >b.json
    cmp a.json b.json
    [ "$(sql :memory: "select json_extract(readfile('a.json'), '\$.uncertainty.coverage') between 0 and 1")" = 1 ]
    expect 3 "$ORRERY" validate "$SCENARIOS/../tests/validation/layers.csv" --uncertainty 3
    said "intervals are of training steps"
    expect 2 "$ORRERY" validate few.csv --uncertainty=100000
}
