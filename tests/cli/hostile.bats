# What a hostile user gives: numbers beyond every machine, odd files, races, kills.
load helper

# Refused with a sentence and code 3, at once.
refused() {
    expect 3 timeout 20 "$ORRERY" run "$hello" --no-db "$@"
    [ -s err ]
}

@test "numbers beyond every machine are refused at the door" {
    refused --set model.layers=1000000000
    refused --set cluster.nodes=1M --set cluster.fabric=ib-ndr-8x400
    refused --set training.global_batch=99999992
    refused --set cluster.nodes=1e400
    refused --set cluster.nodes=-1
    refused --set training.sequence=0
    refused --set model.layers=9223372036854775808
}

@test "a step of centuries is refused with its length" {
    refused --set 'cluster.node={name: dgx-h100, nvlink_bandwidth: 1e-9B/s}'
    said "years"
}

@test "more ops than can be played one by one: refused; folded it runs" {
    many=(--set cluster.nodes=512 --set cluster.fabric=ib-ndr-8x400
        --set training.global_batch=12288000 --set layout.microbatch=1)
    expect 0 "$ORRERY" run "$hello" --no-db "${many[@]}"
    refused "${many[@]}" --unfold
    said "4096 ranks"
    refused "${many[@]}" --set perturbations.jitter=1%
}

@test "memory: a job that fits nowhere is answered" {
    cat >long.yaml <<EOF
model: {layers: 24, hidden: 8192, heads: 64, vocabulary: 32k}
cluster: {gpu: h100-80gb-sxm, node: dgx-h100}
training: {sequence: 16M, global_batch: 8}
EOF
    expect 4 timeout 60 "$ORRERY" memory long.yaml
    shows "exact ledger"
}

@test "a pipe, a device, links: read or refused, never waited for in vain" {
    mkfifo pipe
    cat "$hello" >pipe &
    expect 0 timeout 20 "$ORRERY" check pipe
    expect 3 timeout 20 "$ORRERY" check /dev/zero
    expect 3 timeout 20 "$ORRERY" check /dev/null
    ln -s loop loop
    expect 1 "$ORRERY" check loop
    ln -s "$hello" hello.yaml
    expect 0 "$ORRERY" check hello.yaml
}

@test "things in the way of the database are not followed or replaced" {
    mkfifo pipe
    mkdir b.db.partial
    echo thesis >thesis
    ln -s thesis c.db.partial
    for name in pipe . /dev/null b.db c.db none/d.db; do
        expect 1 timeout 20 "$ORRERY" run "$hello" --db "$name"
        said "${name%.db}"
    done
    [ "$(cat thesis)" = thesis ]
    [ -p pipe ]
}

@test "names with a newline and dots; no environment; the C locale" {
    cp "$hello" $'new\nline.yaml'
    expect 0 "$ORRERY" run $'new\nline.yaml'
    [ -f $'new\nline.db' ]
    cp "$hello" .yaml
    expect 0 "$ORRERY" run .yaml
    [ -f .yaml.db ]
    expect 0 env -i "$ORRERY" run "$hello" --no-db
    cp out plain
    expect 0 env -i LANG=C LC_ALL=C "$ORRERY" run "$hello" --no-db
    cmp out plain
}

@test "two at once on one database: one writes, the other says so, and the file is whole" {
    for _ in 1 2 3; do
        rm -f a.db* codes
        for _ in 1 2 3; do
            { code=0; "$ORRERY" run "$hello" --db a.db --detail kernel >/dev/null 2>>err ||
                code=$?; echo "$code" >>codes; } &
        done
        wait
        grep -q 0 codes
        lacks '[^01]' codes
        [ "$(sql a.db "pragma integrity_check")" = ok ]
        [ "$(sql a.db "select value from meta where key = 'complete'")" = 1 ]
        [ ! -e a.db.partial ]
    done
}

