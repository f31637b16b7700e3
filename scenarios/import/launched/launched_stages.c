/* launched_stages.c - how layers lie in a pipeline, and which of them have experts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/launched/launched_megatron.h"

#define HAS(option) launched_has(l, MEGATRON_##option)
#define ON(option) launched_on(l, MEGATRON_##option)
#define COUNT(option, usual) launched_count(l, MEGATRON_##option, usual)
#define KEY(option, ...) launched_key(l, LAUNCHED_LAYOUT, MEGATRON_##option, __VA_ARGS__)

enum {
    LAYERS_MAX = 4096,
    NEST_MAX = 8
};
/* A row of letters written out, of Et*3|(tt|)*6L or ([0]*3+[1]*12). */
struct letters {
    char *text;
    unsigned count, capacity;
    bool broken;
};

/* Letters behind `from` once more, in all `times`. */
static void repeat(struct letters *out, unsigned from, unsigned long times)
{
    const unsigned bytes = out->count - from;
    if (times == 0)
        out->count = from;
    for (unsigned long i = 1; i < times && !out->broken && bytes > 0; i++) {
        out->broken = out->count + bytes > out->capacity;
        if (out->broken)
            return;
        memcpy(out->text + out->count, out->text + from, bytes);
        out->count += bytes;
    }
}

/* Writes out what stands before the bracket that ends it; returns behind that. */
static const char *write_out(struct letters *out, const char *at, const char *skipped,
                             unsigned depth)
{
    while (*at != '\0' && *at != ')' && *at != ']' && !out->broken) {
        const unsigned from = out->count;
        if (strchr(skipped, *at) != NULL) {
            at++;
            continue;
        }
        if (*at == '(' || *at == '[') {
            out->broken = depth == NEST_MAX;
            at = out->broken ? at : write_out(out, at + 1, skipped, depth + 1);
            out->broken = out->broken || *at == '\0';
            at += !out->broken;
        } else {
            out->broken = out->count == out->capacity;
            out->text[out->count] = out->broken ? out->text[out->count] : *at;
            out->count += !out->broken;
            at++;
        }
        while (*at == '*' && !out->broken) {
            char *end;
            repeat(out, from, strtoul(at + 1, &end, 10));
            out->broken = out->broken || end == at + 1;
            at = end;
        }
    }
    return at;
}

static bool spell_out(struct launched *l, const char *text, const char *skipped,
                      struct letters *out)
{
    out->capacity = 4 * LAYERS_MAX;
    out->text = arena_alloc(l->arena, out->capacity + 1, 1);
    const char *end = write_out(out, text, skipped, 0);
    return !out->broken && *end == '\0';
}

/* The layers of each chunk, of a list of stages: E, t, m, L, and | between. */
static uint64_t read_list(struct launched *l, uint64_t pp, uint64_t layers)
{
    struct letters letters = {.count = 0};
    const char *list = launched_raw(l, MEGATRON_STAGES);
    unsigned *chunks = ARENA_ARRAY(l->arena, unsigned, 4 * LAYERS_MAX + 1);
    unsigned count = 1;
    uint64_t sum = 0;
    if (l->broken)
        return 1;
    if (!spell_out(l, list, " \"',", &letters))
        return (uint64_t)launched_bad(l, MEGATRON_STAGES,
                                      "no list of stages such as "
                                      "Et*3|(tt|)*6L") +
               1;
    for (unsigned i = 0; i < letters.count; i++) {
        count += letters.text[i] == '|';
        chunks[count - 1] += letters.text[i] == 't';
        sum += letters.text[i] == 't';
    }
    if (count % pp != 0 || sum != layers)
        return (uint64_t)launched_bad(l, MEGATRON_STAGES,
                                      "%" PRIu64 " layers in %u stages: there are %" PRIu64
                                      " layers, and pp is %" PRIu64,
                                      sum, count, layers, pp) +
               1;
    if (!launched_spread(l, MEGATRON_STAGES, chunks, count))
        launched_key(l, LAUNCHED_SOFTWARE, MEGATRON_STAGES, "even_stages: false");
    return count / pp;
}

static void read_ends(struct launched *l, uint64_t layers, uint64_t pp)
{
    const bool embedding = ON(EMBEDDING_COUNTS), loss = ON(LOSS_COUNTS);
    if (!HAS(FIRST_LAYERS) && !HAS(LAST_LAYERS) && embedding == loss)
        KEY(EMBEDDING_COUNTS, "ends_count: %s", embedding ? "true" : "false");
    else if (embedding && !loss)
        KEY(EMBEDDING_COUNTS, "first_stage_layers: %" PRIu64, (layers + 1) / pp - 1);
    else if (loss && !embedding)
        KEY(LOSS_COUNTS, "last_stage_layers: %" PRIu64, (layers + 1) / pp - 1);
    if (HAS(FIRST_LAYERS))
        KEY(FIRST_LAYERS, "first_stage_layers: %" PRIu64, COUNT(FIRST_LAYERS, 1));
    if (HAS(LAST_LAYERS))
        KEY(LAST_LAYERS, "last_stage_layers: %" PRIu64, COUNT(LAST_LAYERS, 1));
}

