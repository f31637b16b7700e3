# Keys of weeks that do nothing are warned of, and none that acts is; an interval that is called optimal is.
load helper

# A key of the recovery either moves the weeks or is warned of: each link, with each policy.
@test "no key of recovery is idle in silence, and none is warned of that acts" {
    write_weeks() {
        cat <<'END'
model: llama3-8b
cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400}
training: {sequence: 8192, global_batch: 128}
layout: {tp: 2, pp: 1, dp: 16, sharding: zero-1, microbatch: 1, recompute: none, schedule: 1f1b}
software: megatron
run: {duration: 30d}
failures: [{cause: X, unit: node, mtbf: 6d, in_place: 0.3}]
checkpoint: {interval: 30min}
recovery: {repair: 20h}
END
    }
    figures() { "$ORRERY" run weeks.yaml --no-db --json "$@" 2>words | jq -c '[.goodput, .badput, .wall_s, .restart_s, .tokens_per_day]'; }
    write_weeks >weeks.yaml
    told=0 moved=0
    for maintenance in 0 1; do
        for policy in restart-in-place wait-for-repair hot-spare warm-spare cold-spare elastic-shrink replica-level; do
            stops=(--set recovery.policy=$policy)
            [ $maintenance -eq 0 ] || stops+=(--set run.maintenance=1h --set run.maintenance_every=7d)
            usual=$(figures "${stops[@]}")
            for key in restart.{detect,diagnose,cordon,allocate,schedule,provision,start,communicators,warmup}=41min \
                replicas_min=16 manual_repair=9h manual_repair_fails=0.5; do
                now=$(figures "${stops[@]}" --set "recovery.$key")
                if grep -q "recovery.${key%=*} has no effect" words; then
                    [ "$now" = "$usual" ] || { echo "$policy $maintenance $key is warned of and acts"; false; }
                    told=$((told + 1))
                else
                    [ "$now" != "$usual" ] || { echo "$policy $maintenance $key does nothing in silence"; false; }
                    moved=$((moved + 1))
                fi
            done
        done
    done
    [ $told -gt 30 ] && [ $moved -gt 90 ]
}

@test "a failure's keys that lack their partner are warned of" {
    for set in early=3d early_factor=9 slow_link=true slow_time=4h; do
        expect 0 "$ORRERY" run "$SCENARIOS/studies/checkpoint-interval-study.yaml" --no-db \
            --set 'failures=[{cause: X, mtbf: 9y}]' --set "failures[0].$set"
        said "failures[0].${set%=*} has no effect without"
    done
    expect 0 "$ORRERY" run "$SCENARIOS/studies/checkpoint-interval-study.yaml" --no-db \
        --set 'failures=[{cause: X, mtbf: 9y, early: 3d, early_factor: 9}]' --set checkpoint.write_share=1% --set checkpoint.interval=1h
    said "checkpoint.write_share has no effect with an interval"
    lacks "early.* has no effect" err
    expect 0 "$ORRERY" run "$SCENARIOS/studies/checkpoint-interval-study.yaml" --no-db \
        --set 'failures=[{cause: X, unit: node, mtbf: 9y, law: lemon}]' --set recovery.manual_repair_fails=0.5 --set recovery.repair_fails=0.5
    said "recovery.manual_repair_fails has no effect without escalate"
    lacks "recovery.repair_fails has no effect" err
}

# A failure every 10 h of running: a save must end before the next one, so goodput has a narrow peak at 9 h.
@test "interval: optimal finds the peak where failures come at equal gaps" {
    expect 0 "$ORRERY" study "$SCENARIOS/studies/checkpoint-interval-study.yaml" --no-db --json --seeds 20 --set run.duration=60d \
        --set 'failures=[{cause: X, unit: job, law: gamma, shape: 1000, mtbf: 10h}]' --set checkpoint.stall=10min \
        --vary checkpoint.interval=optimal,1h,2h,3h,4h,6h,8h,9h
    jq -e '[.points[].goodput.mean] | .[0] > (.[1:] | max) - 0.005' out
}