# Between its commit and its renaming a partial file is complete and says so; then it has all rows.
@test "killed at random moments: the final name is whole, the partial one opens and tells the truth" {
    big=(run "$hello" --set training.global_batch=512 --detail kernel --db a.db)
    "$ORRERY" "${big[@]}" >out 2>err
    slices=$(sql a.db "select count(*) from slice_raw")
    for _ in $(seq 25); do
        "$ORRERY" "${big[@]}" >/dev/null 2>&1 &
        pid=$!
        sleep "0.0$((RANDOM % 90 + 10))"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        [ "$(sql a.db "pragma integrity_check")" = ok ]
        [ "$(sql a.db "select value from meta where key = 'complete'")" = 1 ]
        [ "$(sql a.db "select count(*) from slice_raw")" = "$slices" ]
        [ -s a.db.partial ] && [ -n "$(sql a.db.partial .tables 2>/dev/null)" ] || continue
        expect 0 "$ORRERY" export a.db.partial --format csv --table meta
        if [ "$(sql a.db.partial "select count(*) from slice_raw")" != "$slices" ]; then
            said "incomplete"
        fi
    done
}

@test "stopped at random moments: 143 and at most an unfinished file, or 0 and a whole one" {
    for _ in $(seq 25); do
        rm -f a.db*
        "$ORRERY" run "$hello" --db a.db >/dev/null 2>&1 &
        pid=$!
        sleep "0.0$((RANDOM % 40 + 10))"
        kill -TERM "$pid" 2>/dev/null || true
        got=0
        wait "$pid" || got=$?
        case $got in
        0) [ "$(echo a.db*)" = a.db ] ;;
        143)
            [ ! -e a.db ] || [ "$(sql a.db "select value from meta where key = 'complete'")" = 1 ]
            if [ -e a.db.partial ]; then
                expect 0 "$ORRERY" export a.db.partial --format csv --table meta
                grep -q '^complete,1' out || said incomplete
            fi
            ;;
        *) false ;;
        esac
    done
}

@test "a small disk that fills up" {
    mkdir disk
    mount -t tmpfs -o size=512k none disk 2>/dev/null || skip "needs the right to mount"
    got=0
    "$ORRERY" run "$hello" --detail kernel --set training.global_batch=512 --db disk/a.db \
        >out 2>err || got=$?
    here=$(ls -A disk)
    if [ -s disk/a.db.partial ]; then sound=$(sql disk/a.db.partial "pragma integrity_check"); fi
    umount disk
    [ "$got" -eq 1 ]
    [[ "$here" != *a.db$'\n'* ]] && [ "$here" != a.db ]
    [ "${sound:-ok}" = ok ]
    said "full"
}

@test "a terminal gets no control character of a name, however long it is" {
    tier=$(printf 'a\\e[31m%0200d' 7)
    cat >names.yaml <<EOF
model: {preset: llama3-8b}
cluster: {gpu: h100-80gb-sxm, nodes: 4, fabric: ib-ndr-8x400}
training: {sequence: 8192, global_batch: 64}
run: {duration: 54d}
layout: {tp: 8}
failures: [{cause: "b\e[31mc", mtbf: 100d}]
checkpoint: {policy: sync, interval: 1min, storage: "$tier"}
storage: [{name: "$tier", total_write_bandwidth: 20GB/s}]
EOF
    expect 0 "$ORRERY" run names.yaml --no-db
    lacks $'\e' out err
    shows 'a?[31m0'
    shows '...: stalls'
    shows 'are warranted for one write a day'
    shows 'back to the copy in'
    shows 'b?[31mc'
}

@test "a cause with a control character: documents are readable, and a trace that could not be is refused" {
    cat "$hello" - >weeks.yaml <<'YAML'
run: {duration: 7d}
failures: [{cause: "g\x01pu\x7f", unit: gpu, law: exponential, mtbf: 2d}]
checkpoint: {policy: sync, interval: 10min, storage: disk, stall: 20s, load: 30s}
storage: [{name: disk, path: host, survival: domain, total_write_bandwidth: 10GB/s, total_read_bandwidth: 10GB/s}]
recovery: {policy: restart-in-place, restart: {detect: 1min, start: 2min}}
YAML
    expect 0 "$ORRERY" run weeks.yaml --db x.db --json
    jq -e '.interruptions_by_cause | length == 1' out
    expect 0 "$ORRERY" export x.db --format chrome
    jq -e . out >chrome
    expect 1 "$ORRERY" export x.db --format failures
    said "the name of the cause 'g?pu?' has a control character, and no trace holds one"
    [ ! -s out ]
}
