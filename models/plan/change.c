/* change.c
 *
 * Invariants
 * 1. A key that is stated in `from` and that `to` has otherwise is in every set; with each further
 *    reading there are more of them. */
#include "models/plan/change.h"

#include <string.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "models/plan/choice_keys.h"
#include "models/plan/plan_layout.h"
#include "models/step/simulate/step.h"

enum {
    TIMED_OPS_MAX = 1 << 22, /* of ranks that jitter keeps apart: about a second */
    READINGS_MAX = 5         /* then every open key is stated */
};
/* What is told with fewer keys may be so much slower. */
static const double close_ratio = 0.01;

enum change_key { /* those of a layout, enum plan_axis, and others that a move changes */
    CHANGE_ATTENTION = PLAN_KEY_COUNT,
    CHANGE_SEGMENTS,
    CHANGE_DISPATCH,
    CHANGE_DISPATCH_8BIT,
    CHANGE_KEY_COUNT
};
static const unsigned of_dp = 1u << PLAN_DP;

static const char *path_of(struct arena *arena, unsigned key)
{
    static const char *const others[] = {"training.attention", "software.expandable_segments",
                                         "layout.dispatch", "layout.dispatch_8bit"};
    return key < PLAN_KEY_COUNT ? arena_format(arena, "layout.%s", plan_axis_names[key])
                                : others[key - PLAN_KEY_COUNT];
}

static const char *truth(bool is)
{
    return is ? "true" : "false";
}

/* Sizes of the groups of experts are told as they are, whatever they follow from; "": a dense model
 * has none. */
static const char *layout_text(struct arena *arena, const struct configuration *c,
                               enum plan_axis key)
{
    struct plan_layout layout = plan_layout_of(c);
    layout.etp = (uint32_t)configuration_expert_ranks(c).etp;
    const bool absent = c->model.moe.experts == 0 && (key == PLAN_EP || key == PLAN_ETP);
    return absent ? "" : plan_layout_text(arena, &layout, key);
}

static const char *text_of(struct arena *arena, const struct configuration *c, unsigned key)
{
    if (key < PLAN_KEY_COUNT)
        return layout_text(arena, c, (enum plan_axis)key);
    switch ((enum change_key)key) {
    case CHANGE_ATTENTION:
        return attention_kernel_names[c->training.attention];
    case CHANGE_SEGMENTS:
        return truth(c->software.memory.expandable_segments);
    case CHANGE_DISPATCH:
        return c->model.moe.experts > 0 ? configuration_dispatch(c)->head.name : "";
    case CHANGE_DISPATCH_8BIT:
        return c->model.moe.experts > 0 ? truth(c->layout.experts.dispatch_8bit) : "";
    case CHANGE_KEY_COUNT:
        break;
    }
    return "";
}

/* Bits of the keys in which two layouts differ. */
static unsigned differing(struct arena *arena, const struct configuration *a,
                          const struct configuration *b)
{
    unsigned keys = 0;
    for (unsigned key = 0; key < CHANGE_KEY_COUNT; key++)
        if (strcmp(text_of(arena, a, key), text_of(arena, b, key)) != 0)
            keys |= 1u << key;
    return keys;
}

static bool is_open(struct arena *arena, unsigned choices, unsigned key)
{
    for (unsigned i = 0; i < CHOICE_COUNT; i++)
        if ((choices >> i & 1u) != 0 &&
            strcmp(choice_key_path((enum choice_key)i), path_of(arena, key)) == 0)
            return true;
    return false;
}

/* Those of these keys, each as --set takes it, in the order in which they are told: what a rank
 * holds, how a pipeline goes, how the work is split. Returns how many. */
static unsigned spell(struct arena *arena, const struct configuration *c, unsigned keys,
                      const char **out)
{
    static const unsigned char order[CHANGE_KEY_COUNT] = {PLAN_SHARDING,
                                                          PLAN_MICROBATCH,
                                                          PLAN_RECOMPUTE,
                                                          PLAN_RECOMPUTE_LAYERS,
                                                          PLAN_SCHEDULE,
                                                          PLAN_VPP,
                                                          PLAN_TP,
                                                          PLAN_PP,
                                                          PLAN_CP,
                                                          PLAN_DP,
                                                          PLAN_SEQUENCE_PARALLEL,
                                                          PLAN_EP,
                                                          PLAN_ETP,
                                                          PLAN_ENDS_COUNT,
                                                          PLAN_FIRST_STAGE_LAYERS,
                                                          PLAN_LAST_STAGE_LAYERS,
                                                          CHANGE_ATTENTION,
                                                          CHANGE_SEGMENTS,
                                                          CHANGE_DISPATCH,
                                                          CHANGE_DISPATCH_8BIT};
    unsigned count = 0;
    for (unsigned i = 0; i < CHANGE_KEY_COUNT; i++)
        if ((keys >> order[i] & 1u) != 0)
            out[count++] =
                arena_format(arena, "%s=%s", path_of(arena, order[i]), text_of(arena, c, order[i]));
    return count;
}

/* Jitter sets every rank apart; without it ranks fold, and a step costs milliseconds. */
static bool worth_playing(const struct configuration *c, const struct step *memory)
{
    uint64_t ops = 0;
    for (uint32_t i = 0; c->kernel_jitter_sigma > 0.0 && i < memory->memory_count; i++)
        ops += (uint64_t)memory->memory[i].rank_count * memory->lowered.programs[i]->op_count;
    return ops <= TIMED_OPS_MAX;
}

