# The ratchet notices: which figure became worse is said by name, and the exit code tells a script.

@test "a figure beyond its limit is named, with both numbers, and the exit code is 1" {
    run "$RATCHET" "$TABLES/planted.csv" fast
    [ "$status" -eq 1 ]
    [[ "$output" =~ ^WORSE\ +layers.csv,korthikanti22,forward,median_ape\ +0\.0[0-9]+,\ limit\ -1\.000$ ]]
}

@test "a figure within its limit is ok and the exit code is 0" {
    head -1 "$TABLES/planted.csv" >"$BATS_TEST_TMPDIR/t.csv"
    echo 'layers.csv,korthikanti22,forward,median_ape,1,fast' >>"$BATS_TEST_TMPDIR/t.csv"
    cp "$TABLES/layers.csv" "$BATS_TEST_TMPDIR"
    run "$RATCHET" "$BATS_TEST_TMPDIR/t.csv" fast
    [ "$status" -eq 0 ]
    [[ "$output" == ok* ]]
}

@test "a statistic that is none counts as worse" {
    head -1 "$TABLES/planted.csv" >"$BATS_TEST_TMPDIR/t.csv"
    echo 'layers.csv,korthikanti22,sideways,median_ape,1,fast' >>"$BATS_TEST_TMPDIR/t.csv"
    cp "$TABLES/layers.csv" "$BATS_TEST_TMPDIR"
    run "$RATCHET" "$BATS_TEST_TMPDIR/t.csv" fast
    [ "$status" -eq 1 ]
    [[ "$output" == WORSE* ]]
}

@test "a table that cannot be read is another exit code" {
    run "$RATCHET" "$BATS_TEST_TMPDIR/none.csv" fast
    [ "$status" -eq 2 ]
}
