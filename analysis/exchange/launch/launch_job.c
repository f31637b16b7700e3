#include "analysis/exchange/launch/launch_job.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "models/layout/configuration_split.h"
#include "models/layout/layout.h"

const char *launch_clean(struct arena *arena, const char *name)
{
    char *out = arena_format(arena, "%.64s", name != NULL && name[0] != '\0' ? name : "unnamed");
    for (char *c = out; *c != '\0'; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9') || strchr("._+-", *c) != NULL;
        *c = plain ? *c : '_';
    }
    return out;
}

/* The largest that divides the hosts and keeps tensor groups whole, else the largest that divides
 * them. */
static uint64_t segment_of(const struct launch_gpus *gpus, uint64_t tp)
{
    uint64_t widest = 0;
    for (uint64_t hosts = gpus->rack_hosts; hosts > 0; hosts--) {
        if (gpus->hosts % hosts != 0)
            continue;
        widest = widest > 0 ? widest : hosts;
        if (hosts * gpus->host_gpus % tp == 0)
            return hosts;
    }
    return widest;
}

/* As many on each host as it takes to have them all, and the same on each. */
static void place(const struct configuration *c, struct launch_job *out)
{
    const struct node_spec *node = &c->cluster.node;
    uint64_t each = node->chassis_gpus > 0 ? node->chassis_gpus : node->gpus;
    while (out->gpus.ranks % each != 0)
        each--;
    out->gpus.host_gpus = each;
    out->gpus.hosts = out->gpus.ranks / each;
    if (node->chassis_gpus > 0)
        out->gpus.rack_hosts = node->gpus / node->chassis_gpus;
    out->gpus.segment = segment_of(&out->gpus, c->layout.tp);
}

static void find_split(struct launch_job *out)
{
    const struct layout_spec *l = &out->c->layout;
    const uint64_t layers = out->c->model.layers;
    const bool given = l->pipeline.first_layers > 0 || l->pipeline.last_layers > 0;
    bool even = true;
    for (uint64_t i = 0; i < out->chunks; i++) {
        even = even && out->layers[i] == out->layers[0];
        out->most_layers = out->layers[i] > out->most_layers ? out->layers[i] : out->most_layers;
    }
    if (even) {
        out->split = LAUNCH_SPLIT_EVEN;
        out->chunk_layers = layers / out->chunks;
    } else if (l->pipeline.ends_count && (layers + 2) % out->chunks == 0) {
        out->split = LAUNCH_SPLIT_ENDS;
        out->chunk_layers = (layers + 2) / out->chunks;
    } else {
        const uint64_t begin = l->pipeline.first_layers > 0 ? 1 : 0;
        const uint64_t end = out->chunks - (l->pipeline.last_layers > 0 ? 1 : 0);
        out->split = given && l->pipeline.vpp == 1 ? LAUNCH_SPLIT_GIVEN : LAUNCH_SPLIT_LIST;
        for (uint64_t i = begin; i < end; i++)
            if (out->layers[i] != out->layers[begin])
                out->split = LAUNCH_SPLIT_LIST;
    }
}

static enum fp8_recipe recipe_of(const struct configuration *c)
{
    return precision_narrow(c->training.precision) ? configuration_fp8_recipe(c) : FP8_AUTO;
}

void launch_job_fill(const struct configuration *c, const struct launch_saves *saves,
                     struct arena *arena, struct launch_job *out)
{
    const struct layout_spec *l = &c->layout;
    const struct model_shape *m = &c->model;
    uint32_t *layers = ARENA_ARRAY(arena, uint32_t, l->pp * l->pipeline.vpp);
    configuration_split(c, layers);
    *out = (struct launch_job){
        .c = c,
        .gpus.ranks = configuration_ranks(c),
        .microbatches = configuration_microbatches(c),
        .chunks = l->pp * l->pipeline.vpp,
        .replicas = configuration_replicas(c),
        .shards = configuration_shards(c),
        .layers = layers,
        .recipe = recipe_of(c),
        .fp16 = c->training.precision->gemm_peak == PEAK_FP16,
        .bf16 = c->training.precision->attention_peak == PEAK_BF16,
        .sequence_parallel = l->sequence_parallel && l->tp > 1,
        .cp_uneven = l->cp > 1 && (l->context.balance == CP_BALANCE_AUTO
                                       ? c->software.context.uneven
                                       : l->context.balance == CP_BALANCE_NONE),
        .gradient_bytes = configuration_gradient_bytes(c),
        .positions = m->position == POSITION_LEARNED && m->positions_max > 0 ? m->positions_max
                                                                             : c->training.sequence,
        .course = {configuration_steps(c), *saves},
        .name = launch_clean(arena, m->name),
        .card = launch_clean(arena, c->gpu.name),
    };
    place(c, out);
    find_split(out);
}

/* The ranks of a dimension by its name in an order. */
static uint64_t ranks_of(const struct layout_spec *l, const char *dimension)
{
    switch (dimension[0]) {
    case 't':
        return l->tp;
    case 'p':
        return l->pp;
    case 'c':
        return l->cp;
    default:
        return l->dp;
    }
}

/* The next dimension of an order that has more than one rank; "": there is none. */
static const char *next_dimension(const struct layout_spec *l, const char *order)
{
    while (*order != '\0' && ranks_of(l, order) == 1)
        order += order[2] == '-' ? 3 : 2;
    return order;
}

bool launch_job_order(const struct launch_job *job, const char *order)
{
    const struct layout_spec *l = &job->c->layout;
    const char *a = next_dimension(l, layout_order(job->c)), *b = next_dimension(l, order);
    while (*a != '\0' && *b != '\0' && *a == *b) {
        a = next_dimension(l, a + (a[2] == '-' ? 3 : 2));
        b = next_dimension(l, b + (b[2] == '-' ? 3 : 2));
    }
    return *a == *b;
}

bool launch_job_spreads(const struct launch_job *job)
{
    const uint64_t layers = job->c->model.layers;
    for (uint64_t i = 0; i < job->chunks; i++)
        if (job->layers[i] != layers / job->chunks + (i < layers % job->chunks))
            return false;
    return true;
}

const char *launch_job_stages(const struct launch_job *job, struct arena *arena)
{
    const char *out = "E";
    for (uint64_t i = 0; i < job->chunks;) {
        uint64_t run = 1;
        const bool inner = i > 0 && i + 1 < job->chunks; /* the ends have letters of their own */
        while (inner && i + run + 1 < job->chunks && job->layers[i + run] == job->layers[i])
            run++;
        const uint64_t ahead = job->c->model.mtp_layers;
        const char *last = ahead > 0 ? arena_format(arena, "m*%uL", (unsigned)ahead) : "L";
        const char *end = i + run < job->chunks ? "|" : last;
        if (run > 1)
            out = arena_format(arena, "%s(t*%u|)*%u", out, job->layers[i], (unsigned)run);
        else
            out = arena_format(arena, "%st*%u%s", out, job->layers[i], end);
        i += run;
    }
    return out;
}
