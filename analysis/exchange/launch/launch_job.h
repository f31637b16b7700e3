/* launch_job.h - what every kind of this wing needs of a layout, worked out once; and the words
 * that scripts are made of. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_JOB_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_JOB_H

#include "analysis/exchange/launch/launch_beside.h"
#include "analysis/exchange/launch/launch_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

/* How the layers lie in the chunks of a pipeline. */
enum launch_split {
    LAUNCH_SPLIT_EVEN,  /* the same number in each; also without a pipeline */
    LAUNCH_SPLIT_ENDS,  /* the same, where embedding and head count as a layer each */
    LAUNCH_SPLIT_GIVEN, /* the first or the last stage is given, the others are even */
    LAUNCH_SPLIT_LIST   /* anything else */
};
struct launch_gpus {
    uint64_t ranks, hosts, host_gpus; /* torchrun starts host_gpus ranks on each of hosts */
    /* Of racks: hosts of one, as they were simulated; those that Slurm is to find in one, which
     * divide all hosts, and into which whole tensor groups fit where they did; 0: no racks. */
    uint64_t rack_hosts, segment;
};
struct launch_course {
    uint64_t steps; /* for the tokens of the training; 0: they are not said */
    struct launch_saves saves;
};
struct launch_job {
    const struct configuration *c;
    uint64_t microbatches, chunks; /* of a replica in a step; of the pipeline, pp x vpp */
    uint64_t replicas, shards;     /* dp x cp; those that share one copy of the state */
    const uint32_t *layers;        /* of each chunk */
    enum launch_split split;
    uint64_t most_layers;   /* of the largest chunk */
    uint64_t chunk_layers;  /* of a chunk, the ends counted where they count; 0: they differ */
    enum fp8_recipe recipe; /* of 8-bit products; FP8_AUTO: there are none */
    bool fp16, bf16;        /* 16-bit storage (8-bit products stand on bf16) */
    bool sequence_parallel; /* with something to split */
    bool cp_uneven;         /* context ranks hold neighbouring positions */
    double gradient_bytes;  /* of a kept gradient */
    uint64_t positions;     /* rows of the position table: at least the sequence */
    struct launch_course course;
    const char *name, *card; /* cleaned: letters, digits, dots, dashes */
    struct launch_gpus gpus;
};
void launch_job_fill(const struct configuration *c, const struct launch_saves *saves,
                     struct arena *arena, struct launch_job *out);
/* Is `order` ("tp-cp-dp-pp", fastest first) that of the layout, but for dimensions of one rank? */
bool launch_job_order(const struct launch_job *job, const char *order);
/* Are the layers spread evenly over the chunks, where the first ones may get one more? */
bool launch_job_spreads(const struct launch_job *job);
/* The layers of stage 0 .. pp-1 by chunk as Megatron spells them: "Et*5|(t*5|)*14t*5L". */
const char *launch_job_stages(const struct launch_job *job, struct arena *arena);

/* The first 64 letters of a name; what is no letter, digit, dot or dash is an underscore. */
const char *launch_clean(struct arena *arena, const char *name);

/* A line of the script as it stands. */
__attribute__((format(printf, 2, 3))) void launch_line(struct launch_text *text, const char *format,
                                                       ...);
/* A word or two of the argument list; shell quoting is the caller's. */
/* Megatron's name of how context ranks share keys and values. */
const char *launch_cp_type(const struct layout_spec *layout);
__attribute__((format(printf, 2, 3))) void launch_option(struct launch_text *text,
                                                         const char *format, ...);
__attribute__((format(printf, 3, 4))) void
launch_say(struct launch_text *text, enum launch_weight weight, const char *format, ...);
/* "# title" and an open argument list NAME=( ; and its end. */
void launch_open(struct launch_text *text, const char *name, const char *title);
void launch_close(struct launch_text *text);

/* A shell variable that the environment may set, with a few words about it. */
void launch_variable(struct launch_text *text, const char *name, const char *value,
                     const char *doc);
/* STEPS and LR: every kind has them. */
void launch_common_variables(const struct launch_job *job, struct launch_text *text);

/* 0, 1, 2, 3: what ZeRO calls the sharding (arXiv:1910.02054); fsdp and hsdp are stage 3. */
unsigned launch_stage(const struct sharding_kind *sharding);
/* The rules of Megatron Core, which Megatron-LM and Megatron-Bridge train with. */
void launch_core_check(const struct launch_job *job, struct launch_text *text);
/* What Megatron Core does otherwise, in the notes of both. */
/* Layers whose activations Megatron Core keeps on the host, of those that the layout says: whole
 * layers without a pipeline and without recomputation, and not all of them; else 0. */
uint64_t launch_core_offloaded(const struct launch_job *job);
void launch_core_notes(const struct launch_job *job, struct launch_text *text);
/* As --recompute-granularity, --recompute-method and --recompute-num-layers say it. */
struct launch_recompute {
    const char *granularity; /* "selective", "full"; NULL: nothing */
    const char *method;      /* of full: "uniform", "block" */
    uint64_t layers;
    const char *modules[3]; /* of selective, NULL where there are fewer; none: the core alone */
};
/* `modules`: the framework can name those of a mixture. */
struct launch_recompute launch_core_recompute(const struct launch_job *job, bool modules);
void launch_core_note_recompute(const struct launch_job *job, bool modules,
                                struct launch_text *text);

/* Notes that several kinds share. */
void launch_note_order(const struct launch_job *job, struct launch_text *text, const char *own);
void launch_note_units(const struct launch_job *job, struct launch_text *text);
/* Where rows come to their experts by all-to-all alone, in 16 bits, and none is dropped. */
void launch_note_rows(const struct launch_job *job, struct launch_text *text);
void launch_note_adapter(const struct launch_job *job, struct launch_text *text);
/* Of layers what no version here has: recurrent ones, blocks alone, a gate of the attention. */
void launch_note_pattern(const struct launch_job *job, struct launch_text *text);
/* The same and what no option here says: windows, sinks, clamps, another number of norms. */
void launch_note_shape(const struct launch_job *job, struct launch_text *text);
/* CUDA graphs, fused experts, paged stash, 8-bit attention, which no script here sets. */
void launch_note_captured(const struct launch_job *job, struct launch_text *text);
/* Formats of state that the framework has no options for. */
void launch_note_formats(const struct launch_job *job, struct launch_text *text);
void launch_note_optimizer(const struct launch_job *job, struct launch_text *text,
                           const char *instead);

#endif
