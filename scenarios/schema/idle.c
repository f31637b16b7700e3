/* idle.c - keys that a scenario states and that mean nothing in it: one table, a row for each
 * key and the circumstance that it needs. Who states such a key has forgotten its partner, or
 * believes in an effect that is not there; the step is simulated all the same, so it is a warning.
 *
 * A key is stated by the scenario's file or by --set; what a preset, the catalogue or a config.json
 * says of itself is no mistake of the user. Its default states nothing, but for keys that are
 * stated to turn something on (`always`). That the table is complete is a law:
 * tests/analysis/record/numbers/test_idle_keys.c. */
#include "scenarios/schema/idle.h"

#include <string.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/language/quantity.h"

/* What a key needs, and what is said where it is not so: `lacks`, and the name of what is there. */
struct circumstance {
    bool (*holds)(const struct configuration *c);
    const char *lacks;
    const char *(*name)(const struct configuration *c); /* NULL: nothing to add */
    bool of_layout; /* by keys that a search of layouts chooses: nothing is known before */
};

static bool has_experts(const struct configuration *c)
{
    return c->model.moe.experts > 0;
}

static bool shares_experts(const struct configuration *c)
{
    return !has_experts(c) || configuration_expert_ranks(c).ep > 1;
}

static bool has_groups(const struct configuration *c)
{
    return !has_experts(c) || c->model.moe.groups > 1;
}

static bool has_window(const struct configuration *c)
{
    return c->model.windows.length > 0;
}

static bool has_recurrence(const struct configuration *c)
{
    return c->model.pattern.kind != NULL;
}

static bool has_chunks(const struct configuration *c)
{
    return !has_recurrence(c) || c->model.pattern.kind == &layer_mamba2;
}

static bool has_gate(const struct configuration *c)
{
    return !has_recurrence(c) || c->model.pattern.kind == &layer_kda;
}

static bool has_convolution(const struct configuration *c)
{
    return !has_recurrence(c) || c->model.pattern.kind != &layer_lightning;
}

static const char *recurrence(const struct configuration *c)
{
    return c->model.pattern.kind->head.name;
}

static bool has_latent(const struct configuration *c)
{
    return c->model.latent.kv_rank > 0;
}

static bool has_indexer(const struct configuration *c)
{
    return c->model.latent.indexer.heads > 0;
}

static bool has_layernorm(const struct configuration *c)
{
    return c->model.norm.kind == NORM_LAYERNORM;
}

/* Has any layer no experts? */
static bool has_dense_layers(const struct configuration *c)
{
    const struct model_shape *m = &c->model;
    bool dense = !has_experts(c);
    for (uint64_t i = 0; i < m->layers && !dense; i++)
        dense = !transformer_has_experts(m, i);
    return dense;
}

static bool has_adapters(const struct configuration *c)
{
    return c->training.adapter.kind != ADAPTER_NONE;
}

static bool shares_sequence(const struct configuration *c)
{
    return c->layout.cp > 1;
}

static bool is_causal(const struct configuration *c)
{
    return c->training.causal;
}

static bool has_pipeline(const struct configuration *c)
{
    return c->layout.pp > 1;
}

static bool is_hybrid(const struct configuration *c)
{
    return c->layout.data.sharding->hybrid;
}

static bool has_units(const struct configuration *c)
{
    return c->layout.data.sharding->units;
}

static const char *sharding(const struct configuration *c)
{
    return c->layout.data.sharding->head.name;
}

static bool offloads_optimizer(const struct configuration *c)
{
    return c->layout.offload.optimizer > 0.0;
}

static bool offloads_activations(const struct configuration *c)
{
    return c->layout.offload.activations > 0.0;
}

