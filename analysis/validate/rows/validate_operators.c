/* Times of single operators by shape (operators.csv): products, products by expert, attention,
 * through the kernel model of the GPU.
 *
 * Constants of the catalogue may be fitted to such shapes; so a quarter of the shapes is kept aside
 * by a hash and reported apart: fits may not look at them. The hash knows the shape alone, its
 * sides in ascending order, so that a layer's three products and all cards stand on the same side.
 * Attention is causal and runs in the kernel that Transformer Engine takes: cuDNN's where the card
 * has a curve for it, else FlashAttention 2.
 */
#include "analysis/validate/rows/validate_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/validate/table/validate_score.h"
#include "models/gpu/gpu_power.h"
#include "sim/digest.h"
#include "sim/units.h"

#define ASIDE_EVERY 4
/* The benchmark of these rows: 100 calls after rest, of which the last 75 are timed, from Python
 * (MooreThreads/SimuMax simu_tools/efficency_test). Until the card's power_window has passed its
 * cap has not lowered the clock yet. */
#define RUNS 100.0
#define WARM_UP 25.0
/* Host time of a call, which bounds what the GPU does in less: of each expert's product (80 and 160
 * experts of one shape take 8.6 and 8.8 us each, whatever their rows), of attention forward and
 * backward (4 and 8 heads take the same). Read off all rows, the quarter that is kept aside
 * included: of these three it is no test. */
#define EXPERT_HOST_S (8.6 * MICROSECOND)
#define FORWARD_HOST_S (92.0 * MICROSECOND)
#define BACKWARD_HOST_S (108.0 * MICROSECOND)
#define GROUPED "grouped_gemm"
#define ATTENTION "attention"

static const char *const metrics[] = {"time", NULL};
static const char *const columns[] = {"row_id", "op", "gpu",     "layout", "accumulate",  "m",
                                      "n",      "k",  "seq_len", "heads",  "qk_head_dim", NULL};

struct operation {
    struct cells cells;
    const char *op;
    const struct configuration *c;
    struct validate_row *row;
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t length = strlen(text), tail = strlen(with);
    return length >= tail && strcmp(text + length - tail, with) == 0;
}

static double side(struct operation *o, const char *column, double fallback)
{
    return (double)validate_cells_count(&o->cells, column, (uint64_t)fallback);
}

/* Bytes of an element of the result: what it is kept in when the product adds to it. */
static double result_bytes(struct operation *o, double otherwise)
{
    const char *kept = validate_cells_word(&o->cells, "out_dtype");
    const struct precision *precision = precision_find(kept);
    return precision != NULL ? precision->activation_bytes : otherwise;
}

/* Products: m x k by k x n; by expert a launch for each, of `m` tokens, on streams that fill the
 * card together. A weight's gradient is n x k there, summed over the tokens. */
static bool gemm_of(struct operation *o, struct kernel *out)
{
    const struct precision *p = o->c->training.precision;
    bool experts = begins(o->op, GROUPED);
    double m = side(o, "m", 0.0), n = side(o, "n", 0.0), k = side(o, "k", 0.0);
    double batch = side(o, "batch", 1.0), groups = experts ? side(o, "groups", 1.0) : 1.0;
    struct gemm_shape shape = {m, n, k, batch * groups};
    if (ends(o->op, "_dgrad"))
        shape = (struct gemm_shape){m, k, n, groups};
    if (ends(o->op, "_wgrad"))
        shape = (struct gemm_shape){n, k, m, groups};
    bool adds = side(o, "accumulate", 0.0) > 0.0;
    double bytes = p->activation_bytes;
    double kept = result_bytes(o, p->activation_bytes);
    if (!o->row->refused && !(m >= 1.0 && n >= 1.0 && k >= 1.0 && batch >= 1.0 && groups >= 1.0))
        validate_row_refuse(o->row, REFUSAL_CELLS, "a product needs m, n and k");
    if (o->row->refused)
        return false;
    *out = gpu_kernel_gemm("gemm", p->gemm_peak, shape, bytes);
    if (adds)
        gpu_kernel_gemm_accumulate(out, kept);
    out->launches = groups;
    return true;
}

