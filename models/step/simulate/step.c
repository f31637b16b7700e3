#include "models/step/simulate/step.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "sim/check.h"
#include "sim/digest.h"
#include "sim/pool.h"
#include "sim/units.h"

enum {
    PLAY_OP_MAX = 1 << 27,  /* of all classes: about 7 GB of memory, some minutes */
    BRIEF_OP_MAX = 1 << 21, /* about a fifth of a second */
    CLASSES_AT_ONCE = 64    /* that a thread reads one after the other */
};
/* Times are recorded in whole ns of 64 bits, which end after 292 years. */
#define STEP_MAX_S (100.0 * YEAR)

static void play_memory(struct arena *arena, const struct configuration *c,
                        const struct step_options *options, struct step *s)
{
    struct ledger_limits limits = {
        .usable_bytes =
            options->usable_bytes > 0.0 ? options->usable_bytes : c->gpu.hbm.usable_bytes,
        .expandable_segments = c->software.memory.expandable_segments,
    };
    s->memory_count = s->lowered.program_count;
    s->memory = ARENA_ARRAY(arena, struct stage_memory, s->memory_count);
    bool enough = options->time_only || (options->fits_only && !s->host.fits);
    for (uint32_t p = 0; p < s->memory_count; p++) {
        struct stage_memory *m = &s->memory[p];
        m->program = p;
        m->stage = s->lowered.programs[p]->stage;
        m->representative = UINT32_MAX;
        if (!enough)
            ledger_play(arena, s->lowered.programs[p], &limits, options->ledger_points, &m->ledger);
        enough |= options->fits_only && m->ledger.failure.failed;
    }
    for (uint32_t rank = s->lowered.rank_count; rank-- > 0;) {
        struct stage_memory *m = &s->memory[s->lowered.program_of_rank[rank]];
        m->representative = rank;
        m->rank_count++;
    }
}

/* Does failure a come before failure b? Setup first; inside a step by its place in the program. */
static bool fails_before(const struct ledger_failure *a, const struct ledger_failure *b)
{
    if (a->step != b->step)
        return a->step < b->step;
    return a->entry.op < b->entry.op;
}

static void judge_memory(struct step *s)
{
    s->fits = s->host.fits;
    s->failed.program = UINT32_MAX;
    for (uint32_t p = 0; p < s->memory_count; p++) {
        const struct ledger_result *ledger = &s->memory[p].ledger;
        s->peak.allocated_bytes = fmax(s->peak.allocated_bytes, ledger->peak_allocated_bytes);
        s->peak.reserved_bytes = fmax(s->peak.reserved_bytes, ledger->peak_reserved_bytes);
        if (!ledger->failure.failed)
            continue;
        s->fits = false;
        if (s->failed.program == UINT32_MAX ||
            fails_before(&ledger->failure, &s->memory[s->failed.program].ledger.failure))
            s->failed.program = p;
    }
}

/* The fullest node, by what its ranks keep on their host: each at the fullest moment of its step.
 * Asked before the cards, which cost far more. */
static void judge_hosts(struct arena *arena, const struct configuration *c, struct step *s)
{
    struct host_memory *host = &s->host;
    const uint32_t gpus = (uint32_t)c->cluster.node.gpus;
    bool any = false;
    *host = (struct host_memory){.room_bytes = c->cluster.node.host.memory_bytes, .fits = true};
    for (uint32_t p = 0; p < s->lowered.program_count; p++)
        any = any || s->lowered.programs[p]->host_bytes > 0.0;
    if (!any)
        return;
    double *held = ARENA_ARRAY(arena, double, c->cluster.nodes);
    for (uint32_t rank = 0; rank < s->lowered.rank_count; rank++)
        held[layout_gpu(c, rank) / gpus] +=
            s->lowered.programs[s->lowered.program_of_rank[rank]]->host_bytes;
    uint32_t fullest = 0;
    for (uint32_t node = 1; node < c->cluster.nodes; node++)
        fullest = held[node] > held[fullest] ? node : fullest;
    while (layout_gpu(c, host->rank) / gpus != fullest)
        host->rank++;
    host->bytes = held[fullest];
    host->fits = !(host->room_bytes > 0.0 && host->bytes > host->room_bytes);
}

