-- schema.sql - the results database of Orrery: one file, read by any SQLite.
--
-- Start with
--     select * from breakdown;      where the time of a step went
--     select * from memory_peak;    the memory of each stage against the card
--     select * from bubble;         how long each stage waited for the pipeline
--     select * from idle;           when each GPU computed nothing, and why
--     select * from link_util;      how busy the wires were
--     select * from constant;       every figure that this stands on, with source and error
--     select * from study_curve;    of a study: the objective at each point
--     select * from plan_candidate; of a plan: every layout, fastest first
--     select * from doc;            what every table, view and column means
--
-- Times of the timeline are whole nanoseconds since the step began; `dur` is the difference of the
-- two rounded ends, so spans of a track never overlap. Ranks that do the same are stored once, as a
-- rank class; the views slice and counter give every rank its own rows. Names stand once, in string.
--
-- The tables that hold the numbers of a run (run, stage_memory, stream_use, link, interruption, ...)
-- follow these; they are made from the lists in analysis/record/numbers/metrics.h and rows.h.

-- 1330795097 is "ORRY" in ASCII. user_version grows when a table changes.
pragma application_id = 1330795097;
pragma user_version = 21;

create table meta (
    key text primary key,
    value text
) strict, without rowid;

create table doc (
    object text not null,
    "column" text not null,  -- '' : the object itself
    unit text not null,      -- '' : none
    text text not null,
    primary key (object, "column")
) strict, without rowid;

create table string (
    id integer primary key,
    text text not null
) strict;

create table rank_class (
    id integer primary key,
    run integer not null,
    first_rank integer not null,
    rank_count integer not null,
    stage integer not null,
    layers integer not null,
    speed_ratio real not null,
    finish_s real,
    compute_s real,
    recompute_s real,
    exposed_tp_s real,
    exposed_cp_s real,
    exposed_ep_s real,
    bubble_s real,
    exposed_pp_s real,
    exposed_dp_s real,
    offload_s real,
    optimizer_s real,
    host_s real,
    straggler_s real,
    peak_allocated_bytes real not null,
    peak_reserved_bytes real not null,
    weights_bytes real not null,
    gradients_bytes real not null,
    master_bytes real not null,
    moments_bytes real not null,
    activations_bytes real not null,
    temporary_bytes real not null,
    communication_bytes real not null,
    context_bytes real not null,
    fragmentation_bytes real not null,
    fits integer not null
) strict;

create table rank (
    run integer not null,
    rank integer not null,
    rank_class integer not null,
    gpu integer,
    tp integer not null,
    cp integer not null,
    dp integer not null,
    pp integer not null,
    primary key (run, rank)
) strict, without rowid;

-- The views of ranks look from the class to its ranks.
create index rank_of_class on rank (rank_class);

create table node (
    run integer not null,
    id integer not null,
    name text not null,
    primary key (run, id)
) strict, without rowid;

create table gpu (
    run integer not null,
    id integer not null,
    node integer not null,
    name text not null,
    primary key (run, id)
) strict, without rowid;

create table track (
    id integer primary key,
    run integer not null,
    rank_class integer not null,
    kind text not null,      -- 'stream', 'ledger', 'wire' and 'power' (counters)
    name text not null,
    slices integer not null,
    busy_s real not null,
    hidden_s real not null,
    waited_s real not null
) strict;

create table node_wire (
    run integer not null,
    node integer not null,
    kind text not null,
    track_id integer not null,
    primary key (run, node, kind)
) strict, without rowid;

-- The timeline, by rank class. About 30 bytes a row: rowid is the id, depth is 0 or 1.
create table slice_raw (
    id integer primary key,
    ts integer not null,
    dur integer not null,
    wait integer not null,
    track_id integer not null,
    name integer not null,      -- string.id
    phase integer not null,     -- string.id
    microbatch integer,
    layer integer,
    chunk integer not null,
    depth integer not null      -- 0: an op; 1: a kernel inside the op before it
) strict;

-- When the compute stream of a rank class stood still between its ops, and why: from detail op on.
create table idle_raw (
    track_id integer not null,  -- of the stream compute
    ts integer not null,
    dur integer not null,
    cause integer not null      -- string.id: a part of the breakdown
) strict;

