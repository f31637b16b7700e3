/* Every reader of what other programs print, under libFuzzer: whatever the bytes, either sound
 * values or one sentence. The first byte says which reader. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "scenarios/import/chakra/chakra_tasks.h"
#include "scenarios/import/configured/nanotron.h"
#include "scenarios/import/configured/nemo.h"
#include "scenarios/import/failures/failure_fit.h"
#include "scenarios/import/iterations/iteration_log.h"
#include "scenarios/import/launched/launched_deepspeed.h"
#include "scenarios/import/launched/launched_megatron.h"
#include "scenarios/import/launched/launched_torchtitan.h"
#include "scenarios/import/machine/nccl_tests.h"
#include "scenarios/import/machine/node_topology.h"
#include "scenarios/import/mllog/mllog_layout.h"
#include "scenarios/import/peers/calculon.h"
#include "scenarios/import/peers/simumax.h"
#include "scenarios/import/reader/import_open.h"
#include "scenarios/import/trace/pytorch_spans.h"
#include "scenarios/import/trace/pytorch_trace.h"
#include "sim/check.h"

enum {
    UNPACKED_MAX = 1 << 20
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzzed {
    struct arena *arena;
    struct import_file file;
    struct error error;
};

static bool nccl_tests(struct fuzzed *f)
{
    struct nccl_tests tests;
    if (!nccl_tests_read(f->arena, f->file, "all_reduce", &tests, &f->error))
        return false;
    CHECK(tests.point_count > 0);
    for (unsigned i = 0; i < tests.point_count; i++) {
        CHECK(point_problem(&tests.points[i].point) == NULL);
        CHECK(tests.points[i].measurement.median_s > 0.0);
    }
    return true;
}

static bool failures(struct fuzzed *f, const struct failure_format_kind *format)
{
    const struct failure_rules rules = {1767225600.0, NAN, 64, 8, 600.0, NULL};
    struct failure_log log;
    struct failure_fit *fits;
    uint32_t count;
    if (!failure_log_read(f->arena, f->file, format, &rules, &log, &f->error))
        return false;
    for (uint32_t i = 0; i < log.count; i++)
        CHECK(log.rows[i].at_s >= 0.0 && log.rows[i].at_s <= log.watched_s &&
              *log.rows[i].cause != '\0');
    if (!failure_fit(f->arena, &log, &rules, &fits, &count, &f->error))
        return false;
    for (uint32_t i = 0; i < count; i++)
        CHECK(fits[i].units == 0.0 || fits[i].fits[fits[i].best].duration.mean_s > 0.0);
    return true;
}

static bool csv(struct fuzzed *f)
{
    return failures(f, &failure_format_csv);
}

static bool xid(struct fuzzed *f)
{
    return failures(f, &failure_format_xid);
}

static bool dcgm(struct fuzzed *f)
{
    return failures(f, &failure_format_dcgm);
}

static bool slurm(struct fuzzed *f)
{
    return failures(f, &failure_format_slurm);
}

static bool check_node(const struct node_topology *n)
{
    CHECK(n->gpus > 0 && n->gpus <= NODE_GPUS_MAX && n->nics <= NODE_NICS_MAX);
    CHECK(n->linked >= 1 && n->linked <= n->gpus && n->near_nics <= n->nics);
    return true;
}

static bool topo(struct fuzzed *f)
{
    struct node_topology node;
    return node_topology_matrix(f->arena, f->file, &node, &f->error) && check_node(&node);
}

static bool nccl_topo(struct fuzzed *f)
{
    struct node_topology node;
    return node_topology_xml(f->arena, f->file, &node, &f->error) && check_node(&node);
}

static bool pytorch(struct fuzzed *f)
{
    struct pytorch_trace trace;
    if (!pytorch_trace_read(f->arena, f->file, 8, &trace, &f->error))
        return false;
    CHECK(trace.point_count > 0 && trace.points_s <= trace.kernels_s * (1.0 + 1e-9));
    for (unsigned i = 0; i < trace.point_count; i++)
        CHECK(point_problem(&trace.points[i].point) == NULL &&
              trace.points[i].measurement.median_s > 0.0);
    return true;
}

static bool pytorch_step(struct fuzzed *f)
{
    struct pytorch_step step;
    if (!pytorch_spans_read(f->arena, f->file, PYTORCH_UNTOLD, &step, &f->error))
        return false;
    CHECK(step.count > 0 && step.count <= step.kernels);
    for (unsigned i = 0; i < step.count; i++) {
        const struct trace_span *s = &step.spans[i];
        CHECK((unsigned)s->kind < SPAN_KIND_COUNT && s->begin_s >= 0.0 && s->busy_s >= 0.0);
        CHECK(s->finish_s >= s->begin_s && isfinite(s->amount) && s->amount >= 0.0);
        CHECK(i == 0 || s->begin_s >= step.spans[i - 1].begin_s);
    }
    return true;
}

static void check_chakra(const struct chakra_trace *t)
{
    CHECK(t->node_count > 0 && t->node_count <= CHAKRA_NODES_MAX);
    for (uint32_t n = 0; n < t->node_count; n++) {
        const struct chakra_node *node = &t->nodes[n];
        CHECK(node->type < CHAKRA_TYPE_COUNT && (n == 0 || node->id > t->nodes[n - 1].id));
        CHECK(strlen(node->name) <= CHAKRA_NAME_MAX && node->wait_count <= t->wait_count);
        CHECK(node->wait_first <= t->wait_count - node->wait_count);
        for (uint32_t w = 0; w < node->wait_count; w++)
            CHECK(t->waits[node->wait_first + w] < t->node_count);
    }
}

/* The bytes are a trace of each of two ranks: what is joined is sound and is told from what never
 * ends. */
