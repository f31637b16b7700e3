#include "scenarios/schema/schema.h"

#include <string.h>

#include "sim/units.h"
#include "topology/graph.h"

#define KEYS(rows)                                                                                 \
    {                                                                                              \
        rows, sizeof rows / sizeof rows[0]                                                         \
    }
#define GPU_MAX 4194304 /* past any machine that stands or is planned; as configuration_check */

static const struct param scenario_params[] = {
    {"name", PARAM_TEXT, offsetof(struct scenario_keys, name), 0, 0, "", NULL,
     "Title of the scenario; without one, the name of its file."},
    {"seed", PARAM_COUNT, offsetof(struct scenario_keys, seed), 0, 9e18, "1", NULL,
     "Seed of every random draw."},
};
static const struct param model_keys_params[] = {
    {"preset", PARAM_TEXT, offsetof(struct model_keys, preset), 0, 0, "", NULL,
     "A model of the catalogue; the keys below override its shape."},
    {"hf", PARAM_TEXT, offsetof(struct model_keys, hf), 0, 0, "", NULL,
     "Path of a Hugging Face config.json, relative to the scenario's folder."},
};
static const struct param cluster_params[] = {
    {"nodes", PARAM_COUNT, offsetof(struct cluster_keys, nodes), 1, GPU_MAX, READER_AUTO, NULL,
     "Number of nodes; auto: from gpus, or 1."},
    {"gpus", PARAM_COUNT, offsetof(struct cluster_keys, gpus), 1, GPU_MAX, READER_AUTO, NULL,
     "GPUs of the job: whole nodes or part of one; in NVLink domains of several trays whole trays, "
     "job_gpus of each domain; together with `nodes`, equally many of each node. auto: those of "
     "the nodes."},
    {"profile", PARAM_TEXT, offsetof(struct cluster_keys, profile), 0, 0, "", NULL,
     "File of kernel times measured on such a GPU (orrery-calibrate), relative to the scenario's "
     "folder; they take precedence over the model."},
};
static const struct param gpu_keys_params[] = {
    {"name", PARAM_TEXT, offsetof(struct named_keys, name), 0, 0, "", NULL,
     "A GPU of the catalogue; the keys below override its figures."},
};
static const struct param node_keys_params[] = {
    {"name", PARAM_TEXT, offsetof(struct named_keys, name), 0, 0, "", NULL,
     "A node of the catalogue; the keys below override its figures."},
    {"kind", PARAM_TEXT, offsetof(struct named_keys, kind), 0, 0, "", NULL,
     "Topology inside a node."},
};
static const struct param fabric_keys_params[] = {
    {"name", PARAM_TEXT, offsetof(struct named_keys, name), 0, 0, "", NULL,
     "A fabric of the catalogue; the keys below override its figures."},
    {"kind", PARAM_TEXT, offsetof(struct named_keys, kind), 0, 0, "", NULL,
     "Topology of the network between nodes."},
};
static const struct param training_params[] = {
    {"sequence", PARAM_COUNT, offsetof(struct training_keys, spec.sequence), 1, 1e8, READER_AUTO,
     NULL, "Tokens in a sequence; auto: 8192, or the model's positions_max where fewer."},
    {"global_batch", PARAM_COUNT, offsetof(struct training_keys, spec.global_batch), 1, 1e8, NULL,
     NULL, "Sequences in a step, over all replicas."},
    {"precision", PARAM_TEXT, offsetof(struct training_keys, precision), 0, 0, "bf16", NULL,
     "Number format of weights, activations and GEMMs; the default is fp16 on a GPU without bf16 "
     "matrix units."},
    {"optimizer", PARAM_TEXT, offsetof(struct training_keys, optimizer), 0, 0, "adamw", NULL,
     "Optimizer, which decides the state kept for each parameter."},
    {"attention", PARAM_CHOICE, offsetof(struct training_keys, spec.attention), 0, 0, READER_AUTO,
     attention_kernel_names,
     "Attention kernel; auto: the software's, but never an unfused one on a GPU with FP8 units."},
    {"causal", PARAM_FLAG, offsetof(struct training_keys, spec.causal), 0, 0, "true", NULL,
     "Tokens attend to earlier tokens only."},
    {"tokens", PARAM_COUNT, offsetof(struct training_keys, tokens), 1, 1e18, READER_AUTO, NULL,
     "Tokens of the whole training, for its length and cost; auto: not specified."},
    {"gradient_bytes", PARAM_RATIO, offsetof(struct training_keys, spec.gradient_bytes), 1, 8,
     READER_AUTO, NULL, "Bytes per kept gradient element; auto: as the software's recipes set it."},
    {"master_weights", PARAM_CHOICE, offsetof(struct training_keys, spec.state_formats.master), 0,
     0, READER_AUTO, master_format_names,
     "Format of the optimizer's copy of the weights, where the precision has one; auto: fp32, "
     "none with software.states_as_weights; none: weights are updated in place."},
    {"first_moment", PARAM_CHOICE, offsetof(struct training_keys, spec.state_formats.moments[0]), 0,
     0, READER_AUTO, moment_format_names,
     "Format of the optimizer's first moment, or of its momentum; auto: the optimizer's own."},
    {"second_moment", PARAM_CHOICE, offsetof(struct training_keys, spec.state_formats.moments[1]),
     0, 0, READER_AUTO, moment_format_names,
     "Format of the optimizer's second moment; auto: the optimizer's own."},
    {"bf16_layers_first", PARAM_COUNT, offsetof(struct training_keys, spec.wide_layers_first), 0,
     1e6, "0", NULL,
     "First layers whose GEMMs stay in 16 bits with precision fp8 or nvfp4. A model of 62 blocks "
     "was trained in NVFP4 with the first 2 and the last 8 in bf16, 16 % of its linear layers "
     "(arXiv:2509.25149)."},
    {"bf16_layers_last", PARAM_COUNT, offsetof(struct training_keys, spec.wide_layers_last), 0, 1e6,
     "0", NULL, "Last layers whose GEMMs stay in 16 bits likewise."},
    {"adapter", PARAM_CHOICE, offsetof(struct training_keys, spec.adapter.kind), 0, 0, "none",
     adapter_names,
     "Only low-rank adapters are trained, on frozen weights in 16 bits (lora) or 4 bits (qlora)."},
    {"adapter_rank", PARAM_COUNT, offsetof(struct training_keys, spec.adapter.rank), 1, 1e5, "16",
     NULL, "Rank of the adapters."},
    {"adapter_targets", PARAM_CHOICE, offsetof(struct training_keys, spec.adapter.targets), 0, 0,
     "all", adapter_target_names,
     "Linear layers with an adapter: all of each layer, or only those of attention."},
};
static const struct param layout_params[] = {
    {"tp", PARAM_COUNT, offsetof(struct layout_keys, spec.tp), 1, GPU_MAX, "1", NULL,
     "Tensor parallel size."},
    {"pp", PARAM_COUNT, offsetof(struct layout_keys, spec.pp), 1, 65535, "1", NULL,
     "Pipeline stages."},
    {"dp", PARAM_COUNT, offsetof(struct layout_keys, spec.dp), 1, GPU_MAX, READER_AUTO, NULL,
     "Data parallel size; auto: GPUs / (tp x pp x cp)."},
    {"cp", PARAM_COUNT, offsetof(struct layout_keys, spec.cp), 1, GPU_MAX, "1", NULL,
     "Context parallel size: number of ranks that share a sequence."},
    {"ep", PARAM_COUNT, offsetof(struct layout_keys, spec.ep), 1, GPU_MAX, READER_BEST, NULL,
     "Expert parallel size: number of the tp x cp x dp ranks of a stage over which the experts of "
     "a layer are split; best: the fastest that fits."},
    {"etp", PARAM_COUNT, offsetof(struct layout_keys, spec.etp), 0, GPU_MAX, "0", NULL,
     "Expert tensor parallel size: ranks that split each expert, 1 or tp; 0: tp, or 1 if ep is "
     "chosen automatically and above 1, or if tp breaks a rule."},
    {"expert_imbalance", PARAM_RATIO, offsetof(struct layout_keys, spec.experts.imbalance), 1, 1e4,
     "1", NULL, "Tokens of the busiest expert rank over the mean; all others wait for it."},
    {"expert_capacity", PARAM_RATIO, offsetof(struct layout_keys, spec.experts.capacity), 0, 1e4,
     "0", NULL,
     "Capacity of an expert for a rank's tokens over the mean: padded up to it, excess tokens "
     "dropped; 0: none is dropped."},
    {"dispatch", PARAM_TEXT, offsetof(struct layout_keys, dispatch), 0, 0, "alltoall", NULL,
     "How token rows are dispatched to the ranks of their experts and combined."},
    {"dispatch_8bit", PARAM_FLAG, offsetof(struct layout_keys, spec.experts.dispatch_8bit), 0, 0,
     "false", NULL,
     "Rows are dispatched to their experts in 8 bits with a scale for every 128 elements, as are "
     "gradients of their results; the combine transfers 16 bits."},
    {"vpp", PARAM_COUNT, offsetof(struct layout_keys, spec.pipeline.vpp), 1, 64, READER_AUTO, NULL,
     "Chunks of layers per pipeline stage, for interleaved schedules; auto: the most that divide "
     "the layers."},
    {"microbatch", PARAM_COUNT, offsetof(struct layout_keys, spec.microbatch), 1, 1e6, READER_BEST,
     NULL, "Sequences in a microbatch; best: the fastest that fits."},
    {"schedule", PARAM_TEXT, offsetof(struct layout_keys, schedule), 0, 0, READER_AUTO, NULL,
     "Order of passes in the pipeline; auto: 1f1b or interleaved, the faster that fits."},
    {"sharding", PARAM_TEXT, offsetof(struct layout_keys, sharding), 0, 0, READER_AUTO, NULL,
     "Model state that is sharded over data parallel ranks; auto: the software's, with a pipeline "
     "at most zero-1."},
    {"recompute", PARAM_CHOICE, offsetof(struct layout_keys, spec.recompute), 0, 0, READER_LEAST,
     recompute_names, "Activations that the backward pass recomputes; least: the least that fits."},
    {"recompute_layers", PARAM_COUNT, offsetof(struct layout_keys, spec.recompute_layers), 1, 1e5,
     READER_AUTO, NULL,
     "With block: number of layers, the first of each chunk, that are recomputed, auto: the fewest "
     "that fit; with uniform: number of layers that share one kept input."},
    {"sequence_parallel", PARAM_FLAG, offsetof(struct layout_keys, spec.sequence_parallel), 0, 0,
     READER_AUTO, NULL,
     "Norms and residuals are split over the tensor parallel ranks; auto: wherever the software "
     "can."},
    {"cp_method", PARAM_CHOICE, offsetof(struct layout_keys, spec.context.method), 0, 0,
     "all_gather", cp_method_names, "How context parallel ranks exchange keys and values."},
    {"cp_inner", PARAM_COUNT, offsetof(struct layout_keys, spec.context.inner), 1, GPU_MAX,
     READER_AUTO, NULL,
     "With all_to_all_ring: size of the groups that exchange heads (all-to-all); a ring passes "
     "keys and values between groups; auto: the largest that fits in a node with its tensor ranks "
     "and divides the heads."},
    {"cp_balance", PARAM_CHOICE, offsetof(struct layout_keys, spec.context.balance), 0, 0, "auto",
     cp_balance_names,
     "Positions of a context parallel rank under a causal mask: one block from either end, or "
     "contiguous ones, where all wait for the last rank; auto: the software's choice."},
    {"placement", PARAM_CHOICE, offsetof(struct layout_keys, spec.placement), 0, 0, "packed",
     placement_names,
     "Ranks fill one node after another, or are dealt round-robin over the nodes."},
    {"order", PARAM_TEXT, offsetof(struct layout_keys, spec.order), 0, 0, "auto", NULL,
     "Order of the dimensions in rank numbers, the fastest first. auto: tp-cp-dp-pp; tp-cp-pp-dp "
     "where only that makes the ranks of a group fill whole nodes (without units of FSDP and "
     "experts)."},
    {"first_stage_layers", PARAM_COUNT, offsetof(struct layout_keys, spec.pipeline.first_layers), 1,
     1e5, READER_AUTO, NULL, "Layers on the first stage; auto: by the software."},
    {"last_stage_layers", PARAM_COUNT, offsetof(struct layout_keys, spec.pipeline.last_layers), 1,
     1e5, READER_AUTO, NULL, "Layers on the last stage; auto: by the software."},
    {"ends_count", PARAM_FLAG, offsetof(struct layout_keys, spec.pipeline.ends_count), 0, 0,
     READER_AUTO, NULL,
     "Embedding and head count as one layer each when layers are spread evenly over the pipeline, "
     "so the first and the last chunk hold one layer less; auto: only if the layers do not divide "
     "otherwise."},
    {"shard_group", PARAM_COUNT, offsetof(struct layout_keys, spec.data.shard_group), 1, GPU_MAX,
     READER_AUTO, NULL,
     "Ranks of an hsdp shard group, which hold one copy; auto: the GPUs of a node."},
    {"optimizer_offload", PARAM_RATIO, offsetof(struct layout_keys, spec.offload.optimizer), 0, 1,
     "0", NULL,
     "Share of the optimizer's state that is kept and updated on the host's CPUs: gradients are "
     "copied there, weights back (Megatron-LM's optimizer-offload-fraction, ZeRO-Offload)."},
    {"optimizer_offload_to", PARAM_CHOICE, offsetof(struct layout_keys, spec.offload.optimizer_to),
     0, 0, "cpu", offload_names,
     "Where that state is kept between updates: in CPU memory, or on the node's drives "
     "(ZeRO-Infinity)."},
    {"activation_offload", PARAM_RATIO, offsetof(struct layout_keys, spec.offload.activations), 0,
     1, "0", NULL,
     "Share of the layers of each stage (of each of its chunks), from the first on, whose "
     "activations are copied to the host after the forward pass and back before the backward "
     "pass."},
    {"activation_offload_to", PARAM_CHOICE,
     offsetof(struct layout_keys, spec.offload.activations_to), 0, 0, "cpu", offload_names,
     "Where they are kept in between: in CPU memory, or on the node's drives."},
    {"fsdp_unit_layers", PARAM_COUNT, offsetof(struct layout_keys, spec.data.fsdp_unit_layers), 1,
     1e5, "1", NULL, "Layers that fsdp gathers as one unit."},
};
static const struct param software_keys_params[] = {
    {"profile", PARAM_TEXT, offsetof(struct software_keys, profile), 0, 0, "unnamed", NULL,
     "A software profile of the catalogue; the keys below override its figures. The default is the "
     "middle of the frameworks in use, with errors as wide as they differ."},
    {"release", PARAM_TEXT, offsetof(struct software_keys, release), 0, 0, "auto", NULL,
     "The month of the software, as 2025-11, or a container's name (25.11, 26.04.01): the dated "
     "facts of its profile until then hold (`orrery list software NAME` shows them); auto: all."},
};
static const struct param perturbation_params[] = {
    {"jitter", PARAM_RATIO, offsetof(struct perturbation_keys, jitter_ratio), 0, 1, "0", NULL,
     "Standard deviation of the logarithm of each op's time."},
};
static const struct param straggler_params[] = {
    {"gpu", PARAM_COUNT, offsetof(struct straggler_keys, gpu), 0, GPU_MAX, NULL, NULL,
     "Number of the GPU, from 0."},
    {"speed", PARAM_RATIO, offsetof(struct straggler_keys, speed_ratio), 0.001, 1, NULL, NULL,
     "Remaining share of its speed."},
};
/* The links that a GPU has of its own; schema_link_kind is in step with it. */
static const char *const link_names[] = {"nic", "nvlink", "pcie", NULL};
static const struct param link_params[] = {
    {"gpu", PARAM_COUNT, offsetof(struct weak_link_keys, gpu), 0, GPU_MAX, NULL, NULL,
     "Number of the GPU to which the link belongs, from 0."},
    {"link", PARAM_CHOICE, offsetof(struct weak_link_keys, link), 0, 0, "nic", link_names,
     "Which link."},
    {"capacity", PARAM_RATIO, offsetof(struct weak_link_keys, capacity_ratio), 0.001, 1, NULL, NULL,
     "Remaining share of its bandwidth."},
};
static const struct param note_params[] = {
    {"at", PARAM_TIME, offsetof(struct note_keys, at_s), 0, 100.0 * YEAR, NULL, NULL,
     "Simulated time of the caption."},
    {"say", PARAM_TEXT, offsetof(struct note_keys, say), 0, 0, NULL, NULL, "The caption."},
};
static const struct param lesson_params[] = {
    {"order", PARAM_COUNT, offsetof(struct lesson_keys, order), 1, 1000, NULL, NULL,
     "Its place in the course."},
    {"shows", PARAM_TEXT, offsetof(struct lesson_keys, shows), 0, 0, NULL, NULL,
     "What the run shows, in a few sentences."},
    {"look_for", PARAM_TEXT, offsetof(struct lesson_keys, look_for), 0, 0, NULL, NULL,
     "What to look at, and where."},
    {"next", PARAM_TEXT, offsetof(struct lesson_keys, next), 0, 0, "", NULL,
     "What to try afterwards."},
};
static const struct param lesson_run_params[] = {
    {"name", PARAM_TEXT, offsetof(struct lesson_run_keys, name), 0, 0, NULL, NULL,
     "Name of the run in answers: small letters, digits and _."},
    {"set", PARAM_TEXT, offsetof(struct lesson_run_keys, set), 0, 0, NULL, NULL,
     "Differences from the lesson's own run: K=V in the syntax of --set, separated by blanks."},
    {"shows", PARAM_TEXT, offsetof(struct lesson_run_keys, shows), 0, 0, NULL, NULL,
     "Description in a few words."},
};
static const struct param lesson_question_params[] = {
    {"ask", PARAM_TEXT, offsetof(struct lesson_question_keys, ask), 0, 0, NULL, NULL,
     "The question."},
    {"answer", PARAM_TEXT, offsetof(struct lesson_question_keys, answer), 0, 0, NULL, NULL,
     "A formula over columns of the table run, or of another table with its name in front, as in "
     "stream_use[dp].busy_s; COLUMN@NAME is the column of another run of the lesson."},
    {"why", PARAM_TEXT, offsetof(struct lesson_question_keys, why), 0, 0, NULL, NULL,
     "Explanation of the answer; formulas in braces are evaluated as the answer is."},
};
static const struct param cost_params[] = {
    {"gpu_hour", PARAM_MONEY, offsetof(struct cost_keys, gpu_hour_usd), 0, 1e6, "0USD", NULL,
     "Price of one GPU for an hour, those that idle in a node or chassis of the job included; "
     "overrides the catalogue's."},
    {"storage_tb_month", PARAM_MONEY, offsetof(struct cost_keys, storage_tb_month_usd), 0, 1e6,
     "0USD", NULL,
     "Price of 10^12 bytes for 30 days on separate storage (survival: domain) for checkpoints over "
     "weeks; memory and disks of the nodes are included in the price of the GPUs."},
};

