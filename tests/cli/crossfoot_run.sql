-- Of a run, for crossfoot.rules.
create temp table span as select track_id, ts, dur from slice_raw where depth = 0;
create index temp.span_track on span (track_id);
create temp view shape as
select (select value from constant where name like 'model.%.layers') as layers,
       (select value from constant where name like 'model.%.hidden') as hidden,
       (select value from constant where name like 'model.%.heads') as heads,
       (select value from constant where name like 'model.%.kv_heads') as kv_heads,
       (select value from constant where name like 'model.%.ffn_hidden') as ffn_hidden,
       (select value from constant where name like 'model.%.vocabulary') as vocabulary;
-- Of a dense model with SwiGLU, RMS norms and no biases.
create temp view parameters as
select layers * (2 * hidden * hidden + 2 * hidden * hidden / heads * kv_heads +
                 3 * hidden * ffn_hidden + 2 * hidden) + hidden as layers,
       2 * layers * hidden + hidden as norms, hidden * vocabulary as head,
       hidden * vocabulary as embedding
from shape;