-- What the ops of one name and phase on a track do in all: a few rows a track.
create table op_kind (
    track_id integer not null,
    name integer not null,      -- string.id
    phase integer not null,     -- string.id
    ops integer not null,
    flops real not null,
    hbm_bytes real not null,
    message_bytes real not null,
    how text not null,
    primary key (track_id, name, phase)
) strict, without rowid;

-- The nodes of execution traces that were played, each once for each of its ranks.
create table task_slice (
    id integer primary key,
    ts integer not null,
    dur integer not null,
    wait integer not null,
    rank integer not null,
    lane integer,               -- string.id; null: it communicates
    task_group integer,         -- task_group.id; null: it does not
    name integer not null,      -- string.id
    node integer not null
) strict;

create table counter_raw (
    track_id integer not null,
    ts integer not null,
    value real not null
) strict;

create table transfer (
    id integer primary key,
    run integer not null,
    slice_id integer not null,
    rank_class integer not null,
    op text not null,
    algorithm text not null,
    protocol text not null,
    ranks integer not null,
    nodes integer not null,
    bytes real not null,
    latency_s real not null,
    cap_bytes_per_s real,
    begin_ns integer not null,
    finish_ns integer not null
) strict;

-- Filled by simulations of weeks (a scenario with `run:`); empty for a single step.
create table failure (
    id integer primary key,
    run integer not null,
    ts integer not null,
    exposed_s real not null,
    cause text not null,
    unit text not null,
    unit_id integer not null,
    node integer,
    repair_s real not null
) strict;

create table checkpoint (
    id integer primary key,
    run integer not null,
    ts integer not null,
    stall integer not null,
    step integer not null,
    level integer not null,
    tier text not null
) strict;

-- Filled by `orrery study`: points of a grid, replications by seed, what came out.
create table study (
    id integer primary key,
    name text not null,
    objective text not null,
    larger_is_better integer not null,
    base_seed integer not null,
    seeds integer not null,
    confidence_ratio real not null,
    fingerprint text not null,
    weeks integer not null
) strict;

-- The options of the command line, in their order.
create table study_option (
    study integer not null,
    place integer not null,
    name text not null,
    value text not null,
    primary key (study, place)
) strict, without rowid;

create table study_point (
    study integer not null,
    point integer not null,
    label text not null,
    replications integer not null,
    fits integer not null,
    interval_s real,
    young_s real,
    daly_s real,
    exact_s real,
    job_mtbf_s real,
    stall_s real,
    usable_hbm_bytes real,
    -- where it does not fit
    short_bytes real,
    tensor text,
    tenant text,
    stage integer,
    announced_words text,
    primary key (study, point)
) strict, without rowid;

-- Points that break a rule; they have no row in study_point.
create table study_refused (
    study integer not null,
    point integer not null,
    label text not null,
    reason text not null,
    primary key (study, point)
) strict, without rowid;

create table study_value (
    study integer not null,
    point integer not null,
    key text not null,
    text text not null,
    number real,
    primary key (study, point, key)
) strict, without rowid;

create table study_raw (
    study integer not null,
    point integer not null,
    seed integer not null,
    metric integer not null,    -- string.id
    value real
) strict;

create table study_summary (
    study integer not null,
    point integer not null,
    metric text not null,
    mean real,
    low95 real,
    high95 real,
    p10 real,
    p50 real,
    p90 real,
    primary key (study, point, metric)
) strict, without rowid;

-- Filled by `orrery plan --db`: the machines that were searched, and what was found out about each
-- layout. Rows are added as they are found and never changed; plan_candidate shows all of a layout.
create table plan (
    id integer primary key,  -- the machine, from 0
    label text not null,
    model text not null,
    gpu text not null,
    gpus integer not null,
    software text not null,
    layouts integer not null
) strict;

-- The words of the command line that the result depends on, in their order.
create table plan_option (
    place integer primary key,
    word text not null
) strict;

create table plan_layout (
    machine integer not null,
    place integer not null,
    turn integer not null,
    tp integer not null,
    pp integer not null,
    dp integer not null,
    cp integer not null,
    ep integer not null,
    etp integer not null,
    vpp integer not null,
    microbatch integer not null,
    schedule text not null,
    sharding text not null,
    sequence_parallel integer not null,
    ends_count integer not null,
    recompute text not null,
    recompute_layers integer not null,
    fate text not null,  -- 'open', 'rule', 'memory', 'headroom'
    rule text,
    tried integer not null,
    least_bytes real not null,
    least_step_s real not null,
    primary key (machine, place, turn)
) strict, without rowid;

