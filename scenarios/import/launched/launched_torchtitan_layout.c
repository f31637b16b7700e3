/* launched_torchtitan_layout.c - which rank does what, by torchtitan's degrees. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/launched/launched_torchtitan.h"

#define HAS(option) launched_has(l, TORCHTITAN_##option)
#define ON(option) launched_on(l, TORCHTITAN_##option)
#define COUNT(option, usual) launched_count(l, TORCHTITAN_##option, usual)
#define TEXT(option, usual) launched_text(l, TORCHTITAN_##option, usual)
#define KEY(option, ...) launched_key(l, LAUNCHED_LAYOUT, TORCHTITAN_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, TORCHTITAN_##option, __VA_ARGS__)

/* A degree of the data ranks; 0: -1, the rest of them. */
static uint64_t degree(struct launched *l, enum torchtitan_option option, uint64_t usual)
{
    const char *text = launched_text(l, (int)option, NULL);
    return text != NULL && strcmp(text, "-1") == 0 ? 0 : launched_count(l, (int)option, usual);
}

/* FSDP2 shares parameters over shard x cp ranks, which replicate groups copy. */
static void read_sharding(struct launched *l, const struct launched_ranks *ranks)
{
    static const char *const reshards[] = {"default", "always", "never", NULL};
    const int reshard = launched_choice(l, TORCHTITAN_RESHARD, reshards, 0);
    const uint64_t copies = COUNT(REPLICATE, 1);
    uint64_t shard = degree(l, TORCHTITAN_SHARD, 0);
    if (shard == 0)
        shard = ranks->dp / copies;
    if (!l->broken && ranks->dp > 0 && shard * copies != ranks->dp)
        launched_bad(l, TORCHTITAN_SHARD,
                     "shard %" PRIu64 " x replicate %" PRIu64 " is not dp, %" PRIu64
                     ": GPUs / (tp x pp x cp)",
                     shard, copies, ranks->dp);
    /* Under a pipeline parameters stay gathered through a step, unless told otherwise. */
    const bool keeps = reshard == 2 || (reshard == 0 && ranks->pp > 1);
    if (shard * ranks->cp == 1 && copies > 1) {
        KEY(REPLICATE, "sharding: zero-0");
    } else if (copies > 1) {
        KEY(REPLICATE, "sharding: hsdp");
        KEY(SHARD, "shard_group: %" PRIu64, shard * ranks->cp);
        SOFTWARE(RESHARD, "fsdp_reshard: %s", keeps ? "false" : "true");
    } else {
        KEY(RESHARD, "sharding: %s", keeps && ranks->pp > 1 ? "zero-2" : "fsdp");
        if (ranks->pp == 1)
            SOFTWARE(RESHARD, "fsdp_reshard: %s", keeps ? "false" : "true");
    }
    if (ranks->dp > 0)
        KEY(SHARD, "dp: %" PRIu64, ranks->dp);
}

/* Virtual stages, and layers of each: torchtitan spreads them with those that the first and the
 * last stage have less (torchtitan/distributed/pipeline_parallel.py,
 * generate_llm_fqn_per_model_part). */
static void read_stages(struct launched *l, uint64_t pp, uint64_t layers, bool looped)
{
    enum {
        STAGES_MAX = 4096
    };
    const uint64_t first = (uint64_t)launched_number(l, TORCHTITAN_FIRST_LESS, 1.0);
    const uint64_t last = (uint64_t)launched_number(l, TORCHTITAN_LAST_LESS, 1.0);
    const uint64_t whole = layers + first + last, usual = looped ? 2 : 1;
    uint64_t stages = pp * usual;
    if (HAS(STAGE_LAYERS) && layers > 0)
        stages = (whole + COUNT(STAGE_LAYERS, 1) - 1) / COUNT(STAGE_LAYERS, 1);
    else if (HAS(STAGE_LAYERS))
        launched_warn(l, TORCHTITAN_STAGE_LAYERS,
                      "stages follow from it where the flavor is known: %" PRIu64 " are simulated",
                      stages);
    if (!l->broken && (stages % pp != 0 || stages > STAGES_MAX))
        launched_bad(l, TORCHTITAN_STAGE_LAYERS,
                     "makes %" PRIu64 " stages, which pp %" PRIu64 " does not divide", stages, pp);
    if (l->broken)
        return;
    KEY(STAGE_LAYERS, "vpp: %" PRIu64, stages / pp);
    unsigned *chunks = ARENA_ARRAY(l->arena, unsigned, stages);
    for (uint64_t i = 0; i < stages; i++)
        chunks[i] = (unsigned)(whole / stages + (i < whole % stages));
    if (layers == 0)
        return;
    if (chunks[0] < first || chunks[stages - 1] < last)
        launched_bad(l, TORCHTITAN_FIRST_LESS, "a stage has fewer layers than it is to have less");
    chunks[0] -= (unsigned)first;
    chunks[stages - 1] -= (unsigned)last;
    if (!l->broken)
        launched_spread(l, HAS(FIRST_LESS) ? TORCHTITAN_FIRST_LESS : TORCHTITAN_PP, chunks,
                        (unsigned)stages);
}

