# orrery validate: files of every kind are known by their columns, hostile ones are refused.
load helper

@test "every kind of file is recognised and every row is listed" {
    for kind in layers kernels operators collectives memory; do
        file="$SCENARIOS/../tests/validation/$kind.csv"
        expect 0 "$ORRERY" validate "$file" --csv
        rows=$(($(wc -l <"$file") - 1))
        [ "$(tail -n +2 out | cut -d, -f1 | sort -u | wc -l)" -eq "$rows" ]
    done
}

@test "the detail of steps is told; others have none" {
    head -n 1 "$SCENARIOS/../tests/validation/steps.csv" >one.csv
    grep '^vtrain' "$SCENARIOS/../tests/validation/steps.csv" | head -n 1 >>one.csv
    expect 0 "$ORRERY" validate one.csv --json
    shows '"detail": "op"'
    expect 0 "$ORRERY" validate one.csv --json --detail pass
    shows '"detail": "pass"'
    expect 0 "$ORRERY" validate one.csv --detail=pass
    shows "timed at pass detail"
    expect 2 "$ORRERY" validate one.csv --detail pass --uncertainty
    said "op by op"
    expect 2 "$ORRERY" validate one.csv --detail flow
    expect 3 "$ORRERY" validate "$SCENARIOS/../tests/validation/layers.csv" --detail pass
    said "whole steps"
}

@test "a step is measured as seconds, or as the tokens of a GPU in each of them" {
    python3 - "$SCENARIOS/../tests/validation/steps.csv" <<'PY'
import csv, sys
rows = csv.DictReader(open(sys.argv[1]))
row = next(r for r in rows if r["step_time_s"] and r["source"] == "vtrain")
per_s = int(row["global_batch"]) * int(row["seq_len"]) / (int(row["gpus"]) * float(row["step_time_s"]))
with open("both.csv", "w", newline="") as file:
    out = csv.DictWriter(file, rows.fieldnames)
    out.writeheader()
    out.writerow(row | {"row_id": "seconds", "tokens_per_s_per_gpu": ""})
    out.writerow(row | {"row_id": "tokens", "step_time_s": "", "tokens_per_s_per_gpu": per_s})
PY
    expect 0 "$ORRERY" validate both.csv --csv
    python3 - <<'PY'
import csv
rows = [r for r in csv.DictReader(open("out")) if r["metric"] == "step_time"]
(a, b) = (float(r["measured"]) for r in rows)
assert {r["row_id"] for r in rows} == {"seconds", "tokens"} and abs(a / b - 1) < 1e-6, rows
PY
}

@test "a catalogue of the one card that a row is of says what the whole one says" {
    cp -r "$SCENARIOS/catalogue" one
    awk '/^[a-z0-9]/ {kept = /^h100-80gb-sxm:/} kept' "$SCENARIOS/catalogue/gpus.yaml" >one/gpus.yaml
    [ "$(grep -c '^[a-z0-9]' one/gpus.yaml)" -eq 1 ]
    steps="$SCENARIOS/../tests/validation/steps.csv"
    head -n 1 "$steps" >one.csv
    grep ',h100-80gb-sxm,8,' "$steps" | head -n 1 >>one.csv
    expect 0 "$ORRERY" validate one.csv --csv
    mv out whole
    expect 0 "$ORRERY" validate one.csv --csv --catalogue one
    cmp out whole
}

@test "the summary of operators has a row for every card that a product was measured on" {
    operators="$SCENARIOS/../tests/validation/operators.csv"
    expect 0 "$ORRERY" validate "$operators"
    cards=$(awk -F, '$5 == "gemm" {print $6}' "$operators" | sort -u)
    [ "$(wc -w <<<"$cards")" -gt 1 ]
    for card in $cards; do grep -q "^gemm  *$card  *[a-z ]*[0-9]" out; done
}