static bool chakra(struct fuzzed *f)
{
    struct chakra_trace traces[2];
    struct chakra_counts counts;
    struct task_graph graph;
    struct task_links links;
    if (!chakra_read(f->arena, f->file, true, &traces[0], &f->error))
        return false;
    check_chakra(&traces[0]);
    traces[1] = traces[0];
    for (uint32_t ranks = 1; ranks <= 2; ranks++) {
        const struct chakra_job job = {traces, ranks};
        if (!chakra_tasks(f->arena, &job, NULL, &graph, &counts, &f->error))
            return false;
        CHECK(graph.node_count == ranks * traces[0].node_count);
        for (uint32_t n = 0; n < graph.node_count; n++)
            CHECK(isfinite(graph.nodes[n].work_s) && graph.nodes[n].work_s >= 0.0);
        task_link(f->arena, &graph, &links);
        if (!task_check(&graph, &links, &f->error))
            return false;
    }
    return true;
}

static bool check_steps(struct fuzzed *f, const struct mllog *log)
{
    struct mllog_step steps[MLLOG_SOURCES];
    double step_s = 0.0;
    if (!mllog_steps(log, steps, &f->error))
        return false;
    for (unsigned i = 0; i < MLLOG_SOURCES; i++) {
        CHECK(isfinite(steps[i].step_s) && steps[i].step_s >= 0.0);
        CHECK((steps[i].step_s > 0.0) == (steps[i].samples > 0));
        step_s = fmax(step_s, steps[i].step_s);
    }
    CHECK(step_s > 0.0);
    return true;
}

static bool mllog(struct fuzzed *f)
{
    struct mllog log;
    struct mllog_layout layout;
    if (!mllog_read(f->arena, &f->file, &log, &f->error) || !check_steps(f, &log))
        return false;
    CHECK(log.run.init_start_s <= log.run.run_start_s);
    if (!mllog_layout(f->arena, &log, NULL, NULL, &layout, &f->error))
        return false;
    CHECK(layout.gpus.value == 0.0 || layout.dp.value == 0.0 ||
          layout.gpus.value >= layout.dp.value);
    return true;
}

/* A configuration: what is set is known, or it is told why not. */
static bool shell(struct fuzzed *f)
{
    struct shell config;
    struct mllog_layout layout = {.lora = false};
    if (!shell_parse(f->arena, f->file.path, f->file.text, f->file.bytes, &config, &f->error))
        return false;
    for (uint32_t i = 0; i < config.count; i++)
        CHECK(*config.rows[i].name != '\0' &&
              (config.rows[i].value == NULL) == (config.rows[i].why != NULL));
    return mllog_config(f->arena, &config, f->file.path, &layout, &f->error);
}

