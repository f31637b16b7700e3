-- Of a study, for crossfoot.rules: replications by name, in order, and side by side.
create temp table sorted as
select r.point as point, n.text as metric, r.seed as seed, r.value as value,
       row_number() over (partition by r.point, r.metric order by r.value) as place
from study_raw r join string n on n.id = r.metric;
create index temp.sorted_place on sorted (point, metric, place);
create temp view spread as
select s.point as point, s.metric as metric,
       sum((s.value - m.mean) * (s.value - m.mean)) / (count(*) - 1) as v
from sorted s join study_summary m on m.point = s.point and m.metric = s.metric
group by s.point, s.metric;
-- The .975 quantile of Student's t with four degrees of freedom, in closed form (W. T. Shaw, 2006,
-- Journal of Computational Finance 9(4), 37-73, equation 37); a = 4 p (1 - p).
create temp view student as
select 2 * sqrt(cos(acos(sqrt(a)) / 3) / sqrt(a) - 1) as t from (select 4 * .975 * .025 as a);
-- By how much less the goodput of a point is than the best point's, seed by seed.
create temp view paired as
select w.point as point, sum(b.value - w.value) / count(*) as mean,
       (sum((b.value - w.value) * (b.value - w.value)) -
        sum(b.value - w.value) * sum(b.value - w.value) / count(*)) / (count(*) - 1) as v
from sorted w join sorted b on b.metric = w.metric and b.seed = w.seed
where w.metric = 'goodput'
  and b.point = (select point from study_summary where metric = 'goodput' order by mean desc limit 1)
group by w.point;
create temp view wide as
select point, seed,
       max(value) filter (where metric = 'goodput') as goodput,
       max(value) filter (where metric = 'ettr') as ettr,
       max(value) filter (where metric = 'tokens_per_day') as tokens_per_day,
       max(value) filter (where metric = 'wall_s') as wall_s,
       max(value) filter (where metric = 'steps_completed') as steps_completed,
       max(value) filter (where metric = 'tokens_completed') as tokens_completed,
       max(value) filter (where metric = 'failures') as failures,
       max(value) filter (where metric = 'interruptions') as interruptions,
       max(value) filter (where metric = 'checkpoints') as checkpoints,
       max(value) filter (where metric = 'cost_usd') as cost_usd,
       max(value) filter (where metric = 'cost_usd_per_1e9_tokens') as cost_usd_per_1e9_tokens,
       max(value) filter (where metric = 'energy_j') as energy_j,
       max(value) filter (where metric = 'useful_s') as useful_s,
       max(value) filter (where metric = 'checkpoint_s') as checkpoint_s,
       max(value) filter (where metric = 'lost_work_s') as lost_work_s,
       max(value) filter (where metric = 'detect_s') as detect_s,
       max(value) filter (where metric = 'restart_s') as restart_s,
       max(value) filter (where metric = 'wait_s') as wait_s,
       max(value) filter (where metric = 'degraded_s') as degraded_s,
       max(value) filter (where metric = 'maintenance_s') as maintenance_s,
       max(value) filter (where metric = 'idle_s') as idle_s,
       max(value) filter (where metric = 'cost_usd_per_step') as cost_usd_per_step,
       max(value) filter (where metric = 'cost_usd_for_budget') as cost_usd_for_budget,
       max(value) filter (where metric = 'step_time_s') as step_time_s,
       max(value) filter (where metric = 'tokens_per_s') as tokens_per_s,
       max(value) filter (where metric = 'mfu') as mfu,
       max(value) filter (where metric = 'peak_reserved_bytes') as peak_reserved_bytes
from sorted group by point, seed;
