/* import_mllog.c - a result log of MLPerf Training, and the configuration that started it: what was
 * measured, and the scenario of that run. */
#include <math.h>
#include <string.h>

#include "analysis/command/import/import_kind.h"
#include "analysis/command/import/import_mllog.h"
#include "analysis/command/line/card_agrees.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/output/text/format.h"
#include "scenarios/language/source.h"
#include "sim/plural.h"

enum {
    PLACE_COLUMN = 34
};

/* A line of the scenario, with where it stands: the file without its folders. */
static void print_line(const struct importing *i, const char *line, const char *place)
{
    const char *colon = strchr(place, ':');
    for (const char *c = colon; c != NULL && c > place; c--)
        if (c[-1] == '/') {
            place = c;
            break;
        }
    fprintf(i->session->out, "%-*s # %s\n", PLACE_COLUMN, line, source_clean(i->arena, place));
}

static void print_count(const struct importing *i, const char *key, struct mllog_said said)
{
    if (said.value > 0.0)
        print_line(i, arena_format(i->arena, "  %s: %.0f", key, said.value), said.place);
    else
        fprintf(i->session->out, "  # %s: not said\n", key);
}

static void print_text(const struct importing *i, const char *key, struct mllog_text said)
{
    if (said.text != NULL)
        print_line(i, arena_format(i->arena, "  %s: %s", key, said.text), said.place);
    else
        fprintf(i->session->out, "  # %s: not said\n", key);
}

static void print_span(FILE *out, const char *name, double start_s, double stop_s, const char *what)
{
    if (isnan(start_s) || isnan(stop_s))
        fprintf(out, "# %-11s not said   %s\n", name, what);
    else
        fprintf(out, "# %-11s %.3f s   %s\n", name, stop_s - start_s, what);
}

static void print_steps(FILE *out, const struct mllog_step steps[MLLOG_SOURCES])
{
    static const char *const names[MLLOG_SOURCES] = {
        "values of train_step_time", "blocks without evaluation", "values of throughput"};
    bool first = true;
    for (unsigned s = 0; s < MLLOG_SOURCES; s++) {
        if (steps[s].step_s > 0.0)
            fprintf(out, "# %-11s %.6g s   median of %u %s%s\n", first ? "step time" : "  or",
                    steps[s].step_s, steps[s].samples, names[s], first ? "" : ", not taken");
        else if (steps[s].unread != NULL)
            fprintf(out, "# %-11s %s left out: %s\n", first ? "" : "  or", names[s],
                    steps[s].unread);
        first = first && steps[s].step_s == 0.0;
    }
}

static void print_rates(FILE *out, const struct mllog_measured *m)
{
    const struct mllog_layout *l = &m->layout;
    const double samples_per_s = l->counts[MLLOG_GLOBAL_BATCH].value / m->step_s;
    const double sequence = l->counts[MLLOG_SEQUENCE].value;
    fprintf(out, "# throughput  %.6g samples/s", samples_per_s);
    if (sequence > 0.0)
        fprintf(out, ", %.6g tokens/s", samples_per_s * sequence);
    if (sequence > 0.0 && l->gpus.value > 0.0)
        fprintf(out, ", %.6g tokens/s/GPU", samples_per_s * sequence / l->gpus.value);
    fputs("   global batch / step time\n", out);
}