create table plan_time (
    machine integer not null,
    place integer not null,
    turn integer not null,
    pass_step_s real not null,
    primary key (machine, place, turn)
) strict, without rowid;

create table plan_ledger (
    machine integer not null,
    place integer not null,
    turn integer not null,
    fits integer not null,
    primary key (machine, place, turn)
) strict, without rowid;

create table plan_play (
    machine integer not null,
    place integer not null,
    turn integer not null,
    fits integer not null,
    step_s real,
    tokens_per_s real,
    mfu real,
    peak_reserved_bytes real,
    peak_allocated_bytes real,
    primary key (machine, place, turn)
) strict, without rowid;

create table plan_play_part (
    machine integer not null,
    place integer not null,
    turn integer not null,
    part text not null,
    seconds real,
    primary key (machine, place, turn, part)
) strict, without rowid;

-- Every figure of model, GPU, node, fabric, software, storage and fleet that the numbers above stand
-- on: the catalogue's, the scenario's own, and defaults.
create table constant (
    run integer not null,
    name text not null,
    value real,              -- null: a word
    text text not null,
    unit text not null,
    error_ratio real not null,
    origin text not null,    -- 'published', ..., 'assumed'; 'scenario', 'default'
    source text not null,
    primary key (run, name)
) strict, without rowid;

-- Captions of a step's timeline; those of weeks stand in message, at moments of the weeks.
create view note as
select m.id as id, cast(round(1e9 * cast(m.key as real)) as integer) as ts, m.text as text,
       m.run as run
from message m join run u on u.id = m.run
where m.severity = 'note' and u.kind = 'step' and cast(m.key as real) between 0 and 9e9;

create view slice as
select s.id as id, r.rank as rank, c.stage as stage, t.name as stream, s.ts as ts, s.dur as dur,
       s.wait as wait, n.text as name, p.text as phase, s.microbatch as microbatch,
       s.layer as layer, s.chunk as chunk, s.depth as depth, t.id as track_id, t.run as run
from slice_raw s
join track t on t.id = s.track_id
join string n on n.id = s.name
join string p on p.id = s.phase
join rank_class c on c.id = t.rank_class
join rank r on r.rank_class = t.rank_class and r.run = t.run;

create view idle as
select r.rank as rank, c.stage as stage, i.ts as ts, i.dur as dur, n.text as cause,
       t.id as track_id, t.run as run
from idle_raw i
join track t on t.id = i.track_id
join string n on n.id = i.cause
join rank_class c on c.id = t.rank_class
join rank r on r.rank_class = t.rank_class and r.run = t.run;

-- What pictures of the pipeline show: each stage by its first class, and by the one whose compute
-- takes longest where that is another's (a slower card, jitter): the others wait for it.
create view stage_class as
with b as (
    select c.run as run, c.stage as stage, c.id as id, c.first_rank as first_rank,
           coalesce(t.busy_s, 0.0) as busy_s,
           row_number() over (partition by c.run, c.stage order by c.id) as place,
           first_value(c.id) over (partition by c.run, c.stage
                                   order by coalesce(t.busy_s, 0.0) desc, c.id) as slowest,
           first_value(coalesce(t.busy_s, 0.0)) over (partition by c.run, c.stage
                                                      order by c.id) as first_busy_s
    from rank_class c left join track t on t.rank_class = c.id and t.name = 'compute')
select stage, id as rank_class, first_rank, case place when 1 then 'first' else 'slowest' end as role,
       run
from b where place = 1 or (id = slowest and busy_s > 1.000001 * first_busy_s)
order by run, stage, id;

-- What a run is called: what was said with --set stands behind the name of its scenario.
create view title as select title as text, id as run from run;

create view counter as
select r.rank as rank, c.stage as stage, t.name as name, v.ts as ts, v.value as value,
       t.id as track_id, t.run as run
from counter_raw v
join track t on t.id = v.track_id
join rank_class c on c.id = t.rank_class
join rank r on r.rank_class = t.rank_class and r.run = t.run;