static const struct circumstance
    experts = {has_experts, "in a dense model (model.experts: 0)", NULL, false},
    shared_experts = {shares_experts, "with ep 1", NULL, true},
    groups = {has_groups, "without model.expert_groups", NULL, false},
    window = {has_window, "without model.window", NULL, false},
    recurrent = {has_recurrence, "without recurrent layers (model.pattern)", NULL, false},
    chunks = {has_chunks, "in layers of", recurrence, false},
    gate = {has_gate, "in layers of", recurrence, false},
    convolution = {has_convolution, "in layers of", recurrence, false},
    latent = {has_latent, "without model.kv_rank", NULL, false},
    indexer = {has_indexer, "without an indexer (model.indexer_heads: 0)", NULL, false},
    layernorm = {has_layernorm, "with norm rms", NULL, false},
    dense = {has_dense_layers, "where every layer has experts", NULL, false},
    adapters = {has_adapters, "without training.adapter", NULL, false},
    context = {shares_sequence, "with cp 1", NULL, true},
    causal = {is_causal, "without a causal mask (training.causal)", NULL, false},
    pipeline = {has_pipeline, "with pp 1", NULL, true},
    hybrid = {is_hybrid, "with sharding", sharding, true},
    units = {has_units, "with sharding", sharding, true},
    optimizer = {offloads_optimizer, "without layout.optimizer_offload", NULL, false},
    activations = {offloads_activations, "without layout.activation_offload", NULL, false};

static const struct idle_key {
    const char *key;
    const struct circumstance *needs;
    const char *does; /* "it ..." */
    bool always;      /* its default is stated for an effect too */
} idle_keys[] = {
    {"model.ffn_hidden", &dense, "is the width of layers without experts", false},
    {"model.norm_biases", &layernorm, "gives biases to a layernorm", false},
    {"model.experts_per_token", &experts, "counts the experts that a token visits", false},
    {"model.moe_ffn_hidden", &experts, "is the width of an expert", false},
    {"model.shared_experts", &experts, "adds experts to those of a layer", false},
    {"model.dense_layers", &experts, "counts layers before those with experts", false},
    {"model.expert_interval", &experts, "says which layers have experts", false},
    {"model.expert_groups", &experts, "divides the experts of a layer", false},
    {"model.groups_per_token", &experts, "limits the experts that a token may visit", false},
    {"model.groups_per_token", &groups, "counts those of the groups that a token may visit", false},
    {"model.router_bias", &experts, "gives a bias to the router of experts", false},
    {"model.clamped_activation", &experts, "clamps the activations of experts", false},
    {"model.window_kind", &window, "says which positions a window holds", false},
    {"model.full_interval", &window, "says which layers attend without the window", false},
    {"model.linear_heads", &recurrent, "is a size of recurrent layers", false},
    {"model.linear_head_size", &recurrent, "is a size of recurrent layers", false},
    {"model.linear_key_heads", &recurrent, "is a size of recurrent layers", false},
    {"model.linear_key_size", &recurrent, "is a size of recurrent layers", false},
    {"model.linear_conv", &recurrent, "is a size of recurrent layers", false},
    {"model.linear_conv", &convolution, "counts the taps of a convolution", false},
    {"model.linear_chunk", &recurrent, "is a size of recurrent layers", false},
    {"model.linear_chunk", &chunks, "is the chunk of the kernels of mamba2", false},
    {"model.linear_full_gate", &recurrent, "is a matrix of recurrent layers", false},
    {"model.linear_full_gate", &gate, "is a matrix of kda", false},
    {"model.indexer_size", &indexer, "is a size of sparse attention", false},
    {"model.sparse_keys", &indexer, "counts the keys that sparse attention chooses", false},
    {"model.indexer_interval", &indexer, "says which layers have an indexer", false},
    {"model.indexer_first", &indexer, "says which layers have an indexer", false},
    {"model.q_rank", &latent, "is a rank of latent attention", false},
    {"model.rope_head_size", &latent, "is a part of the heads of latent attention", false},
    {"model.v_head_size", &latent, "is a width of latent attention", false},
    {"training.adapter_rank", &adapters, "is the rank of adapters, and all weights are trained",
     true},
    {"training.adapter_targets", &adapters, "says which layers have adapters", true},
    {"layout.etp", &experts, "splits experts", false},
    {"layout.expert_imbalance", &experts, "loads the ranks of experts unevenly", false},
    {"layout.expert_capacity", &experts, "bounds the tokens of an expert", false},
    {"layout.dispatch", &experts, "brings tokens to their experts", false},
    {"layout.dispatch_8bit", &experts, "brings tokens to their experts in 8 bits", false},
    {"layout.dispatch", &shared_experts, "brings tokens to experts of other ranks", false},
    {"layout.dispatch_8bit", &shared_experts, "brings tokens to experts of other ranks", false},
    {"layout.cp_method", &context, "exchanges keys and values of context ranks", false},
    {"layout.cp_balance", &context, "divides a sequence over context ranks", false},
    {"layout.cp_balance", &causal, "evens out the work under a causal mask", false},
    {"layout.ends_count", &pipeline, "spreads layers over the stages of a pipeline", false},
    {"layout.first_stage_layers", &pipeline, "counts the layers of the first stage", false},
    {"layout.last_stage_layers", &pipeline, "counts the layers of the last stage", false},
    {"layout.shard_group", &hybrid, "groups the shards of hsdp", false},
    {"layout.fsdp_unit_layers", &units, "counts the layers of a unit of fsdp", false},
    {"layout.optimizer_offload_to", &optimizer,
     "says where the offloaded share is kept, and nothing is offloaded", true},
    {"layout.activation_offload_to", &activations,
     "says where the offloaded share is kept, and nothing is offloaded", true},
};

