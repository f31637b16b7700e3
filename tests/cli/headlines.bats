# tests/headlines itself: good answers pass, and each way in which a headline can break is told. A
# stand-in gives the answers, so that no run is played here; FAULT names what it does wrong.
load helper

headlines="$BATS_TEST_DIRNAME/../headlines"

stand_in() {
    cat >orrery <<'END'
#!/bin/sh
ranks=64 classes=2 digest=aa01 fits=true code=0
case "$*" in
*nodes=131072*) ranks=1048576 ;;
*jitter*) classes=1280 ;;
*405b*--unfold*) classes=16384 ;;
memory*) fits=false code=4 ;;
esac
case "$FAULT $*" in
abort*jitter* | stop*nodes=131072* | weeks*54-days* | layers*layers.csv*) code=134 ;;
wall*memory*) code=0 ;;
silent*--unfold*) exit 0 ;;
fold*405b*--unfold* | wide*nodes=80*--unfold*) digest=bb02 ;;
lost*--unfold*) digest= ;;
race*--threads\ 7* | drawn*jitter*--threads\ 2* | half*65536*--threads\ 2*) other=$$ ;;
chance*nodes=80*--threads*) other=$$ ;;
folded*405b*--unfold* | same*jitter*) classes=2 ;;
small*nodes=131072*) ranks=16384 ;;
fits*memory*) fits=true ;;
esac
printf '{\n  "digest": "%s",\n  "rank_count": %s,\n  "class_count": %s,\n  "fits": %s%s\n}\n' \
    "$digest" $ranks $classes $fits "$other"
exit $code
END
    chmod +x orrery
}

@test "headlines: good answers pass" {
    stand_in
    FAULT=none expect 0 "$headlines" "$PWD/orrery"
    [ "$(grep -c '^ok' out)" -ge 16 ]
    lacks FAILED out
}

@test "headlines: every fault is told and fails" {
    stand_in
    for fault in abort stop weeks layers wall silent fold wide lost race drawn half chance folded \
        same small fits; do
        export FAULT=$fault
        expect 1 "$headlines" "$PWD/orrery" || { echo "missed: $fault"; return 1; }
        shows FAILED
    done
}

@test "headlines: without a program there is nothing to run" {
    expect 2 "$headlines"
    expect 2 "$headlines" "$PWD/nothing"
}
