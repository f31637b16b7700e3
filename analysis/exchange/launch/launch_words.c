/* The words that scripts and notes are made of. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/exchange/launch/launch_job.h"
#include "models/layout/layout.h"
#include "sim/check.h"
#include "sim/list.h"

/* The words, of any length. */
__attribute__((format(printf, 2, 0))) static char *spell(struct arena *arena, const char *format,
                                                         va_list words)
{
    va_list again;
    va_copy(again, words);
    const int bytes = vsnprintf(NULL, 0, format, again);
    va_end(again);
    CHECK(bytes >= 0);
    char *out = arena_alloc(arena, (size_t)bytes + 1, 1);
    vsnprintf(out, (size_t)bytes + 1, format, words);
    return out;
}

__attribute__((format(printf, 3, 0))) static void add(struct launch_text *text, const char *indent,
                                                      const char *format, va_list words)
{
    LIST_ROOM(text->arena, text->lines, text->line_count, 1, text->line_capacity);
    text->lines[text->line_count++] =
        arena_format(text->arena, "%s%s", indent, spell(text->arena, format, words));
}

void launch_line(struct launch_text *text, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    add(text, "", format, words);
    va_end(words);
}

void launch_option(struct launch_text *text, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    add(text, "    ", format, words);
    va_end(words);
}

void launch_say(struct launch_text *text, enum launch_weight weight, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    const char *note = spell(text->arena, format, words);
    va_end(words);
    LIST_ROOM(text->arena, text->notes, text->note_count, 1, text->note_capacity);
    text->notes[text->note_count++] = (struct launch_note){weight, note};
    text->refused = text->refused || weight == LAUNCH_REFUSED;
}

void launch_open(struct launch_text *text, const char *name, const char *title)
{
    launch_line(text, "%s=( # %s", name, title);
}

void launch_close(struct launch_text *text)
{
    launch_line(text, ")");
}

void launch_variable(struct launch_text *text, const char *name, const char *value, const char *doc)
{
    launch_line(text, "%s=${%s:-%s} # %s", name, name, value, doc);
}

void launch_common_variables(const struct launch_job *job, struct launch_text *text)
{
    const char *steps =
        job->course.steps > 0 ? arena_format(text->arena, "%" PRIu64, job->course.steps) : "100";
    launch_variable(text, "STEPS", steps,
                    job->course.steps > 0 ? "for the tokens of the scenario" : "of training");
    launch_variable(text, "LR", "1.5e-4", "peak learning rate: yours");
}

void launch_note_order(const struct launch_job *job, struct launch_text *text, const char *own)
{
    launch_say(text, LAUNCH_DIFFERS,
               "ranks were simulated in the order %s: this framework numbers them %s, fastest "
               "first, so that other ranks share a node",
               launch_clean(text->arena, layout_order(job->c)), own);
}

void launch_note_units(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    if (l->data.sharding->units && l->data.fsdp_unit_layers > 1) {
        launch_say(text, LAUNCH_DIFFERS,
                   "units of %" PRIu64 " layers are not offered: each layer is gathered by itself",
                   l->data.fsdp_unit_layers);
    }
}

void launch_note_adapter(const struct launch_job *job, struct launch_text *text)
{
    const struct adapter_spec *a = &job->c->training.adapter;
    if (a->kind != ADAPTER_NONE) {
        launch_say(text, LAUNCH_REFUSED,
                   "%s adapters of rank %" PRIu64 " are not written: this would train all weights",
                   adapter_names[a->kind], a->rank);
    }
}

void launch_note_pattern(const struct launch_job *job, struct launch_text *text)
{
    const struct model_shape *m = &job->c->model;
    if (m->pattern.count > 0)
        launch_say(
            text, LAUNCH_REFUSED,
            "the pattern of layers (%.64s%s) is not written: this would make each of them one "
            "of attention with a feed-forward block",
            m->pattern.text, strlen(m->pattern.text) > 64 ? "..." : "");
    if (m->attention.gate)
        launch_say(text, LAUNCH_REFUSED,
                   "the gate of the attention's output is not written: none is trained");
}