static bool attention_of(struct operation *o, struct kernel *out)
{
    const struct configuration *c = o->c;
    double length = side(o, "seq_len", 0.0), heads = side(o, "heads", 0.0);
    double size = side(o, "qk_head_dim", 0.0);
    const enum peak_kind peak = c->training.precision->attention_peak;
    const bool cudnn = gpu_has_attention(&c->gpu, ATTENTION_CUDNN, peak);
    struct attention_shape shape = {.kernel = cudnn ? ATTENTION_CUDNN : ATTENTION_FLASH2,
                                    .causal = true,
                                    .backward = ends(o->op, "_backward"),
                                    .batch = side(o, "batch", 1.0),
                                    .query_tokens = length,
                                    .key_tokens = length,
                                    .heads = heads,
                                    .kv_heads = side(o, "kv_heads", heads),
                                    .head_size = size,
                                    .value_size = side(o, "v_head_dim", size)};
    if (o->row->refused)
        return false;
    if (!(length >= 1.0 && heads >= 1.0 && shape.kv_heads >= 1.0 && size >= 1.0 &&
          shape.batch >= 1.0))
        validate_row_refuse(o->row, REFUSAL_CELLS,
                            "attention needs seq_len, heads and qk_head_dim");
    else if (!gpu_has_attention(&c->gpu, shape.kernel, peak))
        validate_row_refuse(o->row, REFUSAL_HARDWARE,
                            "the card has no curve of fused attention in that type");
    if (o->row->refused)
        return false;
    *out = gpu_kernel_attention("attention", peak, &shape, c->training.precision->activation_bytes);
    return true;
}

static bool kernel_of(struct operation *o, struct kernel *out)
{
    if (strcmp(o->op, "gemm") == 0 || begins(o->op, GROUPED))
        return gemm_of(o, out);
    if (begins(o->op, ATTENTION))
        return attention_of(o, out);
    validate_row_refuse(o->row, REFUSAL_OPERATION, "the operation %s is not known", o->op);
    return false;
}

/* One card of the row's kind, and its precision. */
static struct scenario *scenario_of(const struct validation *v, struct cells *c,
                                    struct validate_row *row)
{
    struct validate_run run = {
        .gpu = validate_cells_word(c, "gpu"), .gpus = 1, .gpus_per_node = 1, .fabric = ""};
    const char *dtype = validate_cells_word(c, "dtype");
    struct validate_text text = {.length = 0};
    if (row->refused || !validate_cluster(v, &run, &text, row))
        return NULL;
    validate_text_add(&text,
                      "model: {layers: 1, hidden: 128, heads: 1, head_size: 128, vocabulary: 64}\n"
                      "training: {sequence: 64, global_batch: 1, precision: %s, attention: math}\n"
                      "layout: {microbatch: 1, recompute: none}\nsoftware: fsdp\n",
                      *dtype != '\0' ? dtype : "bf16");
    return validate_scenario(v, text.s, row);
}

static double host_s(const struct operation *o, const struct kernel *kernel)
{
    if (kernel->kind == KERNEL_ATTENTION)
        return kernel->core.backward ? BACKWARD_HOST_S : FORWARD_HOST_S;
    return begins(o->op, GROUPED) ? EXPERT_HOST_S * kernel->launches : 0.0;
}

/* Mean of the timed calls: some before the clock falls, the others after. */
static double measured_s(const struct operation *o, const struct kernel *kernel)
{
    const struct gpu_spec *gpu = &o->c->gpu, rested = gpu_power_unthrottled(gpu);
    double short_s = gpu_kernel_time_s(&rested, &o->c->kernels, kernel);
    double sustained_s = gpu_kernel_time_s(gpu, &o->c->kernels, kernel);
    double before = fmin(gpu->power.window_s / short_s, RUNS);
    double after = fmin(RUNS - before, RUNS - WARM_UP);
    double mean_s = sustained_s * after + short_s * (RUNS - WARM_UP - after);
    return fmax(mean_s / (RUNS - WARM_UP), host_s(o, kernel));
}

static void predict(const struct validation *v, struct validate_row *row)
{
    struct operation o = {{v->csv, row->record, row}, NULL, NULL, row};
    struct kernel kernel;
    o.op = validate_cells_word(&o.cells, "op");
    validate_cells_measured(&o.cells, "time_s", 1.0, &row->values[0]);
    struct scenario *scenario = scenario_of(v, &o.cells, row);
    if (scenario == NULL)
        return;
    o.c = &scenario->configuration;
    if (kernel_of(&o, &kernel) && !row->refused) {
        row->values[0].predicted = measured_s(&o, &kernel);
        row->values[0].has_predicted = true;
        const char *layout = validate_cells_word(&o.cells, "layout");
        snprintf(row->note, sizeof row->note, "%s%s%s", o.op, *layout != '\0' ? " " : "", layout);
    }
    scenario_destroy(scenario);
}

