# orrery compare SCENARIO --trace FILE: a step of the PyTorch profiler beside the simulated one.
load helper

small() {
    cat >small.yaml <<'YAML'
name: Small
model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32k}
cluster: {gpu: h100-80gb-sxm, gpus: 8}
training: {sequence: 2048, global_batch: 8}
layout: {tp: 2, pp: 2, dp: 2, microbatch: 1, sharding: zero-1, sequence_parallel: true}
software: megatron
YAML
}

# The timeline of a rank in a database, as torch.profiler would have written it: kernels under the
# names of libraries, collectives from when the rank was ready for them.
trace_of() { # DB RANK
    sqlite3 "$1" "
with span(at, took, stream, name, collective, bytes) as (
  select s.ts, s.dur, s.stream,
         case when s.name = 'attention' then 'flash_fwd_kernel'
              when s.name = 'attention gradient' then 'flash_bwd_kernel'
              when s.name in ('optimizer update', 'gradient norm') then 'multi_tensor_apply_kernel'
              when s.name glob '*norm*' then 'rmsnorm_kernel'
              when s.name glob '*[a-z] [dw]grad' or s.name in ('qkv', 'projection', 'up', 'down', 'logits') then 'nvjet_hsh_128x256'
              else 'vectorized_elementwise_kernel' end, null, 0
  from slice s where s.rank = $2 and s.depth = 1
  union all
  select s.ts - s.wait, s.dur + s.wait, s.stream, 'ncclDevKernel_SendRecv()', x.op, x.bytes
  from slice s join transfer x on x.slice_id = s.id where s.rank = $2 and x.bytes > 0)
select json_object('schemaVersion', 1, 'distributedInfo', json_object('rank', $2, 'world_size', 8),
  'traceEvents', json_group_array(json_object('ph', 'X', 'cat', 'kernel', 'name', name,
    'ts', at / 1000.0, 'dur', took / 1000.0, 'args', iif(collective is null, json_object('stream', 7),
      json_object('stream', 20, 'Collective name', replace(replace(replace(collective, 'all_reduce', 'allreduce'),
        'all_gather', '_allgather_base'), 'reduce_scatter', '_reduce_scatter_base'),
        'In msg nelems', cast(bytes as integer), 'dtype', 'Byte')))))
from (select * from span where took > 0 order by at)"
}

@test "a trace of the simulated step differs from it by nothing" {
    small
    expect 0 "$ORRERY" run small.yaml --detail flow --db small.db
    trace_of small.db 5 >trace.json
    expect 0 "$ORRERY" compare small.yaml --trace trace.json
    shows "Small: rank 5 of 8"
    [ "$(grep -c 'none differs' out)" = 2 ]
    awk '/^Without a partner/ {getline; good = ($0 ~ /none/)} END {exit !good}' out
    expect 0 "$ORRERY" compare small.yaml --trace - --json <trace.json
    jq -e '.schema == "orrery.compare_trace/1" and .rank == 5 and .ranks == 8 and .profiler_step == null' out
    jq -e '.all.measured_spans == .all.simulated_spans and .all.measured_alone == 0 and .alone == []' out
    jq -e '([.pairs[].spans] | add) == .all.measured_spans and all(.pairs[]; .measured_s > 0)' out
    jq -e '[.kinds[] | select(.kind == "gemm" or .kind == "reduce_scatter" or .kind == "send_recv") | .measured_spans > 0] == [true, true, true]' out
    jq -e '(.measured.step_s - .simulated.step_s | fabs) < 1e-8 and .simulated.exposed_s > 0' out
    jq -e '.simulated | (.compute_s + .exposed_s + .idle_s - .step_s | fabs) < 1e-9' out
    expect 0 "$ORRERY" compare small.yaml --trace trace.json --csv
    [ "$(head -1 out | tr -d '\r')" = "kind,difference_s,measured,measured_stream,measured_at_s,measured_s,simulated,simulated_stream,simulated_at_s,simulated_s,phase,microbatch,layer" ]
    python3 -c 'import csv; assert {len(r) for r in csv.reader(open("out", newline=""))} == {13}'
    [ "$(sql small.db "select count(*) from slice s left join transfer x on x.slice_id = s.id where s.rank = 5 and s.dur > 0 and (s.depth = 1 or x.bytes > 0)")" = "$(($(wc -l <out) - 1))" ]
}

@test "a trace that does not say whose it is is the first rank's" {
    small
    expect 0 "$ORRERY" run small.yaml --detail flow --db small.db
    trace_of small.db 0 | jq 'del(.distributedInfo)' >trace.json
    expect 0 "$ORRERY" compare small.yaml --trace trace.json
    shows "Small: rank 0 of 8"
    [ "$(grep -c 'none differs' out)" = 2 ]
}

