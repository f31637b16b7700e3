/* Kernel rates (kernels.csv): GEMM, attention, copies through the kernel model of the GPU.
 *
 * Attention goes through the same pieces as a layer, so that the unfused kind is the list of
 * kernels that it is. Rates count as published: 4 s^2 d FLOP a head and sequence forward, half when
 * causal, 2.5 times that backward; a mask that is not stated is none. Unfused attention is that of
 * plain PyTorch. A copy is large: its size is not published and does not matter.
 */
#include "analysis/validate/rows/validate_run.h"

#include <stdio.h>
#include <string.h>

#include "models/gpu/gpu_power.h"
#include "models/workload/transformer_piece.h"
#include "sim/units.h"

#define BACKWARD 2.5
#define COPY_BYTES (4.0 * GIB)

static const char *const metrics[] = {"rate", NULL};
static const char *const columns[] = {"row_id",      "implementation", "kind", "gpu",
                                      "flops_per_s", "bytes_per_s",    NULL};

struct subject {
    struct cells cells;
    const struct configuration *c;
    struct validate_row *row;
};

static double time_of(const struct subject *s, const struct kernel *kernels, unsigned count)
{
    double time_s = 0.0;
    for (unsigned i = 0; i < count; i++)
        time_s += gpu_kernel_time_s(&s->c->gpu, &s->c->kernels, &kernels[i]);
    return time_s;
}

/* `best` is the highest of many short runs of the best shape of a search. */
static double gemm_rate(struct subject *s)
{
    double m = validate_cells_number(&s->cells, "m", 0.0),
           n = validate_cells_number(&s->cells, "n", 0.0);
    double k = validate_cells_number(&s->cells, "k", 0.0),
           batch = validate_cells_number(&s->cells, "batch", 1.0);
    const struct precision *p = s->c->training.precision;
    if (!(m >= 1.0 && n >= 1.0 && k >= 1.0 && batch >= 1.0)) {
        validate_row_refuse(s->row, REFUSAL_CELLS, "a gemm needs m, n and k");
        return 0.0;
    }
    struct kernel kernel = gpu_kernel_gemm(
        "gemm", p->gemm_peak, (struct gemm_shape){m, n, k, batch}, p->activation_bytes);
    bool best = strcmp(validate_cells_word(&s->cells, "implementation"), "best") == 0;
    struct gpu_spec gpu = best ? gpu_power_unthrottled(&s->c->gpu) : s->c->gpu;
    return kernel.flops / gpu_kernel_time_s(&gpu, &s->c->kernels, &kernel);
}

/* One core of attention: forward, backward or both. */
static double attention_rate(struct subject *s, bool forward, bool backward)
{
    const struct configuration *c = s->c;
    struct layer_context context = {.model = &c->model,
                                    .software = &c->software,
                                    .precision = c->training.precision,
                                    .attention = (enum attention_kernel)c->training.attention,
                                    .microbatch = c->layout.microbatch,
                                    .sequence = c->training.sequence,
                                    .tp = 1,
                                    .cp = 1,
                                    .causal = validate_cells_count(&s->cells, "causal", 0) > 0};
    struct rank_share share;
    struct segment core = {0};
    transformer_share_of(&context, &share);
    transformer_piece_write(&share, PIECE_CORE, PIECE_CORE, &core);
    double length = (double)context.sequence;
    double flops = 4.0 * length * length * share.attention.head_size * share.attention.heads *
                   (double)context.microbatch * (context.causal ? 0.5 : 1.0);
    double time_s = 0.0;
    if (forward)
        time_s += time_of(s, core.forward.kernels, core.forward.count);
    if (backward)
        time_s += time_of(s, core.dgrad.kernels, core.dgrad.count);
    return flops * ((forward ? 1.0 : 0.0) + (backward ? BACKWARD : 0.0)) / time_s;
}

static double copy_rate(struct subject *s)
{
    struct kernel kernel = gpu_kernel_memory("copy", COPY_BYTES, 1.0);
    return COPY_BYTES / time_of(s, &kernel, 1);
}

static double rate_of(struct subject *s, const char *kind)
{
    if (strcmp(kind, "gemm") == 0)
        return gemm_rate(s);
    if (strcmp(kind, "attention_fwd") == 0)
        return attention_rate(s, true, false);
    if (strcmp(kind, "attention_bwd") == 0)
        return attention_rate(s, false, true);
    if (strcmp(kind, "attention_fwd_bwd") == 0)
        return attention_rate(s, true, true);
    if (strcmp(kind, "hbm_copy") == 0)
        return copy_rate(s);
    validate_row_refuse(s->row, REFUSAL_OPERATION, "the kind of kernel %s is not known", kind);
    return 0.0;
}

/* A layer of the row's attention on one GPU of its kind. */
static struct scenario *scenario_of(const struct validation *v, struct cells *c, bool attention,
                                    struct validate_row *row)
{
    struct validate_run run = {
        .gpu = validate_cells_word(c, "gpu"), .gpus = 1, .gpus_per_node = 1, .fabric = ""};
    const char *dtype = validate_cells_word(c, "dtype");
    uint64_t heads = validate_cells_count(c, "heads", 1),
             size = validate_cells_count(c, "head_dim", 128);
    uint64_t batch = attention ? validate_cells_count(c, "batch", 1) : 1;
    struct validate_text text = {.length = 0};
    if (row->refused || !validate_cluster(v, &run, &text, row))
        return NULL;
    validate_text_add(
        &text,
        "model: {layers: 1, hidden: %llu, heads: %llu, head_size: %llu, vocabulary: 64}\n"
        "training: {sequence: %llu, global_batch: %llu, precision: %s, attention: %s}\n"
        "layout: {microbatch: %llu, recompute: none}\nsoftware: fsdp\n",
        (unsigned long long)(heads * size), (unsigned long long)heads, (unsigned long long)size,
        (unsigned long long)validate_cells_count(c, "seq_len", 64), (unsigned long long)batch,
        *dtype != '\0' ? dtype : "bf16",
        attention ? validate_cells_word(c, "implementation") : "math", (unsigned long long)batch);
    return validate_scenario(v, text.s, row);
}

static void predict(const struct validation *v, struct validate_row *row)
{
    struct subject s = {{v->csv, row->record, row}, NULL, row};
    const char *kind = validate_cells_word(&s.cells, "kind");
    bool attention = strncmp(kind, "attention", strlen("attention")) == 0;
    validate_cells_measured(&s.cells, "flops_per_s", 1.0, &row->values[0]);
    validate_cells_measured(&s.cells, "bytes_per_s", 1.0, &row->values[0]);
    struct scenario *scenario = scenario_of(v, &s.cells, attention, row);
    if (scenario == NULL)
        return;
    s.c = &scenario->configuration;
    row->values[0].predicted = rate_of(&s, kind);
    row->values[0].has_predicted = !row->refused;
    if (!row->refused)
        snprintf(row->note, sizeof row->note, "%s", kind);
    scenario_destroy(scenario);
}

const struct validate_kind validate_kernels = {
    .head = {.name = "kernels", .doc = "rates of matrix products, attention and copies"},
    .columns = columns,
    .metrics = metrics,
    .predict = predict,
    .explained = "no scenario: the kernel model of one card is asked for one kernel",
};