@test "options that say nothing to what is asked are refused at once" {
    layers="$SCENARIOS/../tests/validation/layers.csv"
    for with in "--csv --json" "--csv --uncertainty" "--csv --worst 3" "--json --worst 3" "--explain x --csv" \
        "--explain x --json" "--explain x --svg x.svg" "--explain x --worst 3" "--explain x --uncertainty"; do
        # shellcheck disable=SC2086
        expect 2 "$ORRERY" validate "$layers" $with
        [ ! -s out ]
    done
    expect 3 "$ORRERY" validate "$layers" --uncertainty
    said "intervals are of training steps, not of layers"
    [ ! -s out ]
    expect 2 "$ORRERY" compare "$hello" --trace t.json --csv --json
    said "--csv or --json, not both"
}

@test "any number of threads gives the same bytes" {
    file="$SCENARIOS/../tests/validation/collectives.csv"
    expect 0 "$ORRERY" validate "$file" --json --threads 1
    mv out one
    expect 0 "$ORRERY" validate "$file" --json --threads 7
    cmp one out
}

@test "a quarter of the shapes of operators is kept aside, whichever card and product they are of" {
    head -n 1 "$SCENARIOS/../tests/validation/operators.csv" >shapes.csv
    for i in $(seq 1 400); do
        echo "a$i,s,clean,,gemm,b200-180gb-sxm,bf16,bf16,TN,0,1,,$((i * 8)),512,4096,,,,,,,,1e-4"
        echo "b$i,s,clean,,gemm,a100-80gb-pcie,bf16,bf16,NT,0,1,,4096,$((i * 8)),512,,,,,,,,1e-4"
    done >>shapes.csv
    expect 0 "$ORRERY" validate shapes.csv --worst 0
    aside=$(awk '$1 == "gemm" && $2 == "b200-180gb-sxm" && $3 == "kept" {print $5}' out)
    [ "$aside" -ge 80 ] && [ "$aside" -le 120 ] # 100, and 2.3 standard deviations
    [ "$(awk '$1 == "gemm" && $2 == "a100-80gb-pcie" && $3 == "kept" {print $5}' out)" = "$aside" ]
    [ "$(awk '$1 == "gemm" && $2 == "b200-180gb-sxm" && $3 == "others" {print $4}' out)" = $((400 - aside)) ]
}

@test "what is no file of measurements is refused with a sentence" {
    expect 1 "$ORRERY" validate missing.csv
    said "missing.csv: No such file"
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
    shows 'a,s,clean,bytes,,16,,refused: '
    shows '"b, ""c""",s,clean,bytes,16000000000,16000000000,0,'
    expect 0 "$ORRERY" validate bad.csv
    shows "s                  refused 1 of 2 rows: cells (1)"
    expect 0 "$ORRERY" validate bad.csv --json
    shows '"refused_for": "cells"'
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.sources.s.refused_for.cells')")" = 1 ]
}

@test "a row that nothing was measured of is none that fits; a time in other units is told" {
    # three rows of one source: without a measurement, in milliseconds, and a thousandth of it
    validation="$SCENARIOS/../tests/validation"
    head -1 "$validation/steps.csv" >head
    grep '^dgxc-v25.02.02-llama3-70b-bf16-64,' "$validation/steps.csv" >row
    { cat head; cat row; awk -F, -v OFS=, '{$1 = "none"; $4 = $6 = $7 = $8 = $9 = ""; print}' row; } >none.csv
    expect 0 "$ORRERY" validate none.csv
    shows "nothing measured"
    shows "1 true to fit, 0 false"
    { cat head; awk -F, -v OFS=, '{$6 *= 1000; $7 = ""; print}' row; } >ms.csv
    expect 0 "$ORRERY" validate ms.csv
    shows "MFU 0.054"
    shows "as measured: is it in seconds?"
    { cat head; cat row; awk -F, -v OFS=, '{$1 = "us"; $6 /= 1000; $7 = ""; print}' row; } >us.csv
    expect 0 "$ORRERY" validate us.csv
    shows "refused: a step of 0.01461 s is an MFU of 5.4"
    shows "refused 1 of 2 rows: cells (1)"
}

@test "where everything is refused no figure is printed" {
    steps="$SCENARIOS/../tests/validation/steps.csv"
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
        $at["source"] == "vtrain" { $at["gpu"] = "abacus"; print }' "$steps" >none.csv
    expect 0 "$ORRERY" validate none.csv --worst 0
    shows "refused 41 of 41 rows: hardware (41)"
    lacks 'nan\|[0-9][.][0-9] %\|groups\|out of memory' out
}