@test "what is slow, missing or strange in a trace is named" {
    small
    expect 0 "$ORRERY" run small.yaml --detail flow --db small.db
    trace_of small.db 5 >trace.json
    # The fourth attention takes a millisecond more, and a kernel runs that nobody knows.
    jq '[.traceEvents[] | .name == "flash_fwd_kernel"] | indices(true)[3]' trace.json >slow
    jq --argjson slow "$(cat slow)" '.traceEvents[$slow].dur += 1000
        | .traceEvents += [{"cat": "kernel", "name": "mystery", "ts": 1e6, "dur": 3, "args": {"stream": 7}}]' trace.json >slow.json
    expect 0 "$ORRERY" compare small.yaml --trace slow.json
    awk '/^Worst spans/ {getline; good = ($0 ~ /\+1.00 ms/ && $0 ~ /attention/ && $0 ~ /layer [0-9]+, microbatch [0-9]+/ && $0 ~ /flash_fwd_kernel/)} END {exit !good}' out
    shows "measured         1 x other"
    shows "mystery"
    expect 0 "$ORRERY" compare small.yaml --trace slow.json --json
    jq -e '.worst[0].difference_s > 0.000999 and .worst[0].kind == "attention" and (.worst[1].difference_s | fabs) < 1e-8' out
    jq 'del(.traceEvents[] | select(.name == "multi_tensor_apply_kernel"))' trace.json >fewer.json
    expect 0 "$ORRERY" compare small.yaml --trace fewer.json --json
    jq -e '[.alone[].name] | contains(["optimizer update", "gradient norm"])' out
    jq -e '.all.measured_alone == 0' out
}

@test "a trace of another job, a database and other words are refused" {
    small
    expect 0 "$ORRERY" run small.yaml --detail flow --db small.db
    trace_of small.db 5 >trace.json
    expect 3 "$ORRERY" compare "$hello" --trace trace.json --set cluster.nodes=2
    said "of a job of 8 ranks, and the scenario has 16"
    expect 3 "$ORRERY" compare small.yaml --trace trace.json --rank 8
    said "no rank 8"
    expect 3 "$ORRERY" compare small.yaml --trace trace.json --step 2
    said "no ProfilerStep#2 in it, nor any such mark"
    jq '.traceEvents += [{"cat": "user_annotation", "name": "ProfilerStep#7", "ts": 0, "dur": 1},
        {"cat": "user_annotation", "name": "ProfilerStep#5", "ts": 0, "dur": 1}]' trace.json >marked.json
    expect 3 "$ORRERY" compare small.yaml --trace marked.json --step 2
    said "there are 2 such marks, from 5 to 7"
    expect 3 "$ORRERY" compare small.yaml --trace small.yaml
    said "no JSON"
    expect 1 "$ORRERY" compare small.yaml --trace nowhere.json
    said "cannot read nowhere.json"
    expect 2 "$ORRERY" compare small.db --trace trace.json
    said "A is a database"
    expect 2 "$ORRERY" compare small.yaml small.yaml --trace trace.json
    expect 2 "$ORRERY" compare small.yaml small.yaml --rank 1
    said "go with --trace"
    expect 2 "$ORRERY" compare - --trace - <trace.json
}

@test "inference and kernels of no known kind are said" {
    small
    kernel() { printf '{"cat": "kernel", "name": "%s", "ts": %d, "dur": %d, "args": {"stream": 7}}' "$@"; }
    { echo '{"traceEvents": ['; kernel flash_fwd_kernel 0 95; echo ,; kernel main_kernel 100 5; echo ']}'; } >trace.json
    expect 0 "$ORRERY" compare small.yaml --trace trace.json
    shows "it looks like inference: no kernel of it belongs to a backward pass or to an optimizer"
    lacks "no known kind" out # 5 % is not above 5 %
    expect 0 "$ORRERY" compare small.yaml --trace trace.json --json
    jq -e '.forward_only and (.unknown_ratio - 0.05 | fabs) < 1e-9 and .unknown[0].name == "main_kernel"' out
    jq -e '[.pairs[] | select(.phase == "backward")] == []' out
    { echo '{"traceEvents": ['; kernel flash_fwd_kernel 0 90; echo ,; kernel flash_bwd_kernel 90 90; echo ,
        kernel main_kernel 200 20; echo ']}'; } >trace.json
    expect 0 "$ORRERY" compare small.yaml --trace trace.json
    shows "10.0 % of the kernels' seconds are of no known kind and count as compute: 20.0 us main_kernel"
    lacks inference out
    expect 0 "$ORRERY" compare small.yaml --trace trace.json --json
    jq -e '.forward_only == false and ([.pairs[] | select(.name == "attention gradient") | .measured_s - 90e-6 | fabs < 1e-9] == [true])' out
}

@test "a timeline that orrery export wrote is said to be none of torch.profiler" {
    "$ORRERY" run "$hello" --db h.db >out 2>err
    "$ORRERY" export h.db --format chrome --output h.json
    expect 3 "$ORRERY" compare "$hello" --trace h.json
    said "neither kernels nor operators of torch.profiler in it"
    lacks ProfilerActivity err
    expect 3 "$ORRERY" import pytorch h.json --gpu h100-80gb-sxm --output own.db
    said "neither kernels nor operators of torch.profiler in it"
}