create view breakdown as
with mean as (
    select run, sum(rank_count) as ranks,
           sum(compute_s * rank_count) as compute, sum(recompute_s * rank_count) as recompute,
           sum(exposed_tp_s * rank_count) as tp, sum(exposed_cp_s * rank_count) as cp,
           sum(exposed_ep_s * rank_count) as ep, sum(bubble_s * rank_count) as bubble,
           sum(exposed_pp_s * rank_count) as pp, sum(exposed_dp_s * rank_count) as dp,
           sum(offload_s * rank_count) as offload,
           sum(optimizer_s * rank_count) as optimizer, sum(host_s * rank_count) as host,
           sum(straggler_s * rank_count) as straggler
    from rank_class where finish_s is not null group by run),
parts (run, place, part, seconds, meaning) as (
    select run, 1, 'compute', compute / ranks, 'kernels of the forward and backward pass' from mean
    union all select run, 2, 'recompute', recompute / ranks,
        'forward kernels run again to save memory' from mean
    union all select run, 3, 'exposed_tp', tp / ranks,
        'waiting for tensor-parallel communication' from mean
    union all select run, 4, 'exposed_cp', cp / ranks,
        'waiting for context-parallel communication' from mean
    union all select run, 5, 'exposed_ep', ep / ranks,
        'waiting for expert-parallel communication' from mean
    union all select run, 6, 'bubble', bubble / ranks,
        'the pipeline has no work for this stage yet' from mean
    union all select run, 7, 'exposed_pp', pp / ranks,
        'waiting for activations or gradients on the wire between stages' from mean
    union all select run, 8, 'exposed_dp', dp / ranks,
        'waiting for gradients or parameters to be shared among replicas' from mean
    union all select run, 9, 'offload', offload / ranks,
        'waiting for activations on their way to the host or back' from mean
    union all select run, 10, 'optimizer', optimizer / ranks, 'updating the weights' from mean
    union all select run, 11, 'host', host / ranks,
        'the CPU had not launched the next kernel yet' from mean
    union all select run, 12, 'straggler', straggler / ranks,
        'waiting for a peer whose card is slower at the same work' from mean)
select p.part as part, p.seconds as seconds, 100.0 * p.seconds / u.step_s as percent,
       p.meaning as meaning, p.run as run
from parts p join run u on u.id = p.run
order by p.run, p.place;

create view bubble as
select c.stage as stage, sum(c.rank_count) as ranks,
       sum(c.bubble_s * c.rank_count) / sum(c.rank_count) as bubble_s,
       100.0 * sum(c.bubble_s * c.rank_count) / sum(c.rank_count) / u.step_s as percent_of_step,
       sum(c.compute_s * c.rank_count) / sum(c.rank_count) as compute_s,
       u.step_s as step_s, c.run as run
from rank_class c join run u on u.id = c.run
where c.finish_s is not null
group by c.run, c.stage
order by c.run, c.stage;

create view overlap as
select c.stage as stage, t.name as stream, sum(c.rank_count) as ranks,
       sum(t.busy_s * c.rank_count) / sum(c.rank_count) as busy_s,
       sum(t.hidden_s * c.rank_count) / sum(c.rank_count) as hidden_under_compute_s,
       sum((t.busy_s - t.hidden_s) * c.rank_count) / sum(c.rank_count) as not_hidden_s,
       case when sum(t.busy_s * c.rank_count) > 0
            then 100.0 * sum(t.hidden_s * c.rank_count) / sum(t.busy_s * c.rank_count)
       end as percent_hidden,
       t.run as run
from track t join rank_class c on c.id = t.rank_class
where t.kind = 'stream' and t.name not in ('compute', 'copy')
group by t.run, c.stage, t.name
order by t.run, c.stage, t.name;

create view link_util as
select l.kind as wire, l."from" as "from", l."to" as "to", l.link_count as alike,
       l.bytes_per_s / 1e9 as capacity_GB_per_s, l.moved_bytes / 1e9 as moved_GB,
       l.busy_s as busy_s, 100.0 * l.busy_s / u.step_s as percent_of_time_busy,
       100.0 * l.moved_bytes / (l.bytes_per_s * u.step_s) as percent_of_capacity, l.run as run
from link l join run u on u.id = l.run
order by l.run, percent_of_capacity desc, l.id;