static const struct schema_section sections[SECTION_RUN] = {
    [SECTION_SCENARIO] = {"", "The scenario: one training job on one cluster.", true, false, NULL,
                          KEYS(scenario_params), NULL, NULL},
    [SECTION_MODEL] = {"model",
                       "The model: a preset, a Hugging Face config.json, or the shape itself.",
                       true, false, "preset", KEYS(model_keys_params), model_params,
                       &model_param_count},
    [SECTION_CLUSTER] = {"cluster", "The machine.", true, false, NULL, KEYS(cluster_params), NULL,
                         NULL},
    [SECTION_GPU] = {"cluster.gpu", "The GPU: a name, or a mapping that overrides its figures.",
                     true, false, "name", KEYS(gpu_keys_params), gpu_params, &gpu_param_count},
    [SECTION_NODE] = {"cluster.node",
                      "The node: a name, or a mapping that overrides its figures; by default the "
                      "usual node of the GPU.",
                      false, false, "name", KEYS(node_keys_params), node_params, &node_param_count},
    [SECTION_FABRIC] =
        {"cluster.fabric",
         "The network between nodes: a name, or a mapping with a kind and its figures. One node "
         "needs none; by default several nodes have the usual fabric of their kind.",
         false, false, "name", KEYS(fabric_keys_params), fabric_params, &fabric_param_count},
    [SECTION_TRAINING] = {"training", "Batch, sequence, number formats and optimizer of training.",
                          true, false, NULL, KEYS(training_params), NULL, NULL},
    [SECTION_LAYOUT] = {"layout", "How the work is distributed over the GPUs.", false, false, NULL,
                        KEYS(layout_params), NULL, NULL},
    [SECTION_SOFTWARE] = {"software",
                          "The training framework: a profile, or a mapping that overrides its "
                          "figures.",
                          false, false, "profile", KEYS(software_keys_params), software_params,
                          &software_param_count},
    [SECTION_PERTURBATIONS] = {"perturbations", "How this cluster differs from an ideal one.",
                               false, false, NULL, KEYS(perturbation_params), NULL, NULL},
    [SECTION_STRAGGLERS] = {"perturbations.stragglers", "Slow GPUs.", false, true, NULL,
                            KEYS(straggler_params), NULL, NULL},
    [SECTION_LINKS] = {"perturbations.links", "Links of reduced bandwidth.", false, true, NULL,
                       KEYS(link_params), NULL, NULL},
    [SECTION_NOTES] = {"notes", "Captions shown to a class along the timeline.", false, true, NULL,
                       KEYS(note_params), NULL, NULL},
    [SECTION_LESSON] = {"lesson", "Lesson of this scenario for a class: `orrery lesson`.", false,
                        false, NULL, KEYS(lesson_params), NULL, NULL},
    [SECTION_LESSON_RUNS] = {"lesson.runs", "Other runs with which this one is compared.", false,
                             true, NULL, KEYS(lesson_run_params), NULL, NULL},
    [SECTION_LESSON_QUESTIONS] = {"lesson.questions",
                                  "Questions, with answers computed from the runs.", false, true,
                                  NULL, KEYS(lesson_question_params), NULL, NULL},
    [SECTION_COST] = {"cost", "Prices.", false, false, NULL, KEYS(cost_params), NULL, NULL},
};