@test "a transfer between two GPUs is timed as \`orrery collective --op send\` times it" {
    header=$(head -1 "$SCENARIOS/../tests/validation/collectives.csv")
    printf '%s\n%s\n%s\n' "$header" 'a,s,clean,,p2p,h100-80gb-sxm,2,8,none,,1048576,1e-5,,' \
        'b,s,clean,,p2p,h100-80gb-sxm,3,8,none,,1048576,1e-5,,' >two.csv
    expect 0 "$ORRERY" validate two.csv --csv
    time_s=$("$ORRERY" collective --op send --gpus 2 --min 1MiB --max 1MiB --json | sed -n 's/.*"time_s": \([^,]*\),*$/\1/p' | sed 's/e-\([0-9]\)$/e-0\1/')
    shows "a,s,clean,time,$time_s,"
    shows "b,s,clean,time,,1.0000000000000001e-05,,refused: p2p takes two GPUs"
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
    python3 "$BATS_TEST_DIRNAME/svg_marks.py" a.svg >marks
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
    grep -q '^| kernels | azure | rate | 43 |' page.md
    [ "$(sed -n '/^## kernels.csv/,/^## layers.csv/p' page.md | grep -c '^| `')" -eq 10 ]
    anchor=$(sed -n 's/.*](#\([a-z0-9-]*\)) |$/\1/p' page.md | head -1)
    grep '^### ' page.md | tr 'A-Z ' 'a-z-' | grep -qx -- "###-$anchor"
    head -c 4 validation-layers.svg | grep -qx '<svg'
}

# The step time of a row as validate has it is that of `orrery run` on what --explain prints.
same_step_time() { # FILE ROW
    expect 0 "$ORRERY" validate "$1" --explain "$2"
    mv out row.yaml
    "$ORRERY" validate "$1" --where row_id="$2" --csv | awk -F, '$4 == "step_time" { print $5 }' >wanted
    "$ORRERY" run row.yaml --no-db --json | sed -n 's/^  "step_time_s": \(.*\),$/\1/p' >is
    [ -s is ] && cmp is wanted || { echo "$2"; cat is wanted row.yaml; return 1; }
    "$ORRERY" run - --no-db --json <row.yaml | grep -q '^  "step_time_s": '"$(cat wanted),"
}

@test "--explain prints the scenario of a step, which gives the same step time" {
    steps="$SCENARIOS/../tests/validation/steps.csv"
    for row in vtrain-multi-0027 korthikanti22-t5-22b-sel-sp sc21-t2-zero-3-174.6b-1536gpu \
        mosaic-r4-30b-2048-512-h100-80gb-mb8 dgxc-v25.02.02-llama3-70b-bf16-64 \
        nanotron-3.57b-dp4-tp1-pp2-ga32-mb2-zero1; do
        same_step_time "$steps" "$row"
        # Every key says where its value is from, and none is anything else.
        [ "$(grep -cvE '^#|^ *[a-z_]+:$|  # (columns? |chosen: |software profile |catalogue: )' row.yaml)" = 0 ]
    done
    grep -q 'heads: .*# column heads, assumed by the source$' row.yaml
}

@test "a row of other nodes than the card's usual ones has the catalogue's of that size" {
    steps="$SCENARIOS/../tests/validation/steps.csv"
    same_step_time "$steps" rapidllm-uci-ddp-tp2-pp1-cp1-dp2
    grep -q '^    name: pcie-4x-a100-bridged *# chosen: the node of the catalogue with as many of these cards$' row.yaml
    grep -q '^    gpus: 4 *# column gpus_per_node$' row.yaml
    expect 0 "$ORRERY" validate "$steps" --explain "$(grep -m1 -o '^[^,]*gb200[^,]*' "$steps")"
    shows 'chosen: an NVLink domain; column gpus_per_node counts its chassis'
}