/* A count of any size; of what is no number, 0. */
static uint64_t word_of(const struct validation *v, size_t record, const char *column)
{
    struct validate_row scratch = {.refused = REFUSAL_NONE};
    struct cells cells = {v->csv, record, &scratch};
    return validate_cells_count(&cells, column, 0);
}

static void order(uint64_t *a, uint64_t *b)
{
    uint64_t less = *a < *b ? *a : *b, more = *a < *b ? *b : *a;
    *a = less;
    *b = more;
}

/* Is the shape one of the quarter that no fit looks at? */
static bool is_aside(const struct validation *v, size_t record)
{
    static const char *const others[] = {"batch",    "groups",      "seq_len",   "heads",
                                         "kv_heads", "qk_head_dim", "v_head_dim"};
    uint64_t m = word_of(v, record, "m"), n = word_of(v, record, "n"), k = word_of(v, record, "k");
    uint64_t hash = digest_begin();
    order(&m, &n);
    order(&n, &k);
    order(&m, &n);
    hash = digest_add(digest_add(digest_add(hash, m), n), k);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        hash = digest_add(hash, word_of(v, record, others[i]));
    return hash % ASIDE_EVERY == 0;
}

/* What the rows of a table have in common; NULL: whatever. */
struct choice_of_rows {
    const char *op, *gpu;
    bool aside;
};

static struct score score_of(const struct validation *v, const struct choice_of_rows *of)
{
    double *errors = ARENA_ARRAY(v->arena, double, v->row_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        bool wanted =
            begins(csv_cell(v->csv, row->record, "op"), of->op) &&
            (of->gpu == NULL || strcmp(csv_cell(v->csv, row->record, "gpu"), of->gpu) == 0);
        if (wanted && row->quality == QUALITY_CLEAN && is_aside(v, row->record) == of->aside &&
            validate_row_error(row, 0, &errors[count]))
            count++;
    }
    return validate_score_errors(errors, count);
}

static void print_score(const char *op, const char *gpu, const char *rows, struct score s,
                        FILE *out)
{
    if (s.count > 0.0)
        fprintf(out, "%-14s %-18.18s %-10s %5.0f %8.1f %% %8.1f %% %+8.1f %%\n", op, gpu, rows,
                s.count, 100.0 * s.median_ape, 100.0 * s.p90_ape, 100.0 * s.bias);
}

/* The cards in the order in which they appear. */
static unsigned list_gpus(const struct validation *v, const char **out)
{
    unsigned count = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        const char *gpu = csv_cell(v->csv, v->rows[i].record, "gpu");
        unsigned known = 0;
        while (known < count && strcmp(out[known], gpu) != 0)
            known++;
        if (known == count)
            out[count++] = gpu;
    }
    return count;
}

static void report(const struct validation *v, FILE *out)
{
    static const char *const ops[] = {"gemm", ATTENTION, GROUPED};
    const char **gpus = ARENA_ARRAY(v->arena, const char *, v->row_count + 1);
    unsigned gpu_count = list_gpus(v, gpus);
    fprintf(out, "\n%-14s %-18s %-10s %5s %10s %10s %10s\n", "operation", "gpu", "shapes", "count",
            "median", "P90", "bias");
    for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        for (unsigned g = 0; g < gpu_count; g++)
            for (int aside = 0; aside < 2; aside++)
                print_score(ops[i], format_shown(gpus[g]).s, aside ? "kept aside" : "others",
                            score_of(v, &(struct choice_of_rows){ops[i], gpus[g], aside != 0}),
                            out);
        print_score(ops[i], "all", "kept aside",
                    score_of(v, &(struct choice_of_rows){ops[i], NULL, true}), out);
    }
}

const struct validate_kind validate_operators = {
    .head = {.name = "operators", .doc = "times of products, attention and experts by shape"},
    .columns = columns,
    .metrics = metrics,
    .predict = predict,
    .explained = "no scenario: the kernel model of one card is asked for one kernel",
    .report = report,
};