static const struct schema_choice chosen[] = {
    {SECTION_MODEL, "preset", FAMILY_MODELS},
    {SECTION_GPU, "name", FAMILY_GPUS},
    {SECTION_NODE, "name", FAMILY_NODES},
    {SECTION_NODE, "kind", FAMILY_NODE_KINDS},
    {SECTION_FABRIC, "name", FAMILY_FABRICS},
    {SECTION_FABRIC, "kind", FAMILY_FABRIC_KINDS},
    {SECTION_TRAINING, "precision", FAMILY_PRECISIONS},
    {SECTION_TRAINING, "optimizer", FAMILY_OPTIMIZERS},
    {SECTION_LAYOUT, "schedule", FAMILY_SCHEDULES},
    {SECTION_LAYOUT, "sharding", FAMILY_SHARDINGS},
    {SECTION_LAYOUT, "dispatch", FAMILY_DISPATCHES},
    {SECTION_SOFTWARE, "profile", FAMILY_SOFTWARE},
    {SECTION_FAILURES, "preset", FAMILY_FLEETS},
    {SECTION_FAILURES, "law", FAMILY_FAILURES},
    {SECTION_CHECKPOINT, "policy", FAMILY_CHECKPOINTS},
    {SECTION_RECOVERY, "policy", FAMILY_RECOVERIES},
};