bool change_play(const struct configuration *c, struct change *out)
{
    struct step_options options = {.memory_only = true};
    struct step *step = NULL;
    struct error error;
    if (!step_run(c, &options, &step, &error))
        return false;
    bool fits = step->fits;
    out->timed = fits && worth_playing(c, step);
    out->peak_reserved_bytes = step->peak.reserved_bytes;
    out->step_s = out->tokens_per_s = 0.0;
    step_destroy(step);
    if (!out->timed)
        return fits;
    options = (struct step_options){.outcome_only = true};
    if (!step_run(c, &options, &step, &error))
        return false;
    fits = step->fits;
    out->step_s = step->step_s;
    out->tokens_per_s = step->rates.tokens_per_s;
    step_destroy(step);
    return fits;
}

/* What is told of another reading lives as long as this one. */
static void take(const struct change_question *q, const struct configuration *got, const char *set,
                 struct change *out)
{
    out->set = set;
    out->c = *q->from;
    out->c.layout = got->layout;
    out->c.layout.order = q->from->layout.order;
    out->c.training.attention = got->training.attention;
    out->c.software.memory.expandable_segments = got->software.memory.expandable_segments;
}

struct attempt {
    struct arena *arena;
    const struct change_question *q;
    const struct configuration *to;
    unsigned least; /* bits of the keys that are stated, and otherwise */
    unsigned open;  /* that may be stated beside them */
    unsigned keys;  /* that are */
    struct configuration got;
};

/* Is it chosen so whatever else is? The order of a pipeline of one stage, and what the card and the
 * software settle. */
static bool follows(const struct configuration *c, unsigned key)
{
    const bool order = key == PLAN_SCHEDULE || key == PLAN_VPP || key == PLAN_ENDS_COUNT;
    return (order && c->layout.pp == 1) || (key == PLAN_SEQUENCE_PARALLEL && c->layout.tp == 1) ||
           key == CHANGE_ATTENTION;
}

static struct attempt begin(struct arena *arena, const struct change_question *q,
                            const struct configuration *to)
{
    struct attempt a = {.arena = arena, .q = q, .to = to, .least = differing(arena, q->from, to)};
    for (unsigned key = 0; q->reader != NULL && key < CHANGE_KEY_COUNT; key++) {
        const char *text = text_of(arena, to, key);
        if (key != PLAN_DP && !is_open(arena, q->open, key))
            continue; /* dp is what is left, unless it is stated */
        a.least &= ~(1u << key);
        if (key != PLAN_DP && *text != '\0' && strcmp(text, "auto") != 0 && !follows(to, key))
            a.open |= 1u << key;
    }
    a.keys = a.least;
    return a;
}

static bool make(struct attempt *a, struct change *out)
{
    const struct change_reader *reader = a->q->reader;
    const char *sets[CHANGE_KEY_COUNT], *text = "";
    unsigned count = spell(a->arena, a->to, a->keys & a->least, sets); /* 1 */
    count += spell(a->arena, a->to, a->keys & ~a->least, sets + count);
    a->got = reader != NULL ? *a->q->from : *a->to;
    if (reader != NULL && !reader->read(reader->context, sets, count, &a->got))
        return false;
    if (!change_play(&a->got, out))
        return false;
    for (unsigned i = 0; i < count; i++)
        text = arena_format(a->arena, "%s%s%s", text, i > 0 ? " " : "", sets[i]);
    take(a->q, &a->got, text, out);
    return true;
}

/* The keys that the next reading states: dp where it is stated and no longer what is left; those
 * that were chosen otherwise; all. */
static unsigned more_keys(const struct attempt *a, bool all)
{
    const unsigned keys = a->keys | (differing(a->arena, &a->got, a->to) & a->open);
    if (configuration_ranks(&a->got) != configuration_ranks(a->to) && (a->keys & of_dp) == 0)
        return a->keys | of_dp;
    return all || keys == a->keys ? a->keys | a->open : keys;
}

/* Is what was chosen anew about as fast as what was tried, or faster? */
static bool keeps_up(const struct attempt *a, const struct change *got)
{
    struct change held;
    if (differing(a->arena, &a->got, a->to) == 0 || !change_play(a->to, &held) || !held.timed)
        return true;
    return got->timed && got->step_s <= (1.0 + close_ratio) * held.step_s;
}

bool change_settle(struct arena *arena, const struct change_question *q,
                   const struct configuration *to, struct change *out)
{
    struct attempt a = begin(arena, q, to);
    for (unsigned i = 1; i <= READINGS_MAX; i++) {
        if (make(&a, out) && keeps_up(&a, out))
            return true;
        const unsigned before = a.keys;
        a.keys = more_keys(&a, i + 1 >= READINGS_MAX);
        if (q->reader == NULL || a.keys == before)
            break;
    }
    return false;
}

bool change_settle_whole(struct arena *arena, const struct change_question *q,
                         const struct configuration *to, struct change *out)
{
    struct attempt a = begin(arena, q, to);
    a.keys |= a.open;
    if (make(&a, out))
        return true;
    a.keys = more_keys(&a, true);
    return (a.keys & of_dp) != 0 && make(&a, out);
}

bool change_try(struct arena *arena, const struct change_question *q,
                const struct configuration *to, struct change *out)
{
    struct attempt a = begin(arena, q, to);
    if (make(&a, out))
        return true;
    a.keys = more_keys(&a, false);
    return a.keys == (a.least | of_dp) && make(&a, out);
}
