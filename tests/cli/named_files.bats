# Files that a scenario names are part of what a result stands on: whoever reads them again asks
# whether they still hold what they held.
load helper

scenario() {
    cat >s.yaml <<'END'
model: {hf: c.json}
cluster: {gpu: h100-80gb-sxm, gpus: 8}
training: {global_batch: 64, sequence: 2048}
failures: [{cause: gone, law: trace, trace: t.csv}]
run: {duration: 5d}
END
    printf 'at,unit_kind,unit,cause,repair\n3h,gpu,1,x,1h\n' >t.csv
    cat >c.json <<'END'
{"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16,
 "intermediate_size": 4096, "vocab_size": 32000, "max_position_embeddings": 4096, "rms_norm_eps": 1e-06}
END
}
another_trace() { printf 'at,unit_kind,unit,cause,repair\n4h,gpu,1,x,1h\n' >t.csv; }
another_model() { sed -i 's/1e-06/1e-05/' c.json; } # of the same shape

@test "compare tells files of one name that hold something else, of databases and scenarios" {
    scenario
    expect 0 "$ORRERY" run s.yaml --db a.db
    expect 0 "$ORRERY" run s.yaml --db same.db
    expect 0 "$ORRERY" compare a.db same.db --json
    jq -e '.settings == []' out
    expect 0 "$ORRERY" compare a.db s.yaml --json
    jq -e '.settings == []' out
    another_trace
    expect 0 "$ORRERY" run s.yaml --db b.db
    for other in b.db s.yaml; do
        expect 0 "$ORRERY" compare a.db "$other" --json
        jq -e '.settings | length == 1 and .[0].name == "failures[0].trace" and .[0].a != .[0].b and
            (.[0].a | startswith("t.csv (contents "))' out
    done
    another_model
    expect 0 "$ORRERY" compare a.db s.yaml --json
    jq -e '[.settings[].name] == ["model.hf", "failures[0].trace"]' out
    mkdir other
    cp s.yaml t.csv other
    sed 's/1e-05/1e-04/' c.json >other/c.json
    expect 0 "$ORRERY" compare s.yaml other/s.yaml --json
    jq -e '[.settings[].name] == ["model.hf"]' out
}

@test "a database whose files have changed is not restored from other ones" {
    scenario
    expect 0 "$ORRERY" run s.yaml --db a.db
    expect 0 "$ORRERY" export a.db --launch megatron
    another_model
    expect 1 "$ORRERY" export a.db --launch megatron
    said "the file of model.hf has changed since a.db was made: run the scenario again"
    scenario
    expect 0 "$ORRERY" export a.db --launch megatron
    rm t.csv
    expect 1 "$ORRERY" export a.db --launch megatron
    # of a catalogue in a folder every file counts, unless another one is asked for
    cp -r "$SCENARIOS/catalogue" catalogue
    expect 0 "$ORRERY" run "$hello" --catalogue catalogue --db h.db
    expect 0 "$ORRERY" export h.db --launch megatron
    echo '# a line' >>catalogue/storage.yaml
    expect 1 "$ORRERY" export h.db --launch megatron
    said "the file of catalogue.storage has changed since"
    expect 0 "$ORRERY" export h.db --launch megatron --catalogue "$SCENARIOS/catalogue"
}

@test "a plan or a study does not go on with other files" {
    scenario
    expect 0 "$ORRERY" plan s.yaml --db p.db --json
    expect 0 "$ORRERY" report p.db
    another_model
    expect 3 "$ORRERY" report p.db
    said "the file of model.hf has changed since"
    expect 3 "$ORRERY" plan s.yaml --db p.db --resume
    said "the file of model.hf has changed since"
    scenario
    expect 0 "$ORRERY" plan s.yaml --vary cluster.gpus=8,16 --db v.db
    expect 0 "$ORRERY" plan s.yaml --vary cluster.gpus=8,16 --db v.db --resume
    another_model
    expect 3 "$ORRERY" plan s.yaml --vary cluster.gpus=8,16 --db v.db --resume
    scenario
    study=(study s.yaml --vary checkpoint.interval=1h,2h --seeds 2 --db u.db)
    expect 0 "$ORRERY" "${study[@]}"
    expect 0 "$ORRERY" "${study[@]}" --resume
    another_trace
    expect 3 "$ORRERY" "${study[@]}" --resume
    # a file that only a later point names
    scenario
    cp t.csv late.csv
    study=(study s.yaml --vary 'failures[0].trace=t.csv,late.csv' --seeds 2 --db l.db)
    expect 0 "$ORRERY" "${study[@]}"
    another_trace && cp t.csv late.csv && scenario
    expect 3 "$ORRERY" "${study[@]}" --resume
}

@test "shards that were searched with other files are not joined" {
    scenario
    expect 0 "$ORRERY" plan s.yaml --shard 1/2 --db 1.db
    another_model
    expect 0 "$ORRERY" plan s.yaml --shard 2/2 --db 2.db
    expect 3 "$ORRERY" merge 1.db 2.db
    said "the file of model.hf has changed since"
}