@test "a row of a mixture takes latent attention from the catalogue's model of its shape" {
    steps="$SCENARIOS/../tests/validation/steps.csv"
    same_step_time "$steps" simumax-deepseekv2-tp1-ep8-pp1-dp8-l4-mbc4-cef
    grep -q '^  preset: deepseek-v2-236b *# chosen: of this shape; it says what no column does$' row.yaml
    grep -q '^  layers: 4 ' row.yaml
    [ "$(grep -c '^  head_size:' row.yaml)" = 0 ] # columns have one size of heads
    # Any other shape is the row's own, as dense ones are.
    sed 's/,160,6,1536,2,1,4096,/,160,6,1600,2,1,4096,/' "$steps" >other.csv
    "$ORRERY" validate other.csv --explain simumax-deepseekv2-tp1-ep8-pp1-dp8-l4-mbc4-cef >row.yaml
    grep -q '^  moe_ffn_hidden: 1600 ' row.yaml
    [ "$(grep -c '^  preset:' row.yaml)" = 0 ]
    "$ORRERY" validate "$steps" --explain simumax-llama3-70b-tp2-pp1-dp4-l12-mbc8-cef >row.yaml
    [ "$(grep -c '^  preset:' row.yaml)" = 0 ]
}

@test "every cell of a row is in the scenario that it becomes" {
    head -1 "$BATS_TEST_DIRNAME/../validation/steps.csv" >cells.csv
    {
        declare -A cell=([row_id]=cells [source]=hand [cite]=none [outcome]=ok [quality]=clean [step_time_s]=1 [model]=own
            [layers]=12 [hidden]=640 [heads]=10 [kv_heads]=5 [head_dim]=80 [ffn_hidden]=1792 [ffn]=swiglu [vocab]=50048
            [tied_embeddings]=1 [positions]=rope [seq_len]=768 [gpu]=a100-80gb-sxm [gpus]=16 [gpus_per_node]=8
            [fabric]=ib-hdr-8x200 [tp]=2 [pp]=2 [dp]=4 [cp]=1 [vpp]=3 [zero]=1 [sequence_parallel]=0 [microbatch]=3
            [global_batch]=48 [recompute]=full [attention]=flash2 [precision]=fp16 [grad_bytes]=4 [schedule]=interleaved
            [software]=megatron)
        tr , '\n' <cells.csv | while read -r column; do echo "${cell[$column]:-}"; done | paste -sd, -
    } >>cells.csv
    expect 0 "$ORRERY" validate cells.csv --explain cells
    while read -r key column; do
        grep -Eq "^ *$key +# column $column" out || { echo "no $key of column $column"; cat out; return 1; }
    done <<'SAID'
layers:.12 layers
hidden:.640 hidden
heads:.10 heads
kv_heads:.5 kv_heads
head_size:.80 head_dim
ffn_hidden:.1792 ffn_hidden
vocabulary:.50048 vocab
ffn:.swiglu ffn
position:.rope positions
tied_embeddings:.true tied_embeddings
sequence:.768 seq_len
global_batch:.48 global_batch
attention:.flash2 attention
precision:.fp16 precision
gradient_bytes:.4 grad_bytes
schedule:.interleaved schedule
recompute:.full recompute
sequence_parallel:.false sequence_parallel
sharding:.zero-1 zero
tp:.2 tp
pp:.2 pp
dp:.4 dp
cp:.1 cp
vpp:.3 vpp
microbatch:.3 microbatch
profile:.megatron software
SAID
}

@test "--explain of the other kinds: a scenario, or that there is none; a wrong name is met with the nearest" {
    data="$SCENARIOS/../tests/validation"
    expect 0 "$ORRERY" validate "$data/layers.csv" --explain korthikanti22-t4-seq-parallel
    shows '  layers: 8  '
    "$ORRERY" run - --no-db --json <out >/dev/null
    # Without profiled passes the step of a pipeline is the scenario's.
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 { $at["t_f_s"] = $at["t_b_s"] = "" } { print }' "$data/pipeline.csv" >bare.csv
    same_step_time bare.csv zb-gpt-1.5b-p8-m24-b6-interleaved
    grep -q 'pp: 8 .*# column stages$' row.yaml
    sed 's/,zb-h1,/,zb-h9,/' "$data/pipeline.csv" >unknown.csv
    expect 0 "$ORRERY" validate unknown.csv --explain zb-gpt-1.5b-p8-m24-b6-zb-h1
    shows '# no scenario: the row was refused before there was one'
    for kind in collectives kernels operators memory; do
        row=$(sed -n 2p "$data/$kind.csv" | cut -d, -f1)
        expect 0 "$ORRERY" validate "$data/$kind.csv" --explain "$row"
        shows "# no scenario: "
        shows "#   row_id: $row"
        [ "$(grep -cv '^# ' out)" = 0 ]
    done
    expect 3 "$ORRERY" validate "$data/layers.csv" --explain korthikanti22-t4-seq-paralel
    said "did you mean 'korthikanti22-t4-seq-parallel'?"
    expect 2 "$ORRERY" validate "$data/layers.csv" --explain x --csv
}

