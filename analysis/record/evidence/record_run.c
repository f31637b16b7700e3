#include "analysis/record/evidence/record_run.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/record/evidence/evidence.h"
#include "analysis/record/evidence/lesson_record.h"
#include "analysis/record/evidence/published_mfu.h"
#include "analysis/record/numbers/metric_source.h"
#include "analysis/record/numbers/record_weeks.h"
#include "models/layout/announced.h"
#include "models/step/simulate/wires.h"

static void take_run(const struct result *result, struct record *out)
{
    const struct configuration *c = &result->scenario->configuration;
    const struct job_record *job = result->job;
    struct metric_source m = {
        .scenario = result->scenario,
        .result = result,
        .record = job,
        .c = c,
        .step = result->step,
        .job = job != NULL ? &job->spec : NULL,
        .weeks = job != NULL ? &job->result : NULL,
        .step_s = result->timed ? result->step->step_s : NAN,
        .peak_reserved_bytes = result_peak_bytes(result, true),
        .flops = flops_words_of(out->arena, c),
        .announced = "",
    };
    cost_of_step(c, m.step_s, &m.cost);
    if (job != NULL)
        cost_of_weeks(&job->spec, &job->result, &m.cost);
    char words[ANNOUNCED_WORDS_MAX];
    if (announced_words(c, words, sizeof words) != NULL)
        m.announced = arena_text(out->arena, words);
    if (result->step != NULL) {
        m.digest = arena_format(out->arena, "%016" PRIx64, result->step->digest);
        power_swing_of(c, result->step, &m.swing);
    }
    metric_source_run(&m, record_add(out, ROW_run, 1));
}

static void take_stages(const struct result *result, struct record *out)
{
    struct stage_memory_row *row = record_add(out, ROW_stage_memory, result->stage_count);
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct result_stage *stage = &result->stages[i];
        const double *held = stage->needed.tenants;
        *row++ = (struct stage_memory_row){
            .stage = stage->stage,
            .rank_count = stage->rank_count,
            .first_rank = stage->first_rank,
            .layers = stage->layers,
            .fits = !stage->ledger->failure.failed,
            .bubble_s = stage->bubble_s,
            .weights_bytes = held[TENANT_WEIGHTS],
            .gradients_bytes = held[TENANT_GRADIENTS],
            .master_bytes = held[TENANT_MASTER],
            .moments_bytes = held[TENANT_MOMENTS],
            .activations_bytes = held[TENANT_ACTIVATIONS],
            .temporary_bytes = held[TENANT_TEMPORARY],
            .communication_bytes = held[TENANT_COMMUNICATION],
            .context_bytes = held[TENANT_CONTEXT],
            .fragmentation_bytes = held[TENANT_FRAGMENTATION],
            .peak_allocated_bytes = stage->needed.peak_allocated_bytes,
            .peak_reserved_bytes = stage->needed.peak_reserved_bytes,
        };
    }
}

static void take_streams(const struct result *result, struct record *out)
{
    struct stream_use_row *row = record_add(out, ROW_stream_use, STREAM_COUNT);
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        const struct result_stream *s = &result->streams[i];
        *row++ = (struct stream_use_row){stream_names[i], (int64_t)s->op_count, s->busy_s,
                                         s->hidden_s, s->waited_s};
    }
}

static const char *vertex_text(struct arena *arena, const struct graph *graph,
                               struct vertex_id vertex)
{
    char name[64];
    graph_vertex_name(graph, vertex, name, sizeof name);
    return arena_text(arena, name);
}

static void fill_link(struct arena *arena, const struct step *step, uint32_t index,
                      struct link_row *row)
{
    const struct graph *graph = &step->topology.graph;
    const struct link_class *l = &step->symmetry.links[index];
    const struct link_id id = {l->representative};
    *row = (struct link_row){
        .kind = graph_link_kind_name(wires_kind(step, index)),
        .from = vertex_text(arena, graph, graph_link_at(graph, id).from),
        .to = vertex_text(arena, graph, graph_link_at(graph, id).to),
        .link_count = l->link_count,
        .bytes_per_s = l->bytes_per_s,
        .moved_bytes = network_link_bytes(step->network, index),
        .busy_s = network_link_busy_s(step->network, index),
    };
}

/* Names of all wires of a large cluster take longer than all else that a report needs. */
static void take_busiest(const struct step *step, enum link_kind kind, struct record *out)
{
    const uint32_t best = wires_busiest(step, kind);
    if (best != WIRE_NONE)
        fill_link(out->arena, step, best, record_add(out, ROW_link, 1));
}

static void take_links(const struct step *step, bool every_link, struct record *out)
{
    for (int kind = LINK_NVLINK; !every_link && kind <= LINK_FABRIC; kind++)
        take_busiest(step, (enum link_kind)kind, out);
    if (!every_link)
        return;
    const uint32_t count = step->symmetry.link_class_count;
    struct link_row *row = record_add(out, ROW_link, count);
    for (uint32_t i = 0; i < count; i++)
        fill_link(out->arena, step, i, row++);
}