create view memory_peak as
select c.stage as stage, sum(c.rank_count) as ranks, c.layers as layers,
       c.peak_reserved_bytes / 1073741824.0 as reserved_GiB,
       u.usable_hbm_bytes / 1073741824.0 as usable_GiB,
       100.0 * c.peak_reserved_bytes / u.usable_hbm_bytes as percent_of_usable,
       case c.fits when 1 then 'fits' else 'out of memory' end as verdict,
       c.peak_allocated_bytes / 1073741824.0 as allocated_GiB,
       c.weights_bytes / 1073741824.0 as weights_GiB,
       c.gradients_bytes / 1073741824.0 as gradients_GiB,
       c.master_bytes / 1073741824.0 as master_GiB,
       c.moments_bytes / 1073741824.0 as moments_GiB,
       c.activations_bytes / 1073741824.0 as activations_GiB,
       c.temporary_bytes / 1073741824.0 as temporary_GiB,
       c.communication_bytes / 1073741824.0 as communication_GiB,
       c.context_bytes / 1073741824.0 as context_GiB,
       c.fragmentation_bytes / 1073741824.0 as fragmentation_GiB,
       c.run as run
from rank_class c join run u on u.id = c.run
group by c.run, c.stage, c.layers, c.peak_reserved_bytes, c.fits
order by c.run, c.stage;

create view layout_rank as
select rank() over (order by u.fits desc, u.step_s) as place, u.id as run, u.tp as tp, u.pp as pp,
       u.dp as dp, u.cp as cp, u.vpp as vpp, u.microbatch as microbatch, u.schedule as schedule,
       u.sharding as sharding, u.recompute as recompute, u.fits as fits, u.step_s as step_s,
       u.tokens_per_s as tokens_per_s, 100.0 * u.mfu_ratio as mfu_percent,
       u.peak_reserved_bytes / 1073741824.0 as reserved_GiB
from run u;

create view pareto as
select u.id as run, u.tokens_per_s as tokens_per_s, u.peak_reserved_bytes / 1073741824.0 as
       reserved_GiB, u.step_s as step_s
from run u
where u.fits = 1 and u.step_s is not null and not exists (
    select 1 from run v
    where v.fits = 1 and v.step_s is not null
      and v.tokens_per_s >= u.tokens_per_s and v.peak_reserved_bytes <= u.peak_reserved_bytes
      and (v.tokens_per_s > u.tokens_per_s or v.peak_reserved_bytes < u.peak_reserved_bytes))
order by u.tokens_per_s desc;

create view goodput as
select b.run as run, b.class as class, sum(b.seconds) as seconds,
       100.0 * sum(b.seconds) / (select sum(a.seconds) from badput a where a.run = b.run)
           as percent
from badput b
group by b.run, b.class
order by b.run, sum(b.seconds) desc, b.class;

create view study_result as
select p.label as point, r.seed as seed, n.text as metric, r.value as value, r.study as study
from study_raw r
join string n on n.id = r.metric
join study_point p on p.study = r.study and p.point = r.point;

create view study_curve as
select p.label as point, s.metric as metric, s.mean as mean, s.low95 as low95, s.high95 as high95,
       s.p10 as p10, s.p50 as p50, s.p90 as p90, p.replications as replications, s.study as study
from study_summary s
join study_point p on p.study = s.study and p.point = s.point
join study u on u.id = s.study
where s.metric = u.objective
order by s.study, p.point;

create view plan_candidate as
select l.machine as machine, l.place as place, l.tp as tp, l.pp as pp, l.dp as dp, l.cp as cp,
       l.ep as ep, l.vpp as vpp, l.microbatch as microbatch, l.schedule as schedule, l.sharding as sharding,
       l.sequence_parallel as sequence_parallel, l.recompute as recompute,
       l.recompute_layers as recompute_layers,
       case when l.fate <> 'open' then l.fate
            when coalesce(p.fits, g.fits) = 0 then 'ledger'
            when p.fits = 1 then 'played'
            when t.pass_step_s is null then 'bound'
            else 'timed' end as fate,
       l.rule as rule, l.least_bytes as least_bytes, l.least_step_s as least_step_s,
       t.pass_step_s as pass_step_s, p.step_s as step_s, p.tokens_per_s as tokens_per_s,
       p.mfu as mfu, p.peak_reserved_bytes as peak_reserved_bytes
from plan_layout l
left join plan_time t using (machine, place, turn)
left join plan_ledger g using (machine, place, turn)
left join plan_play p using (machine, place, turn)
order by l.machine, coalesce(p.step_s, t.pass_step_s, 9e99), l.place, l.turn;