# What the document says of intervals, in the words of the report.
from_json() {
    sql :memory: <<'SQL'
create table u as select json_extract(readfile('a.json'), '$.uncertainty') as j;
create table p as select replace(fullkey, '"', '') as name, atom as value, printf('%.1f %%', 100 * atom) as percent
    from u, json_tree(j);
create table s as select key, '$.sources.' || key || '.' as at from u, json_each(j, '$.sources');
select printf('80 %% intervals: figures of the catalogue (%d draws) and the model''s own error, as if the source', d.value)
    from p d, p q where d.name = '$.draws' and q.name = '$.probability' and q.value = 0.8;
select printf('%-18s %6d %9s %10s %9s %12s %9s', key, r.value, f.percent, m.percent, c.percent, o.percent, e.percent)
    from s, p r, p f, p m, p c, p o, p e where r.name = at || 'rows' and f.name = at || 'log_spread_of_constants'
    and m.name = at || 'log_spread_of_model' and c.name = at || 'coverage'
    and o.name = at || 'log_spread_elsewhere' and e.name = at || 'coverage_elsewhere';
select printf('%-18s %6d %9s %10s %9s', 'mean of sources', (select count(*) from s), '', '', percent) from p where name = '$.coverage';
select printf('own error by these rows: %s; %s of its variance shared by layouts of one model on one machine', o.percent, v.percent)
    from p o, p v where o.name = '$.log_spread_by_these_rows' and v.name = '$.shared_ratio_by_these_rows';
select printf('%d pairs of layouts in 1 group: %d ties; of %d others the one called faster was so in %s', n.value, t.value, d.value, r.percent)
    from p n, p t, p d, p r where n.name = '$.pairs' and t.name = '$.ties' and d.name = '$.decided' and r.name = '$.decided_right_ratio';
select printf('(called with %s in the mean)', c.percent)
    from p c where c.name = '$.decided_probability';
SQL
}

@test "validate --uncertainty: coverage of the intervals by source; steps alone" {
    steps="$SCENARIOS/../tests/validation/steps.csv"
    (head -1 "$steps"; grep ',vtrain,' "$steps" | head -6; grep ',megatron_sc21,' "$steps" | head -3) >few.csv
    expect 0 "$ORRERY" validate few.csv --uncertainty 3 --worst 0
    [ -z "$(tail -c 1 out)" ] # its last line ends
    shows "80 % intervals: figures of the catalogue (3 draws)"
    shows "own error by these rows"
    mv out report
    "$ORRERY" validate few.csv --uncertainty 3 --threads 1 --json >a.json
    "$ORRERY" validate few.csv --uncertainty 3 --threads 4 --json >b.json
    cmp a.json b.json
    [ "$(sql :memory: "select json_extract(readfile('a.json'), '\$.uncertainty.coverage') between 0 and 1")" = 1 ]
    [ "$(grep -c '^vtrain\|^megatron_sc21' report)" -ge 4 ]
    from_json >from_json
    while IFS= read -r line; do
        grep -qxF -- "$line" report || { echo "the report lacks: $line"; cat report; return 1; }
    done <from_json
    [ "$(wc -l <from_json)" = 7 ]
    expect 3 "$ORRERY" validate "$SCENARIOS/../tests/validation/layers.csv" --uncertainty 3
    said "intervals are of training steps"
    expect 2 "$ORRERY" validate few.csv --uncertainty=100000
}

