# Every report with figures of announced hardware names it, in text and in JSON; of hardware that is
# sold none does.
load helper

# A bare `! grep` fails no test.
none() { if grep -q "$@"; then return 1; fi; }

setup()
{
    cd "$BATS_TEST_TMPDIR"
    cat >new.yaml <<'EOF'
model: llama3-8b
training: {sequence: 4096, global_batch: 64}
cluster: {gpu: vr200-288gb, gpus: 8}
EOF
    sed 's/vr200-288gb/b200-180gb-sxm/' new.yaml >sold.yaml
    "$ORRERY" run new.yaml --db new.db >run.txt 2>/dev/null
    "$ORRERY" run sold.yaml --db sold.db >/dev/null 2>&1
}

# The reports: their words, but for the file and what comes after it.
reports()
{
    cat <<'EOF'
run @.yaml --no-db
run @.yaml --no-db --uncertainty 4
report @.db
memory @.yaml
plan @.yaml --top 1
plan @.yaml --vary cluster.gpus=8,16 --top 1
study @.yaml --vary training.global_batch=64,128 --no-db
explain @.db
explain @.yaml --walls
compare @.yaml @.yaml
EOF
}

@test "every report names announced hardware, none names what is sold" {
    while read -r line; do
        for form in "" --json; do
            "$ORRERY" ${line//@/new} $form >new.out 2>/dev/null
            "$ORRERY" ${line//@/sold} $form >sold.out 2>/dev/null
            tr -s ' \n' ' ' <new.out | grep -q "vr200-288gb and vr200-nvl72 are announced: nothing was measured on them" ||
                { echo "silent: $line $form"; cat new.out; false; }
            ! grep -q "announced:" sold.out || { echo "of what is sold: $line"; false; }
            [ -z "$form" ] || grep -q '"announced": true' new.out || { echo "no flag: $line"; false; }
            [ -z "$form" ] || ! grep -q '"announced": true' sold.out || { echo "flag: $line"; false; }
        done
    done < <(reports)
}

@test "a database, a check, a CSV and a table of collectives name it" {
    [ "$(sqlite3 new.db 'select announced from run')" = 1 ]
    [ "$(sqlite3 sold.db 'select announced from run')" = 0 ]
    sqlite3 new.db 'select announced_words from run' | grep -q "vr200-nvl72 are announced"
    "$ORRERY" check new.yaml 2>&1 | grep -q "warning: cluster.gpu: vr200-288gb and vr200-nvl72 are announced"
    "$ORRERY" study sold.yaml --vary cluster.gpu=b200-180gb-sxm,vr200-288gb --no-db --csv >study.csv 2>/dev/null
    head -1 study.csv | grep -q "fits,announced,"
    grep -q "^b200-180gb-sxm,1,yes,no," study.csv
    grep -q "^vr200-288gb,1,yes,yes," study.csv
    "$ORRERY" study sold.yaml --vary training.global_batch=64,128 --no-db --csv 2>/dev/null | head -1 >plain.csv
    none announced plain.csv
    "$ORRERY" collective --gpu vr200-288gb --gpus 8 --min 1GiB --max 1GiB | grep -q "announced: vr200-288gb"
    "$ORRERY" collective --gpus 8 --min 1GiB --max 1GiB >sold.out
    none announced: sold.out
}

@test "collective: of a fabric only where its GPUs do not fit one node" {
    for fabric in $("$ORRERY" list fabrics | awk '/as announced/ { print $1 }'); do
        "$ORRERY" collective --gpus 8 --fabric "$fabric" --max 8 >out 2>err
        none announced out
        none announced err
        "$ORRERY" collective --gpus 9 --fabric "$fabric" --max 8 >out 2>err
        grep -q "^# announced: $fabric is announced" out
        grep -q "warning: cluster.fabric: $fabric is announced" err
        "$ORRERY" collective --gpu vr200-288gb --gpus 8 --fabric "$fabric" --max 8 2>err >out
        grep -q "warning: cluster.gpu: vr200-288gb" err
        none "warning: .*$fabric" err
    done
    [ -n "$fabric" ]
    "$ORRERY" collective --gpus 8 --fabric "$fabric" --max 8 >one 2>/dev/null
    "$ORRERY" collective --gpus 8 --max 8 2>/dev/null | cmp - one
}

@test "of several machines each that is announced is named" {
    "$ORRERY" plan sold.yaml --vary cluster.gpu=b200-180gb-sxm,vr200-288gb --top 1 2>/dev/null >plan.txt
    grep -q "^  vr200-288gb: vr200-288gb and vr200-nvl72 are announced" plan.txt
    none "^  b200-180gb-sxm: " plan.txt
    "$ORRERY" compare sold.yaml new.yaml 2>/dev/null >compare.txt
    [ "$(grep -c 'are announced: nothing was measured' compare.txt)" -ge 1 ]
    sed -n '3p' compare.txt | grep -q "^  announced vr200-288gb"
}

@test "who has measured it may say so: no word is left" {
    "$ORRERY" run new.yaml --no-db --set cluster.gpu.name=vr200-288gb --set cluster.gpu.announced_error=0 \
        --set cluster.node.name=vr200-nvl72 --set cluster.node.announced_error=0 >out.txt 2>err.txt
    none "re announced\|s announced\|^  announced" out.txt err.txt
}