/* Virtual stages of a rank, by the layers of each or by their number. */
static uint64_t virtual_stages(struct launched *l, uint64_t layers, uint64_t pp)
{
    const uint64_t whole = layers + (ON(EMBEDDING_COUNTS) ? 1 : 0) + (ON(LOSS_COUNTS) ? 1 : 0);
    if (!HAS(CHUNK_LAYERS))
        return COUNT(CHUNKS, 1);
    const uint64_t each = COUNT(CHUNK_LAYERS, 1);
    if (whole % (pp * each) != 0)
        launched_bad(l, MEGATRON_CHUNK_LAYERS,
                     "%" PRIu64 " layers do not divide by pp %" PRIu64 " x %" PRIu64, whole, pp,
                     each);
    return whole / pp / each;
}

void launched_megatron_stages(struct launched *l, const struct launched_ranks *ranks)
{
    const uint64_t layers = COUNT(NUM_LAYERS, 1);
    uint64_t vpp = 1;
    if (ranks->pp > 1 && HAS(STAGES))
        vpp = read_list(l, ranks->pp, layers);
    else if (ranks->pp > 1)
        vpp = virtual_stages(l, layers, ranks->pp);
    if (ranks->pp > 1 && !HAS(STAGES))
        read_ends(l, layers, ranks->pp);
    KEY(CHUNK_LAYERS, "vpp: %" PRIu64, vpp);
    if (ranks->pp > 1)
        launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "schedule: %s",
                     vpp > 1 ? "interleaved" : "1f1b");
    if (vpp > 1)
        launched_key(l, LAUNCHED_SOFTWARE, MEGATRON_P2P_WAITS, "p2p_blocking_interleaved: %s",
                     ON(P2P_WAITS) ? "true" : "false");
}

/* "([0]*3+[1]*58)" and "[0, 1]*24" as leading dense layers and an interval. */
static void read_pattern(struct launched *l, const char *text, uint64_t layers)
{
    struct letters p = {.count = 0};
    uint64_t dense = 0, interval = 1;
    bool is = spell_out(l, text, " \"',+", &p) && p.count > 0 && p.count == layers;
    for (unsigned i = 0; i < p.count && is; i++)
        is = p.text[i] == '0' || p.text[i] == '1';
    if (!is) {
        launched_bad(l, MEGATRON_MOE_FREQ, "no list of 0 and 1 for each of %" PRIu64 " layers",
                     layers);
        return;
    }
    while (dense < p.count && p.text[dense] == '0')
        dense++;
    while (dense + interval < p.count && p.text[dense + interval] == '0')
        interval++;
    /* The first with experts ends an interval: intervals count from the first layer of all. */
    is = dense < p.count;
    for (uint64_t i = dense; i < p.count && is; i++)
        is = (p.text[i] == '1') == ((i + 1) % interval == 0);
    if (!is) {
        launched_bad(l, MEGATRON_MOE_FREQ,
                     "experts in this order of layers have no keys: behind dense layers every Nth "
                     "layer has them");
        return;
    }
    dense = dense + 1 >= interval ? dense + 1 - interval : 0;
    if (dense > 0)
        launched_key(l, LAUNCHED_MODEL, MEGATRON_MOE_FREQ, "dense_layers: %" PRIu64, dense);
    if (interval > 1)
        launched_key(l, LAUNCHED_MODEL, MEGATRON_MOE_FREQ, "expert_interval: %" PRIu64, interval);
}

void launched_megatron_expert_layers(struct launched *l, uint64_t layers)
{
    const char *text = launched_raw(l, MEGATRON_MOE_FREQ);
    char *end = NULL;
    if (text == NULL || l->broken)
        return;
    const unsigned long each = strtoul(text, &end, 10);
    if (end == text || *end != '\0') {
        read_pattern(l, text, layers);
    } else if (each > 1) { /* the first of each N has experts; here it is the last */
        launched_key(l, LAUNCHED_MODEL, MEGATRON_MOE_FREQ, "expert_interval: %lu", each);
        launched_warn(l, MEGATRON_MOE_FREQ,
                      "the last of %lu layers has the experts here, there the first", each);
    }
}