@test "a fact that the source states goes before its column; one without a key is counted; a wrong key and a broken list are refused" {
    steps="$BATS_TEST_DIRNAME/../validation/steps.csv"
    stated() { # FACTS
        awk -F, -v OFS=, -v facts="$1" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; print; next}
            $at["source"] == "dgxc" && $at["gpus"] == 64 && $at["pp"] > 1 && !n++ {
                $at["row_id"] = "said"; $at["recompute"] = "none"; $at["stated"] = facts; print}' "$steps" >said.csv
    }
    stated 'layout.recompute=full;software.bucket=75MB;software.vboost=1'
    expect 0 "$ORRERY" validate said.csv --explain said
    grep -Eq '^  recompute: full +# column stated$' out
    grep -Eq '^  bucket: 75MB +# column stated$' out
    [ "$(grep -c 'recompute:' out)" = 1 ]
    shows "# column stated, without a key here: software.vboost=1"
    cp out said.yaml
    expect 0 "$ORRERY" check said.yaml
    "$ORRERY" validate said.csv --json >with.json
    expect 0 "$ORRERY" validate said.csv
    shows "stated, without a key of the scenario language: software.vboost (1) (rows)"
    stated 'software.cuda_graph=full'
    expect 0 "$ORRERY" validate said.csv
    shows "refused: column stated: software.cuda_graph: no key 'cuda_graph'; did you mean 'cuda_graphs'?"
    shows "refused 1 of 1 row: cells (1)"
    lacks "without a key of the scenario" out
    stated ''
    "$ORRERY" validate said.csv --json >without.json
    slower="select json_extract(readfile('with.json'), '\$.rows[0].predicted') > 1.1 * json_extract(readfile('without.json'), '\$.rows[0].predicted')"
    [ "$(sql :memory: "$slower")" = 1 ]
    for broken in 'layout.recompute' 'recompute=full' 'layout.recompute=' 'layout.recompute=a b' 'layout.recompute=full;layout.recompute=none' \
        'layout.recompute=full]' ';;' "$(seq -s ';' -f 'software.fact%g=1' 40)"; do
        stated "$broken"
        expect 0 "$ORRERY" validate said.csv
        grep -q 'refused' out
        grep -q 'stated' out
    done
}

@test "what a row does not say is left to the door, as in any scenario" {
    awk -F, -v OFS=, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; print; next}
        $at["source"] == "dgxc" && $at["gpus"] == 64 && !n++ {
            $at["row_id"] = "open"; $at["recompute"] = $at["microbatch"] = $at["zero"] = $at["attention"] = $at["sequence_parallel"] = $at["stated"] = ""; print}' \
        "$BATS_TEST_DIRNAME/../validation/steps.csv" >open.csv
    expect 0 "$ORRERY" validate open.csv --explain open
    for line in 'recompute: least .*# chosen: column recompute is empty' 'microbatch: best .*# chosen: column microbatch is empty' \
        'sequence_parallel: auto .*# chosen: column sequence_parallel is empty' \
        'sharding: auto .*# chosen: column zero is empty' 'attention: auto .*# chosen: column attention is empty'; do
        grep -q "$line" out
    done
    cp out open.yaml
    expect 0 "$ORRERY" check open.yaml
    grep -q 'chosen.*training.attention: cudnn' out
    grep -q 'layout.recompute: none (it fits without)' out
    grep -Eq 'layout.microbatch: [0-9]+ \(fastest of [0-9]+ that fit with 3 % of memory to spare\)' out
}

@test "the page of CUDA graphs gives the errors of the program" {
    page="$BATS_TEST_DIRNAME/../../docs/models/graphs.md"
    expect 0 "$ORRERY" validate "$BATS_TEST_DIRNAME/../validation/steps.csv" --where model=Llama-3.1-8B --source mlperf_training --csv
    of() { awk -F, -v row="$1" '$1 == row && $4 == "step_time" {printf "%.1f", 100 * $7}' out; }
    told="Llama 3.1 8B on 512 GB200 $(of mlperf-v5.1-tyche_512-llama-3.1-8b) % slow and on 72 $(of mlperf-v5.1-tyche_72-llama-3.1-8b) % slow"
    tr '\n' ' ' <"$page" | grep -qF "$told" || { echo "$page lacks: $told"; return 1; }
}