static void print_measured(const struct importing *i, const struct mllog_measured *m)
{
    FILE *out = i->session->out;
    const struct mllog *log = &m->log;
    fprintf(out, "# MLPerf Training %s, %u event%s of %s\n",
            format_shown(log->words[MLLOG_BENCHMARK].text).s, log->lines.events,
            plural_s(log->lines.events), source_clean(i->arena, log->path));
    if (isnan(log->run.init_stop_s))
        print_span(out, "start-up", log->run.init_start_s, log->run.run_start_s,
                   "init_start to run_start, as init_stop is not logged");
    else
        print_span(out, "start-up", log->run.init_start_s, log->run.init_stop_s,
                   "init_start to init_stop");
    print_span(out, "training", log->run.run_start_s, log->run.run_stop_s, "run_start to run_stop");
    fprintf(out, "# %-11s %s\n", "status",
            isnan(log->run.run_stop_s) ? "no run_stop: the log ends before the run"
            : log->run.status != NULL  ? log->run.status
                                       : "not said");
    print_steps(out, m->steps);
    print_rates(out, m);
    if (log->words[MLLOG_PLATFORM].text != NULL)
        fprintf(out, "# platform    %s\n", source_clean(i->arena, log->words[MLLOG_PLATFORM].text));
    fprintf(out, "# power       %s\n",
            log->lines.power > 0 ? "its readings are left out: they are of one node"
                                 : "not in this log: MLPerf keeps it in power/*/node_*.txt, which "
                                   "are not read");
    if (log->blocks.halves > 0)
        fprintf(out, "# left out    %u start%s or end%s of blocks without the other\n",
                log->blocks.halves, plural_s(log->blocks.halves), plural_s(log->blocks.halves));
}

static void print_cluster(const struct importing *i, const struct mllog_layout *l)
{
    FILE *out = i->session->out;
    fputs("cluster:\n", out);
    if (i->a->card.gpu != NULL)
        print_line(i, arena_format(i->arena, "  gpu: %s", format_shown(i->a->card.gpu).s), "--gpu");
    else
        fputs("  # gpu: not said: --gpu NAME\n", out);
    print_count(i, "gpus", l->gpus);
    if (l->counts[MLLOG_NODES].value > 0.0)
        fprintf(out,
                "  # as %.0f hosts; node and fabric are not said: those that the card usually "
                "has\n",
                l->counts[MLLOG_NODES].value);
}

static void print_training(const struct importing *i, const struct mllog_layout *l)
{
    FILE *out = i->session->out;
    fputs("training:\n", out);
    print_count(i, "sequence", l->counts[MLLOG_SEQUENCE]);
    print_count(i, "global_batch", l->counts[MLLOG_GLOBAL_BATCH]);
    if (l->lora && l->precision.text != NULL && strcmp(l->precision.text, "bf16") != 0)
        print_line(i,
                   arena_format(i->arena, "  # precision: %s; adapters are simulated in 16 bits",
                                l->precision.text),
                   l->precision.place);
    else
        print_text(i, "precision", l->precision);
    if (l->lora) {
        print_line(i, "  adapter: lora", l->preset.place);
        print_count(i, "adapter_rank", l->counts[MLLOG_LORA_RANK]);
    }
}

static void print_flag(const struct importing *i, const struct mllog_layout *l,
                       enum mllog_flag flag, const char *on, const char *off)
{
    if (l->flags[flag].value >= 0)
        print_line(i, l->flags[flag].value == 1 ? on : off, l->flags[flag].place);
}

static void print_layout(const struct importing *i, const struct mllog_layout *l)
{
    fputs("layout:\n", i->session->out);
    print_count(i, "tp", l->counts[MLLOG_TP]);
    print_count(i, "pp", l->counts[MLLOG_PP]);
    print_count(i, "cp", l->counts[MLLOG_CP]);
    print_count(i, "dp", l->dp);
    if (l->counts[MLLOG_EP].value > 0.0)
        print_count(i, "ep", l->counts[MLLOG_EP]);
    print_count(i, "vpp", l->counts[MLLOG_VPP]);
    print_count(i, "microbatch", l->counts[MLLOG_MICROBATCH]);
    print_flag(i, l, MLLOG_SEQUENCE_PARALLEL, "  sequence_parallel: true",
               "  sequence_parallel: false");
    print_flag(i, l, MLLOG_DISTRIBUTED_OPTIMIZER, "  sharding: zero-1", "  sharding: zero-0");
    if (l->flags[MLLOG_EMBEDDING_COUNTS].value == 1 && l->flags[MLLOG_HEAD_COUNTS].value == 1)
        print_line(i, "  ends_count: true", l->flags[MLLOG_HEAD_COUNTS].place);
    fputs("  # recompute: not said\n", i->session->out);
}