/* What is read of a launch is keys, each in a line of its own. */
static bool check_launch(const struct launched *l)
{
    for (unsigned s = 0; s < LAUNCHED_SECTIONS; s++)
        for (uint32_t i = 0; i < l->keys[s].count; i++)
            CHECK(strchr(l->keys[s].rows[i], '\n') == NULL &&
                  strchr(l->keys[s].rows[i], ':') != NULL);
    return true;
}

static const char *const sets[] = {"TP=2"};
static const struct launched_hints hints = {.sets = sets, .set_count = 1};

static bool megatron(struct fuzzed *f)
{
    struct launched l;
    return launched_megatron(f->arena, &f->file, &hints, 0, &l, &f->error) && check_launch(&l);
}

static bool torchtitan(struct fuzzed *f)
{
    struct launched l;
    return launched_torchtitan(f->arena, &f->file, &hints, 0, &l, &f->error) && check_launch(&l);
}

static bool deepspeed(struct fuzzed *f)
{
    struct launched l;
    return launched_deepspeed(f->arena, &f->file, &hints, 0, &l, &f->error) && check_launch(&l);
}

static bool nanotron(struct fuzzed *f)
{
    struct launched l;
    return nanotron_read(f->arena, &f->file, &hints, 0, &l, &f->error) && check_launch(&l);
}

static bool nemo(struct fuzzed *f)
{
    struct launched l;
    return nemo_read(f->arena, &f->file, &hints, 0, &l, &f->error) && check_launch(&l);
}

/* Documents that stand behind each other, with a line of dashes between: the next of them. */
static struct import_file next_document(struct import_file *rest)
{
    struct import_file file = *rest;
    char *cut = strstr(rest->text, "\n---\n");
    rest->text += rest->bytes;
    rest->bytes = 0;
    if (cut == NULL)
        return file;
    *cut = '\0';
    rest->bytes = file.bytes - (size_t)(cut + 5 - file.text);
    rest->text = cut + 5;
    file.bytes = (size_t)(cut - file.text);
    return file;
}

typedef bool peer_read_fn(struct arena *arena, const struct peer_files *files, uint64_t gpus,
                          struct launched *out, struct error *error);

static bool peer(struct fuzzed *f, peer_read_fn *read)
{
    struct launched l;
    struct import_file rest = f->file;
    rest.bytes = strlen(rest.text);
    const struct import_file run = next_document(&rest), model = next_document(&rest),
                             machine = next_document(&rest);
    const struct peer_files files = {&run, &model, machine.bytes > 0 ? &machine : NULL, false};
    return read(f->arena, &files, 0, &l, &f->error) && check_launch(&l);
}

static bool calculon(struct fuzzed *f)
{
    return peer(f, calculon_read);
}

static bool simumax(struct fuzzed *f)
{
    return peer(f, simumax_read);
}

/* Rows in order, each with a number and a time that can be; the first begins a start. */
static bool iterations(struct fuzzed *f)
{
    struct iteration_log log;
    if (!iteration_log_read(f->arena, &f->file, NULL, &log, &f->error))
        return false;
    CHECK(log.count > 0 && log.rows[0].first && log.format != NULL);
    for (uint32_t i = 0; i < log.count; i++) {
        const struct iteration *row = &log.rows[i];
        CHECK((double)row->number <= ITERATION_MAX && (isnan(row->step_s) || row->step_s > 0.0));
        CHECK(row->first || row->number > row[-1].number);
        for (unsigned p = 0; p < ITERATION_PAUSES; p++)
            CHECK(row->pauses_s[p] >= 0.0 && isfinite(row->pauses_s[p]));
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool (*const readers[])(struct fuzzed *) = {
        nccl_tests, csv,          xid,       dcgm,     slurm, topo,      nccl_topo,
        pytorch,    pytorch_step, chakra,    mllog,    shell, megatron,  torchtitan,
        calculon,   simumax,      deepspeed, nanotron, nemo,  iterations};
    struct fuzzed f = {.arena = arena_create(), .error = {""}};
    if (size > 0) {
        f.file = (struct import_file){"fuzz", arena_alloc(f.arena, size, 1), size - 1};
        memcpy(f.file.text, data + 1, size - 1);
        f.file.text[size - 1] = '\0';
        if (!import_unpack(f.arena, UNPACKED_MAX, &f.file, &f.error) ||
            !readers[data[0] % (sizeof readers / sizeof readers[0])](&f))
            CHECK(f.error.text[0] != '\0');
    }
    arena_destroy(f.arena);
    return 0;
}