/* Among ranks that run out inside a step, the first in simulated time is the one that stops it. */
static void time_failure(struct step *s)
{
    if (s->failed.program == UINT32_MAX)
        return;
    uint32_t step = s->memory[s->failed.program].ledger.failure.step;
    if (step == 0)
        return;
    double first_s = INFINITY;
    for (uint32_t class_index = 0; class_index < s->symmetry.rank_class_count; class_index++) {
        uint32_t program = s->symmetry.ranks[class_index].program;
        const struct ledger_failure *f = &s->memory[program].ledger.failure;
        if (!f->failed || f->step != step || f->entry.op == 0)
            continue;
        double at_s = worker_times(s->worker, class_index, f->entry.op - 1).post_s;
        if (at_s < first_s) {
            first_s = at_s;
            s->failed.program = program;
        }
    }
    s->failed.at_s = first_s < INFINITY ? first_s : 0.0;
}

static uint64_t track_digest(const struct op_times *times, uint32_t count)
{
    uint64_t digest = digest_begin();
    for (uint32_t op = 0; op < count; op++) {
        digest = digest_add_time(digest, times[op].begin_s);
        digest = digest_add_time(digest, times[op].finish_s);
        digest = digest_add(digest, op);
    }
    return digest;
}

/* Classes are read apart from each other, each result at its own index: any number of threads gives
 * the same. Folded steps are too small to be worth a thread, unless one is asked for. */
unsigned step_threads(const struct step *s)
{
    const uint64_t worth_threads = 1u << 22;
    if (s->threads > 0)
        return s->threads;
    return s->counts.ops > worth_threads ? pool_threads_available() : 1;
}

struct class_reader {
    const struct step *step;
    uint64_t *track;
    bool draws; /* ranks of one colour need not be alike */
};

static uint64_t read_track(const struct step *s, uint32_t class_index, struct arena *scratch)
{
    const uint32_t count = s->lowered.programs[s->symmetry.ranks[class_index].program]->op_count;
    const struct arena_mark mark = arena_mark(scratch);
    struct op_times *times = ARENA_ARRAY(scratch, struct op_times, count);
    worker_read(s->worker, class_index, times);
    const uint64_t digest = track_digest(times, count);
    arena_rewind(scratch, mark);
    return digest;
}

/* Has a class that keeps the times of the one before it waited for the same as well? Ranks of one
 * colour have alike ranks around them, so it has, unless kernels draw; of others the times alone do
 * not say whom they waited for. */
static bool waited_alike(const struct class_reader *reader, uint32_t class_index)
{
    const struct rank_class *class = &reader->step->symmetry.ranks[class_index];
    return !reader->draws && class->colour == class[-1].colour;
}

/* Neighbours mostly keep the same times although each was played: then one of them is read. */
static void read_classes(void *context, size_t index, struct arena *scratch)
{
    const struct class_reader *reader = context;
    const struct step *s = reader->step;
    const uint32_t first = (uint32_t)index * CLASSES_AT_ONCE;
    const uint32_t left = s->symmetry.rank_class_count - first;
    const uint32_t end = first + (left < CLASSES_AT_ONCE ? left : CLASSES_AT_ONCE);
    for (uint32_t i = first; i < end; i++) {
        const bool alike = i > first && worker_alike(s->worker, i - 1, i);
        s->parts.read_as[i] = alike ? s->parts.read_as[i - 1] : i;
        reader->track[i] = alike ? reader->track[i - 1] : read_track(s, i, scratch);
        double *parts = s->parts.class_breakdown_s[i];
        if (alike && waited_alike(reader, i))
            memcpy(parts, s->parts.class_breakdown_s[i - 1], PART_COUNT * sizeof *parts);
        else
            worker_breakdown(s->worker, i, parts);
    }
}

/* To the breakdown of the mean rank: in the order of classes, which decides its last bits. */
static void add_class(struct step *s, uint32_t class_index, const double parts[PART_COUNT])
{
    const struct symmetry *y = &s->symmetry;
    const double share = (double)y->ranks[class_index].rank_count / (double)y->rank_count;
    for (unsigned part = 0; part < PART_COUNT; part++)
        s->parts.breakdown_s[part] += share * parts[part];
}

/* Digest of all ranks and breakdown of the mean one. */
static void gather_classes(struct arena *arena, const struct configuration *c, struct step *s)
{
    uint32_t count = s->symmetry.rank_class_count;
    struct class_reader reader = {s, ARENA_ARRAY(arena, uint64_t, count),
                                  c->kernel_jitter_sigma > 0.0};
    s->parts.class_breakdown_s =
        arena_alloc(arena, sizeof *s->parts.class_breakdown_s * count, _Alignof(double));
    s->parts.read_as = ARENA_ARRAY(arena, uint32_t, count);
    const size_t parts = ((size_t)count + CLASSES_AT_ONCE - 1) / CLASSES_AT_ONCE;
    pool_run_scratch(step_threads(s), parts, read_classes, &reader);
    for (uint32_t rank = 0; rank < s->symmetry.rank_count; rank++)
        s->digest = digest_join(s->digest, rank, reader.track[s->symmetry.class_of_rank[rank]]);
    for (uint32_t i = 0; i < count; i++)
        add_class(s, i, s->parts.class_breakdown_s[i]);
    s->parts.bubble_ratio = s->parts.breakdown_s[PART_BUBBLE] / s->step_s;
}