static void read_pipeline(struct launched *l, uint64_t pp, uint64_t layers)
{
    static const char *const schedules[] = {"1F1B",          "GPipe",     "Interleaved1F1B",
                                            "ZBVZeroBubble", "DualPipeV", NULL};
    static const char *const names[] = {"1f1b", "gpipe", "interleaved", "zb-v", "dualpipe-v"};
    KEY(PP, "pp: %" PRIu64, pp);
    if (pp == 1) {
        KEY(PP, "vpp: 1");
        return;
    }
    const int schedule = launched_choice(l, TORCHTITAN_SCHEDULE, schedules, 0);
    KEY(SCHEDULE, "schedule: %s", names[schedule]);
    read_stages(l, pp, layers, schedule >= 2);
}

static void read_context(struct launched *l, uint64_t cp)
{
    static const char *const methods[] = {"allgather", "alltoall", NULL};
    KEY(CP, "cp: %" PRIu64, cp);
    if (cp == 1)
        return;
    const int method = launched_choice(l, TORCHTITAN_ROTATE, methods, 0);
    KEY(ROTATE, "cp_method: %s", method == 0 ? "all_gather" : "ring");
    const bool none = !HAS(BALANCER) && l->said[TORCHTITAN_BALANCER].line > 0; /* None */
    KEY(BALANCER, "cp_balance: %s", none ? "none" : "zig_zag");
}

/* Every Nth layer whole, or by operator; the default of torchtitan is every second. */
static void read_recompute(struct launched *l)
{
    static const char *const modes[] = {"selective", "full", "none", "memory_budget", NULL};
    const int mode = launched_choice(l, TORCHTITAN_RECOMPUTE, modes, 0);
    const char *option = TEXT(RECOMPUTE_OPTION, "2");
    const unsigned long each = strtoul(option, NULL, 10);
    if (mode == 3)
        launched_warn(l, TORCHTITAN_RECOMPUTE, "a budget of memory is simulated by operator");
    if (mode == 1 || (mode == 0 && each == 1))
        KEY(RECOMPUTE, "recompute: full");
    else if (mode == 2)
        KEY(RECOMPUTE, "recompute: none");
    else if (mode == 3 || strcmp(option, "op") == 0)
        KEY(RECOMPUTE, "recompute: per_operator");
    else if (each == 2)
        KEY(RECOMPUTE_OPTION, "recompute: every_other_layer");
    else if (each == 0)
        launched_bad(l, TORCHTITAN_RECOMPUTE_OPTION, "wants op or a whole number above 0");
    else {
        KEY(RECOMPUTE_OPTION, "recompute: every_other_layer");
        launched_warn(l, TORCHTITAN_RECOMPUTE_OPTION,
                      "every second layer is simulated as computed again, not one in %lu", each);
    }
}

void launched_torchtitan_layout(struct launched *l, const struct launched_ranks *ranks,
                                const struct launched_flavor *flavor)
{
    KEY(TP, "tp: %" PRIu64, ranks->tp);
    KEY(TP, "sequence_parallel: %s", ranks->tp > 1 ? "true" : "false");
    if (ranks->tp > 1)
        SOFTWARE(ASYNC_TP, "tp_pipelines: %s", ON(ASYNC_TP) ? "true" : "false");
    read_pipeline(l, ranks->pp, flavor->layers);
    read_context(l, ranks->cp);
    if (flavor->experts)
        KEY(EP, "ep: %" PRIu64, COUNT(EP, 1));
    if (flavor->experts)
        KEY(ETP, "etp: %" PRIu64, COUNT(EP, 1) > 1 ? COUNT(ETP, 1) : ranks->tp);
    KEY(CP, "order: tp-cp-dp-pp");
    read_sharding(l, ranks);
    read_recompute(l);
}