/* The word that the scenario gives to the key itself; NULL: none. */
static const struct value *stated(const struct value *root, const char *key)
{
    const struct value *at = value_deepest(root, key);
    const bool is_key = at->key != NULL && strcmp(at->key, strrchr(key, '.') + 1) == 0;
    return is_key && at->kind == VALUE_WORD ? at : NULL;
}

static const struct param *row_of(const char *key)
{
    const size_t length = (size_t)(strrchr(key, '.') - key);
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        const struct params tables[] = {section->keys, schema_table(section)};
        if (strlen(section->path) != length || strncmp(section->path, key, length) != 0)
            continue;
        for (unsigned t = 0; t < 2; t++)
            for (unsigned i = 0; i < tables[t].count; i++)
                if (strcmp(tables[t].rows[i].name, key + length + 1) == 0)
                    return &tables[t].rows[i];
    }
    return NULL;
}

/* Does the word say what holds without it? */
static bool is_default(const struct value *value, const struct param *param)
{
    struct quantity given, usual;
    char why[QUANTITY_TEXT_MAX];
    if (param->fallback == NULL)
        return false;
    if (strcmp(value->text, param->fallback) == 0)
        return true;
    return param->type != PARAM_CHOICE && param->type != PARAM_TEXT &&
           quantity_read(param->type, value->text, "", &given, why) &&
           quantity_read(param->type, param->fallback, "", &usual, why) &&
           given.number == usual.number;
}

void idle_warn(const struct value *root, const struct configuration *c, bool layout_open,
               struct problems *problems)
{
    for (unsigned i = 0; i < sizeof idle_keys / sizeof idle_keys[0]; i++) {
        const struct idle_key *k = &idle_keys[i];
        const struct value *value = stated(root, k->key);
        if (value == NULL || (layout_open && k->needs->of_layout) || k->needs->holds(c) ||
            (!k->always && is_default(value, row_of(k->key))))
            continue;
        const char *name = k->needs->name != NULL ? k->needs->name(c) : "";
        problems_warning(problems, value->key_mark, "%s has no effect %s%s%s: it %s", k->key,
                         k->needs->lacks, *name ? " " : "", name, k->does);
    }
}
