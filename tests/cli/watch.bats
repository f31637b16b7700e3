# A training log beside the forecast. Law: what was written into a log comes back.
load helper

# megatron MS FROM TO START: lines of steps of MS milliseconds, the first of which ends at START s.
megatron() {
    awk -v ms="$1" -v from="$2" -v to="$3" -v at="$4" 'BEGIN {
        for (i = from; i <= to; i++) {
            t = at + (i - from) * ms / 1000
            printf "7:  [2026-11-03 %02d:%02d:%06.3f] iteration %8d/  500000 | consumed samples: %d | " \
                "elapsed time per iteration (ms): %.3f | throughput per GPU (TFLOP/s/GPU): 400.0 |\n",
                t / 3600, t % 3600 / 60, t % 60, i, i * 256, ms
        }
    }'
}
forecast_ms() { "$ORRERY" run "$hello" --no-db --json 2>/dev/null | command jq '.step_time_s * 1000'; }

@test "a constant log equal to the forecast is inside, and nothing changes" {
    megatron "$(forecast_ms)" 1 500 100 >train.log
    expect 0 "$ORRERY" watch "$hello" train.log --json
    jq -e '.schema == "orrery.watch/1" and .log.format == "megatron" and .log.rows == 500' out
    jq -e '.step.verdict == "inside" and ([.windows[].verdict] | unique == ["inside"]) and
        (.windows | length == 10) and (.levels | length == 1) and (.slow_rows | length == 0) and
        (.restarts | length == 0) and (.levels[0].drifts | not)' out
    jq -e '(.step.over_forecast | fabs) < 1e-3 and .goodput.goodput > 0.999 and .goodput.kept_steps == 500' out
    jq -e '.forecast.p10_s < .forecast.step_time_s and .forecast.step_time_s < .forecast.p90_s' out
    command jq -c '.forecast | [.p10_s, .p50_s, .p90_s]' out >watched
    "$ORRERY" run "$hello" --no-db --json --uncertainty 2>/dev/null |
        command jq -c '.uncertainty.step_time_s | [.p10, .p50, .p90]' >ran
    cmp watched ran
}

@test "above and below the interval" {
    ms=$(forecast_ms)
    megatron "$(awk "BEGIN {print 9 * $ms}")" 1 40 1 >slow.log
    megatron "$(awk "BEGIN {print $ms / 9}")" 1 40 1 >fast.log
    expect 0 "$ORRERY" watch "$hello" slow.log
    shows "+800.0 % over the forecast, above the interval"
    shows "no lasting change of level"
    expect 0 "$ORRERY" watch "$hello" fast.log --json
    jq -e '.step.verdict == "below" and (.step.over_forecast + 8/9 | fabs) < 1e-3' out
}

@test "a change of level, a slow step and a restart come back" {
    {
        megatron 1000 1 200 100
        megatron 1500 201 201 301.5
        megatron 1000 202 300 302.5
        megatron 1100 301 400 401.6
        echo "  successfully loaded checkpoint from /ckpt at iteration 350"
        megatron 1100 351 400 1000
    } >train.log
    expect 0 "$ORRERY" watch "$hello" train.log --json
    jq -e '[.levels[] | .first_step] == [2, 301] and (.levels[1].change_ratio - 0.1 | fabs) < 1e-9' out
    jq -e '.levels[1].line == 301 and .levels[1].at == "2026-11-03 00:06:41"' out
    jq -e '.slow_rows | length == 1 and .[0].step == 201 and (.[0].lost_s - 0.5 | fabs) < 1e-9' out
    jq -e '.restarts | length == 1 and .[0].step_before == 400 and .[0].goes_on_with == 351 and
        .[0].repeated_steps == 50 and (.[0].between_s - (1000 - 1.1 - 510.5) | fabs) < 1e-3 and .[0].line == 402' out
    jq -e '.goodput | .kept_steps == 400 and .repeated_steps == 50 and
        (.wasted_progress_from_disruption_s - 55 | fabs) < 1e-6' out
    jq -e '.goodput | [.productive_step_s, .wasted_progress_from_disruption_s,
        .infrastructure_recovery_from_disruption_s, .program_startup_s, .other_s] | add' out >sum
    [ "$(command jq '.goodput.wall_s' out | cut -c 1-8)" = "$(cut -c 1-8 sum)" ]
    expect 0 "$ORRERY" watch "$hello" train.log
    shows "at step 301 (line 301, 2026-11-03 00:06:41): 1 s -> 1.10 s, +10.0 %"
    shows "after step 400 on with step 351, 50 steps repeated"
    shows "step 201 (line 201, 2026-11-03 00:05:01): 1.50 s"
    shows "not told by this log: data loading"
}