double step_peak_ratio(const struct configuration *c, double flops, double step_s)
{
    double peak = c->gpu.peak_flops_per_s[c->training.precision->gemm_peak];
    return flops / (step_s * (double)configuration_ranks(c) * peak);
}

static void gather_rates(const struct configuration *c, struct step *s)
{
    s->rates.tokens_per_s = configuration_tokens(c) / s->step_s;
    s->rates.model_flops = s->lowered.model_flops;
    s->rates.mfu_ratio = step_peak_ratio(c, s->lowered.model_flops, s->step_s);
    s->rates.causal_mfu_ratio = step_peak_ratio(c, s->lowered.causal_flops, s->step_s);
    s->rates.hfu_ratio = step_peak_ratio(c, s->lowered.hardware_flops, s->step_s);
}

static void gather_power(const struct configuration *c, struct step *s)
{
    for (uint32_t i = 0; i < s->symmetry.rank_class_count; i++) {
        const struct rank_class *ranks = &s->symmetry.ranks[i];
        const double share = (double)ranks->rank_count / (double)s->symmetry.rank_count;
        step_power_add(c, s->lowered.programs[ranks->program], s->parts.class_breakdown_s[i], share,
                       &s->power);
    }
    step_power_end(c, s->step_s, &s->power);
}

static uint64_t rank_ops(const struct step *s)
{
    uint64_t ops = 0;
    for (uint32_t p = 0; p < s->memory_count; p++)
        ops += (uint64_t)s->memory[p].rank_count * s->lowered.programs[p]->op_count;
    return ops;
}

static uint64_t class_ops(const struct step *s, const struct symmetry *symmetry)
{
    uint64_t ops = 0;
    for (uint32_t i = 0; i < symmetry->rank_class_count; i++)
        ops += s->lowered.programs[symmetry->ranks[i].program]->op_count;
    return ops;
}

/* Is it played soon enough for who asked to be brief? */
static bool soon(const struct step *s, const struct symmetry *symmetry, bool brief)
{
    return !brief || class_ops(s, symmetry) <= BRIEF_OP_MAX;
}

static bool playable(uint64_t ops, uint64_t parts, const char *what, struct error *error)
{
    return ops <= PLAY_OP_MAX ||
           error_set(error,
                     "the %" PRIu64 " %s of this step play %" PRIu64
                     " ops, more than can be simulated (%d): take fewer ranks or microbatches, or "
                     "leave out what makes ranks differ (unfold, jitter, stragglers, links)",
                     parts, what, ops, PLAY_OP_MAX);
}

static bool make_classes(struct arena *arena, const struct configuration *c,
                         const struct step_options *options, struct step *s, struct error *error)
{
    bool apart = options->unfold || c->kernel_jitter_sigma > 0.0;
    if (apart && !playable(rank_ops(s), s->counts.ranks, "ranks", error))
        return false;
    symmetry_build(arena, &(struct symmetry_input){c, &s->topology, &s->layout, &s->lowered},
                   options->unfold, &s->symmetry);
    return playable(class_ops(s, &s->symmetry), s->symmetry.rank_class_count, "classes of ranks",
                    error);
}

/* Plays these classes, and counts. */
static struct worker *play(struct sim *sim, const struct configuration *c,
                           const struct symmetry *symmetry, struct step *s)
{
    struct worker_options options = {
        .jitter_sigma = c->kernel_jitter_sigma,
        .excess_ratio = gpu_slowest_excess_ratio(&c->gpu, s->layout.rank_count),
        .seed = c->seed,
    };
    struct worker *worker = worker_create(sim, symmetry, &s->lowered, &s->layout, &options);
    worker_start(worker);
    sim_run(sim);
    s->counts.classes = symmetry->rank_class_count;
    s->counts.events = sim_event_count(sim);
    s->counts.ops = worker_op_count(worker);
    if (network_parted(worker_network(worker)))
        return NULL;
    s->step_s = 0.0;
    for (uint32_t i = 0; i < symmetry->rank_class_count; i++)
        s->step_s = fmax(s->step_s, worker_finish_s(worker, i));
    return worker;
}

static bool play_all(const struct configuration *c, struct step *s)
{
    s->worker = play(s->sim, c, &s->symmetry, s);
    s->network = worker_network(s->worker);
    if (!(s->step_s <= STEP_MAX_S))
        return false;
    gather_classes(sim_arena(s->sim), c, s);
    return true;
}