void launch_note_shape(const struct launch_job *job, struct launch_text *text)
{
    const struct model_shape *m = &job->c->model;
    if (m->windows.length > 0 && m->windows.length < job->c->training.sequence) {
        launch_say(text, LAUNCH_REFUSED,
                   "attention within a window of %" PRIu64
                   " positions is not written: this would attend to whole sequences in each layer",
                   m->windows.length);
    }
    launch_note_pattern(job, text);
    if (m->attention.sinks)
        launch_say(text, LAUNCH_REFUSED, "sinks of the attention are not written: none is trained");
    if (m->moe.experts > 0 && m->moe.clamped)
        launch_say(text, LAUNCH_REFUSED,
                   "clamps of the experts' activations are not written: none is applied");
    if (m->norm.kind == NORM_LAYERNORM && !m->biases && !m->norm.biases)
        launch_say(text, LAUNCH_REFUSED,
                   "layernorms have a bias here, and those of the model have none");
    if (transformer_norms(m) != 2) {
        launch_say(text, LAUNCH_REFUSED, "layers have two norms here, not the model's %" PRIu64,
                   transformer_norms(m));
    }
}

void launch_note_captured(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const bool experts = c->model.moe.experts > 0;
    unsigned graphs;
    const bool known = software_graphs(c->software.graphs.modules, &graphs);
    const unsigned of_experts = GRAPH_EXPERTS | GRAPH_ROUTER | GRAPH_PREPROCESS;
    const unsigned here = experts ? graphs : graphs & ~of_experts;
    if (job->recipe != FP8_AUTO && c->software.fp8.attention)
        launch_say(text, LAUNCH_REFUSED,
                   "attention in 8 bits is not written: it would run in 16 "
                   "(software.fp8_attention=false simulates that)");
    if (experts && c->software.experts.paged_stash)
        launch_say(text, LAUNCH_REFUSED,
                   "paged stash is not written: the whole room of rank_capacity would be kept "
                   "(software.moe_paged_stash=false simulates that)");
    if (known && here != 0)
        launch_say(text, LAUNCH_DIFFERS,
                   "CUDA graphs (%s) are not written: every kernel is launched, which takes the "
                   "host longer (software.cuda_graphs=none simulates that)",
                   c->software.graphs.modules);
    if (experts && job->recipe != FP8_AUTO && c->software.experts.fused_mlp)
        launch_say(text, LAUNCH_DIFFERS,
                   "fused grouped products are not written: activation and casts are kernels of "
                   "their own (software.fused_grouped_mlp=false simulates that)");
}

void launch_note_formats(const struct launch_job *job, struct launch_text *text)
{
    const struct state_formats *f = &job->c->training.state_formats;
    if (f->master != 0 || f->moments[0] != 0 || f->moments[1] != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "formats of master weights and moments (%s, %s, %s) are not options here: state "
                   "is kept in fp32",
                   master_format_names[f->master], moment_format_names[f->moments[0]],
                   moment_format_names[f->moments[1]]);
    }
}

void launch_note_optimizer(const struct launch_job *job, struct launch_text *text,
                           const char *instead)
{
    launch_say(text, LAUNCH_REFUSED,
               "the optimizer %s is not offered here: %s would stand in its place, whose state and "
               "update differ",
               job->c->training.optimizer->head.name, instead);
}

const char *launch_cp_type(const struct layout_spec *layout)
{
    switch ((enum cp_method)layout->context.method) {
    case CP_RING:
        return "p2p";
    case CP_ALL_TO_ALL:
        return "a2a";
    case CP_ALL_TO_ALL_RING:
        return "a2a+p2p";
    case CP_ALL_GATHER:
        return "all_gather";
    }
    UNREACHABLE("method is an enum cp_method");
}

void launch_note_rows(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    if (configuration_expert_ranks(c).ep > 1 && configuration_dispatch(c) != &dispatch_alltoall)
        launch_say(text, LAUNCH_DIFFERS, "rows come to their experts by all-to-all, not by %s",
                   configuration_dispatch(c)->head.name);
    if (configuration_expert_room(c) > 0.0)
        launch_say(text, LAUNCH_DIFFERS,
                   "room is made for as many rows as come, not for %g times their mean",
                   configuration_expert_room(c));
    if (c->layout.experts.dispatch_8bit)
        launch_say(text, LAUNCH_REFUSED, "it sends rows to their experts in 16 bits, not in eight");
    if (c->layout.experts.capacity > 0.0)
        launch_say(text, LAUNCH_REFUSED,
                   "experts take all rows that come: there is no capacity (%g was simulated)",
                   c->layout.experts.capacity);
}