@test "standard input, gzip, a format by name, windows" {
    megatron 1000 1 30 1 >train.log
    expect 0 "$ORRERY" watch "$hello" train.log --json
    command jq 'del(.log.path)' out >whole
    expect 0 "$ORRERY" watch "$hello" - --json <train.log
    command jq 'del(.log.path)' out >piped
    gzip -k train.log
    expect 0 "$ORRERY" watch "$hello" train.log.gz --json
    command jq 'del(.log.path)' out >unpacked
    cmp whole piped
    cmp whole unpacked
    expect 0 "$ORRERY" watch "$hello" train.log --format megatron --windows 3 --json
    jq -e '[.windows[].rows] == [9, 10, 10]' out
    expect 3 "$ORRERY" watch "$hello" train.log --format csv
    said "no iteration in the form of csv"
}

@test "torchtitan tells a rate: of another batch than the scenario's its stamps say so" {
    tps=$("$ORRERY" run "$hello" --no-db --json 2>/dev/null | command jq '.tokens_per_s_per_gpu | floor')
    step=$(forecast_ms)
    awk -v tps="$tps" -v ms="$step" 'BEGIN {
        for (i = 10; i <= 400; i += 10) {
            t = i * ms / 1000
            printf "[rank0]:[titan] 2026-11-03 04:%02d:%06.3f - root - INFO - step: %d  loss: 3.1  memory: 1GiB(1%%)  tps: %d  mfu: 40%%\n",
                t / 60, t % 60, i, tps
        }
    }' | sed 's/\./,/' >train.log
    expect 0 "$ORRERY" watch "$hello" train.log --json
    jq -e '.log.format == "torchtitan" and .step.verdict == "inside" and (.step.over_forecast | fabs) < 1e-3' out
    lacks "are they those of the run" err
    expect 0 "$ORRERY" watch "$hello" train.log --set training.global_batch=8
    said "are they those of the run?"
}

@test "a log of another batch is refused, one that changes it is told" {
    megatron "$(forecast_ms)" 1 40 1 | sed 's/$/ global batch size:    16 |/' >train.log
    expect 3 "$ORRERY" watch "$hello" train.log
    said "train.log:1: a step of the log has a global batch of 16, one of the scenario of 64"
    said "set training.global_batch=16"
    expect 0 "$ORRERY" watch "$hello" train.log --set training.global_batch=16
    lacks "global batch" err
    { cat train.log; megatron "$(forecast_ms)" 41 80 9 | sed 's/$/ global batch size:    64 |/'; } >ramp.log
    expect 0 "$ORRERY" watch "$hello" ramp.log
    said "40 of its 80 rows have another global batch than the 64 of the scenario (line 1: 16)"
    {
        printf ':::MLLOG {"key": "%s", "value": %s, "time_ms": 1000, "metadata": {}}\n' \
            global_batch_size 64 max_sequence_length 8192
        printf ':::MLLOG {"key": "tracked_stats", "value": {"train_step_time": 2.5}, "time_ms": 9000, "metadata": {"step": 4}}\n'
    } >result.txt
    expect 3 "$ORRERY" watch "$hello" result.txt
    said "sequences of the log have 8192 tokens, those of the scenario 1024"
    expect 0 "$ORRERY" watch "$hello" result.txt --set training.sequence=8192 --set model.positions_max=8192
    lacks "sequences of the log" err
}

@test "moments of no calendar are seconds, and a clock that steps back is named" {
    awk 'BEGIN { print "step,at"; for (i = 1; i <= 40; i++) printf "%d,%.3f\n", i, 100 + (i > 20 ? 2 * i - 20 : i) }' >table.csv
    expect 0 "$ORRERY" watch "$hello" table.csv
    shows "at step 21 (line 22, 122.000 s)"
    lacks "1970" out
    expect 0 "$ORRERY" watch "$hello" table.csv --json
    jq -e '.levels[1].at == null and .levels[1].at_s == 122 and .goodput.clock_back_line == null' out
    { megatron 1000 1 30 7200; megatron 1000 31 60 100; } >train.log
    expect 0 "$ORRERY" watch "$hello" train.log
    shows "the stamp of line 31 is before that of the row before it"
    lacks "no stamp at every row" out
    expect 0 "$ORRERY" watch "$hello" train.log --json
    jq -e '.goodput.clock_back_line == 31 and (.goodput.stamped | not)' out
    printf 'step,seconds\n1,1\n2,1\n' >table.csv
    expect 0 "$ORRERY" watch "$hello" table.csv
    shows "no stamp at every row"
}

@test "what is no log, no scenario, no place to be" {
    expect 2 "$ORRERY" watch "$hello"
    said "takes a scenario and a log"
    echo "hello" >train.log
    expect 3 "$ORRERY" watch "$hello" train.log
    said "no line tells an iteration with its time"
    expect 1 "$ORRERY" watch "$hello" nowhere.log
    expect 2 "$ORRERY" watch "$hello" train.log --format tensorboard
    printf 'step,seconds\n1,3\n2,x\n' >table.csv
    expect 3 "$ORRERY" watch "$hello" table.csv
    said "table.csv:3: 'x' are no seconds"
    printf 'step,seconds\n1,3\n2,3\n' >table.csv
    expect 4 "$ORRERY" watch "$SCENARIOS/memory/memory-13b-1gpu.yaml" table.csv
    said "does not fit in memory"
}