enum link_kind schema_link_kind(int choice)
{
    static const enum link_kind kinds[] = {LINK_NIC, LINK_NVLINK, LINK_PCIE};
    return kinds[choice];
}

const struct schema_section *schema_section(enum section section)
{
    return section < SECTION_RUN ? &sections[section] : &schema_job_sections[section - SECTION_RUN];
}

const struct schema_section *schema_find(const char *path)
{
    for (unsigned i = 0; i < SECTION_COUNT; i++)
        if (strcmp(schema_section(i)->path, path) == 0)
            return schema_section(i);
    return NULL;
}

const char *schema_key(const struct schema_section *section)
{
    const char *dot = strrchr(section->path, '.');
    return dot ? dot + 1 : section->path;
}

bool schema_inside(const struct schema_section *outer, const struct schema_section *inner)
{
    size_t length = strlen(outer->path);
    if (inner == outer || strncmp(inner->path, outer->path, length) != 0)
        return false;
    const char *rest = inner->path + length;
    if (length > 0 && *rest++ != '.')
        return false;
    return strchr(rest, '.') == NULL;
}

enum family schema_family(const char *path)
{
    for (unsigned i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        const char *section = schema_section(chosen[i].section)->path;
        size_t length = strlen(section);
        if (strncmp(path, section, length) == 0 && path[length] == '.' &&
            strcmp(path + length + 1, chosen[i].key) == 0)
            return chosen[i].family;
    }
    return FAMILY_NONE;
}

