/* launched_deepspeed_layout.c - ZeRO, the ranks of a replica, what lies on the host and what is
 * computed again. */
#include <inttypes.h>

#include "scenarios/import/launched/launched_deepspeed.h"

#define SAYS(option) launched_deepspeed_says(l, DEEPSPEED_##option)
#define ON(option) launched_on(l, DEEPSPEED_##option)
#define COUNT(option, usual) (SAYS(option) ? launched_count(l, DEEPSPEED_##option, usual) : (usual))
#define TRUTH(option, usual) (SAYS(option) ? launched_truth(l, DEEPSPEED_##option, usual) : (usual))
#define NUMBER(option, usual)                                                                      \
    (SAYS(option) ? launched_number(l, DEEPSPEED_##option, usual) : (usual))
#define KEY(option, ...) launched_key(l, LAUNCHED_LAYOUT, DEEPSPEED_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, DEEPSPEED_##option, __VA_ARGS__)

static void read_zero(struct launched *l)
{
    static const char *const stages[] = {"0", "1", "2", "3", NULL};
    const int stage = SAYS(STAGE) ? launched_choice(l, DEEPSPEED_STAGE, stages, 0) : 0;
    const double shards = stage == 3 && launched_has(l, DEEPSPEED_MICS) &&
                                  l->said[DEEPSPEED_MICS].value[0] != '-' /* -1: none */
                              ? NUMBER(MICS, 0.0)
                              : 0.0;
    if (shards >= 1.0) {
        KEY(MICS, "sharding: hsdp");
        KEY(MICS, "shard_group: %.0f", shards);
    } else {
        KEY(STAGE, "sharding: zero-%d", stage);
    }
    if (stage > 0)
        SOFTWARE(OVERLAP, "overlap_gradients: %s", TRUTH(OVERLAP, stage == 3) ? "true" : "false");
    if (SAYS(BUCKET)) /* elements of 16 bits */
        SOFTWARE(BUCKET, "bucket: %.0fB", 2.0 * NUMBER(BUCKET, 0.0));
    if (SAYS(LIVE) && stage == 3)
        SOFTWARE(LIVE, "live_parameters: %.0f", NUMBER(LIVE, 0.0));
}

static void read_offload(struct launched *l)
{
    static const char *const devices[] = {"none", "cpu", "nvme", NULL};
    const int device = SAYS(OFFLOAD) ? launched_choice(l, DEEPSPEED_OFFLOAD, devices, 0) : 0;
    const int weights = launched_choice(l, DEEPSPEED_OFFLOAD_WEIGHTS, devices, 0);
    const double share = NUMBER(OFFLOAD_SHARE, 1.0);
    if (share > 1.0)
        launched_bad(l, DEEPSPEED_OFFLOAD_SHARE, "wants a share from 0 to 1, not %g", share);
    if (device > 0) {
        KEY(OFFLOAD, "optimizer_offload: %.15g", share);
        KEY(OFFLOAD, "optimizer_offload_to: %s", devices[device]);
    } else if (TRUTH(OLD_OFFLOAD, false)) {
        KEY(OLD_OFFLOAD, "optimizer_offload: 1");
    }
    if (weights > 0)
        launched_warn(l, DEEPSPEED_OFFLOAD_WEIGHTS, "parameters stay on the cards");
}

/* The command line says which layers; a configuration alone only what becomes of their inputs. */
static void read_recompute(struct launched *l)
{
    static const char *const kinds[] = {"selective", "full", NULL};
    static const char *const methods[] = {"uniform", "block", NULL};
    const uint64_t layers = COUNT(RECOMPUTE_LAYERS, 1);
    const bool configured =
        TRUTH(PARTITIONS, false) || TRUTH(INPUTS_ON_HOST, false) || SAYS(INPUTS);
    const int kind = launched_choice(l, DEEPSPEED_RECOMPUTE, kinds, 0);
    const int method = launched_choice(l, DEEPSPEED_RECOMPUTE_METHOD, methods, 0);
    if (SAYS(RECOMPUTE) && kind == 0) {
        KEY(RECOMPUTE, "recompute: selective");
    } else if (SAYS(RECOMPUTE) && method == 0 && layers == 1) {
        KEY(RECOMPUTE, "recompute: full");
    } else if (SAYS(RECOMPUTE)) {
        KEY(RECOMPUTE_METHOD, "recompute: %s", methods[method]);
        KEY(RECOMPUTE_LAYERS, "recompute_layers: %" PRIu64, layers);
    } else if (SAYS(LAYERS)) {
        KEY(RECOMPUTE, "recompute: none");
    } else if (configured) {
        const int place = SAYS(INPUTS)               ? DEEPSPEED_INPUTS
                          : TRUTH(PARTITIONS, false) ? DEEPSPEED_PARTITIONS
                                                     : DEEPSPEED_INPUTS_ON_HOST;
        launched_key(l, LAUNCHED_LAYOUT, place, "recompute: full");
        launched_warn(l, place,
                      "the program says which layers are computed again: all are "
                      "simulated so");
    } else {
        launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "# recompute: not said");
    }
    if (TRUTH(INPUTS_ON_HOST, false))
        launched_warn(l, DEEPSPEED_INPUTS_ON_HOST, "inputs of layers stay on the cards");
    if (TRUTH(PARTITIONS, false))
        launched_warn(l, DEEPSPEED_PARTITIONS, "inputs of layers are held whole by tensor ranks");
}

void launched_deepspeed_layout(struct launched *l, const struct launched_ranks *ranks)
{
    const bool sequence = ON(SEQUENCE_PARALLEL) && ranks->tp > 1;
    KEY(AUTO_TP, "tp: %" PRIu64, ranks->tp);
    KEY(SEQUENCE_PARALLEL, "sequence_parallel: %s", sequence ? "true" : "false");
    KEY(PP, "pp: %" PRIu64, ranks->pp);
    KEY(PP, "vpp: 1");
    if (ranks->pp > 1) {
        KEY(PP, "schedule: 1f1b");
        KEY(PP, "ends_count: false");
        SOFTWARE(PP, "even_stages: false");
    }
    KEY(ULYSSES, "cp: %" PRIu64, ranks->cp);
    if (ranks->cp > 1)
        KEY(ULYSSES, "cp_method: all_to_all");
    if (ranks->dp > 0)
        launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "dp: %" PRIu64, ranks->dp);
    KEY(PP, "order: tp-cp-dp-pp");
    read_zero(l);
    read_offload(l);
    read_recompute(l);
}