/* What the configuration says of the software; which it is does not stand there. */
static void print_software(const struct importing *i, const struct mllog_layout *l)
{
    FILE *out = i->session->out;
    const bool full = l->flags[MLLOG_GRAPH_FULL].value == 1;
    const bool graphs = full || l->flags[MLLOG_GRAPH_LAYER].value == 1;
    if (l->fp8_recipe.text == NULL && !graphs && l->flags[MLLOG_FP8_ATTENTION].value < 0) {
        fputs("# software: not said\n", out);
        return;
    }
    fputs("software:\n  # profile: not said\n", out);
    if (l->fp8_recipe.text != NULL)
        print_text(i, "fp8_recipe", l->fp8_recipe);
    if (graphs)
        print_line(i, full ? "  cuda_graphs: full" : "  cuda_graphs: layer",
                   l->flags[full ? MLLOG_GRAPH_FULL : MLLOG_GRAPH_LAYER].place);
    print_flag(i, l, MLLOG_FP8_ATTENTION, "  fp8_attention: true", "  fp8_attention: false");
}

static void print_scenario(const struct importing *i, const struct mllog_measured *m)
{
    FILE *out = i->session->out;
    const struct mllog_layout *l = &m->layout;
    if (m->config == NULL)
        fputs("# No --config: the layout is what the log says.\n", out);
    for (unsigned k = 0; m->config != NULL && k < m->config->missing_count; k++)
        if (k < SHELL_MISSING_MAX)
            fprintf(out, "# %s is not there: what it sets is not known\n",
                    source_clean(i->arena, m->config->missing[k]));
    for (unsigned k = 0; k < l->note_count; k++)
        fprintf(out, "# %s\n", source_clean(i->arena, l->notes[k]));
    fputs("model:\n", out);
    print_text(i, "preset", l->preset);
    if (l->counts[MLLOG_LAYERS].value > 0.0)
        print_count(i, "layers", l->counts[MLLOG_LAYERS]);
    print_cluster(i, l);
    print_training(i, l);
    print_layout(i, l);
    print_software(i, l);
}

/* The first source that is there. */
static double step_of(const struct mllog_step steps[MLLOG_SOURCES])
{
    unsigned s = 0;
    while (s + 1 < MLLOG_SOURCES && steps[s].step_s == 0.0)
        s++;
    return steps[s].step_s;
}

/* The platform is a name that a submitter gave; a card that it names is that of the run. */
static bool agrees(const struct importing *i, const struct mllog *log)
{
    const struct import_card *card = &i->a->card;
    const struct card_arguments how = {card->catalogue, card->other_card};
    const char *platform = log->words[MLLOG_PLATFORM].text;
    if (card->gpu == NULL || platform == NULL)
        return true;
    const char *chip = card_chip_of(i->arena, card->catalogue, platform, card->gpu);
    const char *place =
        arena_format(i->arena, "%s:%u, submission_platform %.60s", log->path,
                     log->words[MLLOG_PLATFORM].line, source_clean(i->arena, platform));
    return chip == NULL || card_agrees(&i->a->line, how, i->session, place, card->gpu,
                                       &(struct card_told){.name = chip});
}

static int run(struct importing *i)
{
    struct error error = {""};
    struct mllog_measured m = {.config = NULL};
    struct shell config;
    const char *path = i->a->config;
    if (!mllog_read(i->arena, &i->file, &m.log, &error) || !mllog_steps(&m.log, m.steps, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    if (!agrees(i, &m.log))
        return EXIT_REJECTED;
    if (path != NULL && !shell_read(i->arena, path, &config, &error))
        return importing_trouble(i, &error, load_refused_code(path));
    m.config = path != NULL ? &config : NULL;
    if (!mllog_layout(i->arena, &m.log, m.config, path, &m.layout, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    m.step_s = step_of(m.steps);
    if (i->a->row)
        return import_mllog_row(i, &m);
    print_measured(i, &m);
    print_scenario(i, &m);
    return EXIT_OK;
}

static const char *const takes[] = {"--config", "--row", IMPORT_TAKES_CARD, NULL};

const struct import_kind import_mllog = {
    .head = {.name = "mllog",
             .doc = "a result log of MLPerf Training and its config_*.sh: step time, start-up,\n"
                    "and the scenario of that run"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run,
};