const struct schema_choice *schema_choice(const struct schema_section *section, unsigned index)
{
    for (unsigned i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        bool of_kinds = chosen[i].family >= FAMILY_CATALOGUE_COUNT;
        if (of_kinds && section == schema_section(chosen[i].section) && index-- == 0)
            return &chosen[i];
    }
    return NULL;
}

struct params schema_options(struct arena *arena, const struct schema_section *section)
{
    struct params all = {NULL, 0};
    const struct schema_choice *choice;
    for (unsigned i = 0; (choice = schema_choice(section, i)) != NULL; i++)
        all = schema_join(arena, all, family_options(arena, choice->family));
    return all;
}

struct params schema_join(struct arena *arena, struct params a, struct params b)
{
    if (a.count == 0 || b.count == 0)
        return a.count == 0 ? b : a;
    struct param *rows = ARENA_ARRAY(arena, struct param, a.count + b.count);
    memcpy(rows, a.rows, a.count * sizeof *rows);
    memcpy(rows + a.count, b.rows, b.count * sizeof *rows);
    return (struct params){rows, a.count + b.count};
}

bool schema_chooses(enum family family)
{
    for (unsigned i = 0; i < sizeof chosen / sizeof chosen[0]; i++)
        if (chosen[i].family == family)
            return true;
    return false;
}