static void take_neighbours(const struct neighbourhood *tried, struct record *out)
{
    struct neighbour_row *row = record_add(out, ROW_neighbour, tried->fitting_count);
    for (unsigned i = 0; i < tried->fitting_count; i++) {
        const struct change *n = &tried->fitting[i].made;
        *row++ = (struct neighbour_row){n->set, n->timed ? n->step_s : NAN,
                                        n->timed ? n->tokens_per_s : NAN, n->peak_reserved_bytes};
    }
}

static void take_failure(const struct result *result, struct record *out)
{
    const struct result_failure *f = &result->failure;
    const struct neighbourhood *tried = &result->advice.tried;
    if (!f->failed)
        return;
    struct out_of_memory_row *row = record_add(out, ROW_out_of_memory, 1);
    *row = (struct out_of_memory_row){
        .place = f->on_host ? "host" : "card",
        .rank = f->rank,
        .stage = f->stage,
        .tensor = f->tensor,
        .tenant = tenant_names[f->tenant],
        .at = f->at,
        .call_site = f->call_site,
        .step = f->step,
        .at_s = f->at_s,
        .bytes = f->bytes,
        .short_bytes = f->short_bytes,
        .allocated_bytes = f->allocated_bytes,
        .reserved_bytes = f->reserved_bytes,
        .would_help = result_would_help(result),
        .changes = tried->changes,
        .tried = tried->tried_count,
        .fitting = tried->fitting_count,
    };
    take_neighbours(tried, out);
}

static void take_message(struct record *out, const char *severity, const char *key,
                         const char *text, const char *doc)
{
    struct message_row *row = record_add(out, ROW_message, 1);
    *row = (struct message_row){severity, key, text, doc};
}

static const char *failure_sentence(struct arena *arena, const struct result_failure *f)
{
    if (f->on_host)
        return arena_format(arena,
                            "the memory of its CPUs ends on the node of rank %" PRIu32
                            " (stage %" PRIu32 "): %s are %.0f bytes, %.0f more than it has",
                            f->rank, f->stage, f->tensor, f->bytes, f->short_bytes);
    return arena_format(arena,
                        "rank %" PRIu32 " (stage %" PRIu32
                        ") runs out of memory at %s, in %s: %s asks for %.0f bytes of %s, %.0f "
                        "more than the card has left",
                        f->rank, f->stage, f->at, f->call_site, f->tensor, f->bytes,
                        tenant_names[f->tenant], f->short_bytes);
}

static void take_messages(const struct result *result, struct record *out)
{
    const struct scenario *s = result->scenario;
    const char *above = result->timed ? published_mfu_words(out->arena, &s->configuration,
                                                            result->step->rates.mfu_ratio)
                                      : NULL;
    if (above != NULL)
        take_message(out, "published", "mfu", above, NULL);
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++)
        take_message(out, "warning", "", s->diagnostics.problems[i].text, NULL);
    if (scenario_warnings_left(s) > 0)
        take_message(out, "warning", "",
                     arena_format(out->arena, "and %u more", scenario_warnings_left(s)), NULL);
    if (result->failure.failed) {
        take_message(out, "failure", "memory", failure_sentence(out->arena, &result->failure),
                     NULL);
    }
    for (unsigned i = 0; i < s->choices.count; i++) {
        const struct made_choice *one = &s->choices.rows[i];
        take_message(out, "choice", choice_path(one), one->value, one->why);
    }
    for (unsigned i = 0; i < s->stated.default_count; i++)
        take_message(out, "default", s->stated.defaults[i].key, s->stated.defaults[i].value,
                     s->stated.defaults[i].doc);
    unsigned graphs = 0;
    if (software_graphs(s->configuration.software.graphs.modules, &graphs) && graphs != 0)
        take_message(out, "default", "software.cuda_graphs",
                     s->configuration.software.graphs.modules,
                     "Their memory pools and static inputs, and the time of their capture at start "
                     "and after a restart, are not modelled: 0 B, 0 s.");
    for (unsigned i = 0; i < s->note_count; i++) {
        take_message(out, "note", arena_format(out->arena, "%.9f s", s->notes[i].at_s),
                     s->notes[i].say, NULL);
    }
}

static void take_stagger(const struct stagger *stagger, struct record *out)
{
    const bool tried = stagger->draws > 0;
    struct stagger_row *row = record_add(out, ROW_stagger, 1);
    *row = (struct stagger_row){
        .lost_s = stagger->lost_s,
        .draws = stagger->draws,
        .apart_s = tried ? stagger->apart_s : (double)NAN,
        .shortest_step_time_s = tried ? stagger->shortest_s : (double)NAN,
        .spared_ratio = tried ? stagger->spared_ratio : (double)NAN,
    };
}

void record_of_run(struct arena *arena, const struct result *result, bool every_link,
                   struct record *out)
{
    *out = (struct record){.arena = arena};
    take_run(result, out);
    take_stages(result, out);
    if (result->timed) {
        take_streams(result, out);
        take_stagger(&result->stagger, out);
        take_links(result->step, every_link, out);
        evidence_add(&result->scenario->configuration, result->step, out);
    }
    take_failure(result, out);
    if (result->job != NULL)
        record_of_weeks(result->job, out);
    lesson_record_ask(result->scenario, out);
    take_messages(result, out);
}
