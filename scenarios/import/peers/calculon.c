/* calculon.c - the documents of Calculon: the model, the training, and what they do not say. */
#include "scenarios/import/peers/calculon.h"

#include <inttypes.h>

#define NEEDED(option, name) launched_needed(l, CALCULON_##option, name)
#define MODEL(option, ...) launched_key(l, LAUNCHED_MODEL, CALCULON_##option, __VA_ARGS__)
#define TRAINING(option, ...) launched_key(l, LAUNCHED_TRAINING, CALCULON_##option, __VA_ARGS__)

static const struct launched_option options[] = {
#define X(id, name) {name, NULL, LAUNCHED_VALUE},
#include "scenarios/import/peers/calculon_list.h"
#undef X
};
static const struct launched_other others[] = {
    {"name", NULL},
    {"model.name", NULL},
    {"system.name", NULL},
    {"system.vector.*", "kernels without matrices are simulated by the bytes that they move"},
    {"system.networks.0.ops.*", "collectives are simulated by NCCL's algorithms"},
    {"system.networks.1.ops.*", "collectives are simulated by NCCL's algorithms"},
    {"system.networks.0.must_be_filled", NULL},
    {"system.networks.1.must_be_filled", NULL},
    {"system.networks.*", "two networks are simulated, the first within a node"},
};
static const struct launched_table table = {options, CALCULON_OPTIONS, others,
                                            sizeof others / sizeof others[0]};

static void read_model(struct launched *l)
{
    static const char *const types[] = {"multihead", "multiquery", NULL};
    const uint64_t heads = NEEDED(HEADS, "attn_heads");
    const bool one = launched_choice(l, CALCULON_ATTENTION, types, 0) == 1;
    MODEL(BLOCKS, "layers: %" PRIu64, NEEDED(BLOCKS, "num_blocks"));
    MODEL(HIDDEN, "hidden: %" PRIu64, NEEDED(HIDDEN, "hidden"));
    MODEL(HEADS, "heads: %" PRIu64, heads);
    MODEL(ATTENTION, "kv_heads: %" PRIu64, one ? 1 : heads);
    MODEL(HEAD_SIZE, "head_size: %" PRIu64, NEEDED(HEAD_SIZE, "attn_size"));
    MODEL(FEEDFORWARD, "ffn_hidden: %" PRIu64, NEEDED(FEEDFORWARD, "feedforward"));
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "vocabulary: 51200");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "tied_embeddings: true");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "position: learned");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "ffn: gelu");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "norm: layernorm");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "biases: true");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "dropout: 0.1");
    launched_warn(l, LAUNCHED_NOTHING,
                  "embedding, head and loss are simulated, of the 51,200 entries that Calculon "
                  "counts among the parameters; it simulates no time of them");
}

static void read_training(struct launched *l, enum calculon_format format)
{
    static const char *const precisions[] = {[CALCULON_FLOAT32] = "fp32",
                                             [CALCULON_FLOAT16] = "fp16",
                                             [CALCULON_BFLOAT16] = "bf16",
                                             [CALCULON_FLOAT8] = "fp8"};
    if (!launched_truth(l, CALCULON_TRAINING, true))
        launched_bad(l, CALCULON_TRAINING, "nothing is trained: inference is not simulated");
    TRAINING(SEQUENCE, "sequence: %" PRIu64, NEEDED(SEQUENCE, "seq_size"));
    TRAINING(BATCH, "global_batch: %" PRIu64, NEEDED(BATCH, "batch_size"));
    TRAINING(DATATYPE, "precision: %s", precisions[format]);
    launched_key(l, LAUNCHED_TRAINING, LAUNCHED_NOTHING, "attention: math");
    if (launched_truth(l, CALCULON_FUSED, false))
        launched_warn(l, CALCULON_FUSED, "activations are simulated as kernels of their own");
}

static struct calculon_run read_run(struct launched *l)
{
    static const char *const formats[] = {"float32", "float16", "bfloat16", "float8", NULL};
    const int format = launched_choice(l, CALCULON_DATATYPE, formats, CALCULON_FLOAT16);
    const struct calculon_run r = {NEEDED(PROCS, "num_procs"), NEEDED(TP, "tensor_par"),
                                   NEEDED(PP, "pipeline_par"), NEEDED(DP, "data_par"),
                                   (enum calculon_format)format};
    if ((double)r.tp * (double)r.pp * (double)r.dp != (double)r.gpus)
        launched_bad(l, CALCULON_PROCS,
                     "%" PRIu64 " processors are not tensor_par %" PRIu64 " x pipeline_par %" PRIu64
                     " x data_par %" PRIu64,
                     r.gpus, r.tp, r.pp, r.dp);
    return r;
}

bool calculon_read(struct arena *arena, const struct peer_files *files, uint64_t gpus,
                   struct launched *l, struct error *error)
{
    if (!peer_take(arena, files, &table, l, error))
        return false;
    l->profile = "unnamed";
    read_model(l);
    const struct calculon_run run = read_run(l);
    read_training(l, run.format);
    if (l->broken)
        return false;
    peer_gpus(l, CALCULON_PROCS, run.gpus, gpus);
    calculon_layout(l, &run);
    if (files->system != NULL && !l->broken) {
        const uint64_t first = calculon_system(l, &run, files->card);
        peer_network(l, CALCULON_TP_NET, run.tp, first);
        peer_network(l, CALCULON_PP_NET, run.pp > 1 ? run.tp * run.pp : 1, first);
        peer_network(l, CALCULON_DP_NET, run.dp > 1 ? run.gpus : 1, first);
    }
    return !l->broken;
}