bool schema_is_duration(const struct schema_section *section)
{
    return section->shorthand && strcmp(section->shorthand, SCHEMA_DURATION) == 0;
}

bool schema_is_open(const struct schema_section *section)
{
    return section->keys.count == 0 && section->table == NULL;
}

struct params schema_table(const struct schema_section *section)
{
    return (struct params){section->table, section->table ? *section->table_count : 0};
}

static unsigned add_names(const char **names, unsigned count, struct params params)
{
    for (unsigned i = 0; i < params.count; i++)
        names[count++] = params.rows[i].name;
    return count;
}

struct name_list schema_names(struct arena *arena, const struct schema_section *section,
                              struct params extra)
{
    struct params table = schema_table(section);
    unsigned room = section->keys.count + table.count + extra.count + SECTION_COUNT;
    const char **names = ARENA_ARRAY(arena, const char *, room);
    unsigned count = add_names(names, 0, section->keys);
    for (unsigned i = 0; i < SECTION_COUNT; i++)
        if (schema_inside(section, schema_section(i)))
            names[count++] = schema_key(schema_section(i));
    count = add_names(names, count, table);
    count = add_names(names, count, extra);
    return (struct name_list){names, count};
}

static bool has_row(struct params params, const char *name)
{
    for (unsigned i = 0; i < params.count; i++)
        if (strcmp(params.rows[i].name, name) == 0)
            return true;
    return false;
}

/* Keys that mean the same in one section. */
static const struct {
    enum section section;
    const char *spellings[2];
} alike[] = {
    {SECTION_FABRIC, {"nic", "nic_bandwidth"}},
};

/* The other word of a pair of this section, NULL: it is in none. */
static const char *other_word(const struct schema_section *section, const char *key)
{
    for (unsigned i = 0; i < sizeof alike / sizeof alike[0]; i++) {
        const char *const *pair = alike[i].spellings;
        if (section != schema_section(alike[i].section))
            continue;
        if (strcmp(key, pair[0]) == 0 || strcmp(key, pair[1]) == 0)
            return strcmp(key, pair[0]) == 0 ? pair[1] : pair[0];
    }
    return NULL;
}

const char *schema_spelling(const struct schema_section *section, const char *key)
{
    const char *other = other_word(section, key);
    bool asked = other && !has_row(schema_table(section), key);
    return asked && has_row(schema_table(section), other) ? other : key;
}

const char *schema_other_spelling(const struct schema_section *section, const char *key)
{
    return has_row(schema_table(section), key) ? other_word(section, key) : NULL;
}

const char *schema_alone(const struct schema_section *section)
{
    return section == schema_section(SECTION_FAILURES) ? "preset" : NULL;
}
