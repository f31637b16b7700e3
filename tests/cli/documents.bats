# The schema of every document, held to what the commands print by a validator that is not ours.
load helper

@test "each --json document is as its schema says, each key of a schema is in one, and a wrong one is refused" {
    long_one
    expect 0 python3 "$BATS_TEST_DIRNAME/documents.py" "$ORRERY" "$SOURCES"
    shows " kinds, 0 faults"
}

@test "schema --of: one document; no other words" {
    expect 0 "$ORRERY" schema --of plan
    jq -e '."$id" == "urn:orrery:document:plan:1" and .properties.schema.const == "orrery.plan/1"' out
    # Rows of the table of numbers are told with its sentence and unit.
    expect 0 "$ORRERY" schema --of run
    jq -e '.properties.step_time_s | .type == ["number", "null"] and (.description | endswith("[s]"))' out
    jq -e '(.required | index("wall_s") == null) and .properties.wall_s' out
    # Words of which there are few are listed; kinds are those that the program lists.
    "$ORRERY" list schedule --json | jq -c '[.rows[].name]' >kinds
    expect 0 "$ORRERY" schema --of plan
    jq -c '."$defs".leader.properties.schedule.enum' out | cmp kinds -
    jq -e '."$defs".leader.properties.detail.enum == ["op", "pass"]' out
    jq -e '."$defs".judged.properties.missed.enum | index("deadline") and index(null)' out
    # The name that a document carries is taken, too.
    for name in compare-trace plan-machines; do
        expect 0 "$ORRERY" schema --of $name
        cp out want
        expect 0 "$ORRERY" schema --of ${name/-/_}
        cmp want out
    done
    jq -e '.properties.schema.const == "orrery.plan-machines/1"' out
    for wrong in compare_ compare_trace_ compare__trace compare.trace _run; do expect 2 "$ORRERY" schema --of $wrong; done
    expect 2 "$ORRERY" schema --of plans
    said "did you mean 'plan'"
    expect 2 "$ORRERY" schema --of plan --markdown
    expect 2 "$ORRERY" schema --of plan --commands
}