/* Bundles of classes where these have one timeline, else the classes, in memory that is given back.
 * What is not soon played leaves the step without time. */
static bool play_outcome(struct arena *arena, const struct configuration *c, bool brief,
                         struct step *s)
{
    const struct arena_mark mark = arena_mark(arena);
    struct symmetry_bundles bundles;
    const struct symmetry *played = &bundles.symmetry;
    const struct worker *worker = NULL;
    const bool draws = c->kernel_jitter_sigma > 0.0; /* no two ranks are alike */
    if (!draws && symmetry_bundle(arena, &s->symmetry, &s->lowered, &bundles) &&
        soon(s, played, brief))
        worker = play(sim_create_in(arena, c->seed), c, played, s);
    if (worker == NULL) {
        arena_rewind(arena, mark);
        played = &s->symmetry;
        if (!soon(s, played, brief))
            return true;
        worker = play(sim_create_in(arena, c->seed), c, played, s);
    }
    double(*parts)[PART_COUNT] =
        arena_alloc(arena, sizeof *parts * played->rank_class_count, _Alignof(double));
    for (uint32_t i = 0; i < played->rank_class_count; i++)
        worker_breakdown(worker, i, parts[i]);
    for (uint32_t i = 0; i < s->symmetry.rank_class_count; i++)
        add_class(s, i, parts[played == &s->symmetry ? i : bundles.of_class[i]]);
    s->parts.bubble_ratio = s->parts.breakdown_s[PART_BUBBLE] / s->step_s;
    arena_rewind(arena, mark);
    return s->step_s <= STEP_MAX_S;
}

static bool play_time(struct arena *arena, const struct configuration *c,
                      const struct step_options *options, struct step *s, struct error *error)
{
    if (!make_classes(arena, c, options, s, error))
        return false;
    if (!options->outcome_only && !soon(s, &s->symmetry, options->brief))
        return true;
    if (options->outcome_only ? !play_outcome(arena, c, options->brief, s) : !play_all(c, s))
        return error_set(error, "a step takes %.3g years, more than can be recorded (%.0f)",
                         s->step_s / YEAR, STEP_MAX_S / YEAR);
    if (s->step_s == 0.0)
        return true;
    gather_rates(c, s);
    if (!options->outcome_only)
        gather_power(c, s);
    return true;
}

static void degrade_links(const struct configuration *c, struct topology *topology)
{
    for (uint32_t i = 0; i < c->perturbation_count; i++) {
        const struct perturbation *p = &c->perturbations[i];
        if (p->what == PERTURB_LINK)
            topology_degrade(topology, (uint32_t)p->gpu, (enum link_kind)p->link, p->ratio);
    }
}

static bool build_and_play(struct step *s, const struct configuration *c,
                           const struct step_options *options, struct error *error)
{
    struct arena *arena = sim_arena(s->sim);
    const bool timed = !options->memory_only && !options->fits_only;
    if (timed && !topology_build(arena, &c->cluster, &s->topology, error))
        return false;
    if (options->time_only)
        lower_timed(arena, c, &s->lowered);
    else
        lower(arena, c, &s->lowered);
    s->counts.ranks = s->lowered.rank_count;
    judge_hosts(arena, c, s);
    play_memory(arena, c, options, s);
    judge_memory(s);
    bool in_setup =
        s->failed.program != UINT32_MAX && s->memory[s->failed.program].ledger.failure.step == 0;
    const bool unfit = !s->fits && (in_setup || options->fitting_only);
    if (timed && (!unfit || options->ignore_memory)) {
        degrade_links(c, &s->topology);
        layout_build(arena, c, s->lowered.streams, &s->layout);
        if (!play_time(arena, c, options, s, error))
            return false;
        if (!s->fits && s->worker != NULL)
            time_failure(s);
    }
    return true;
}

bool step_run(const struct configuration *c, const struct step_options *options, struct step **out,
              struct error *error)
{
    struct sim *sim =
        options->arena != NULL ? sim_create_in(options->arena, c->seed) : sim_create(c->seed);
    struct step *s = ARENA_NEW(sim_arena(sim), struct step);
    s->sim = sim;
    s->threads = options->threads;
    const struct check_context *former = sim_enter(sim);
    bool done = build_and_play(s, c, options, error);
    check_enter(former);
    if (!done) {
        sim_destroy(sim);
        return false;
    }
    *out = s;
    return true;
}

void step_destroy(struct step *step)
{
    if (step != NULL)
        sim_destroy(step->sim);
}
