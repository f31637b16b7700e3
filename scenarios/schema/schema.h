/* schema.h - the one table of a scenario's sections and keys.
 *
 * The builder, the checks, `--set`, the reference and the JSON Schema read it. A section has keys
 * of its own, and may carry the whole parameter table of a struct of the floors below (a GPU's, a
 * model's), whose keys then override the catalogue's. A section's path is where it stands:
 * "cluster.gpu" is a key of "cluster". */
#ifndef ORRERY_SCENARIOS_SCHEMA_SCHEMA_H
#define ORRERY_SCENARIOS_SCHEMA_SCHEMA_H

#include "models/layout/configuration.h"
#include "models/recovery/recovery_kind.h"
#include "scenarios/catalogue/family.h"
#include "scenarios/language/reader.h"
#include "topology/graph.h"

/* Where the keys of each section are read to, before names are looked up. */
struct scenario_keys {
    const char *name;
    uint64_t seed;
};
struct model_keys {
    const char *preset, *hf;
};
struct cluster_keys {
    uint64_t nodes, gpus; /* 0: by the other */
    const char *profile;  /* a file; "": none */
};
struct named_keys {
    const char *name, *kind;
};
struct training_keys {
    struct training_spec spec;
    const char *precision, *optimizer;
    uint64_t tokens;
};
struct layout_keys {
    struct layout_spec spec;
    const char *schedule, *sharding, *dispatch;
};
struct software_keys {
    const char *profile, *release;
};
struct perturbation_keys {
    double jitter_ratio;
};
struct straggler_keys {
    uint64_t gpu;
    double speed_ratio;
};
struct weak_link_keys {
    uint64_t gpu;
    int link; /* a choice; see schema_link_kind */
    double capacity_ratio;
};
struct note_keys {
    double at_s;
    const char *say;
};
struct lesson_keys {
    uint64_t order;
    const char *shows, *look_for, *next;
};
struct lesson_run_keys {
    const char *name, *set, *shows;
};
struct lesson_question_keys {
    const char *ask, *answer, *why;
};
struct cost_keys {
    double gpu_hour_usd, storage_tb_month_usd;
};

enum section {
    SECTION_SCENARIO,
    SECTION_MODEL,
    SECTION_CLUSTER,
    SECTION_GPU,
    SECTION_NODE,
    SECTION_FABRIC,
    SECTION_TRAINING,
    SECTION_LAYOUT,
    SECTION_SOFTWARE,
    SECTION_PERTURBATIONS,
    SECTION_STRAGGLERS,
    SECTION_LINKS,
    SECTION_NOTES,
    SECTION_LESSON,
    SECTION_LESSON_RUNS,
    SECTION_LESSON_QUESTIONS,
    SECTION_COST,
    SECTION_RUN, /* from here on: schema_job.c */
    SECTION_EXPECT,
    SECTION_FAILURES,
    SECTION_FAILURE_DETECT,
    SECTION_FAILURE_REPAIR,
    SECTION_FAILURE_SLOW_TIME,
    SECTION_CHECKPOINT,
    SECTION_STORAGE,
    SECTION_RECOVERY,
    SECTION_REPAIR,
    SECTION_MANUAL_REPAIR,
    SECTION_RESTART,
    SECTION_RESTART_LINKS, /* one for each enum restart_link */
    SECTION_COUNT = SECTION_RESTART_LINKS + RESTART_LINK_COUNT
};
struct schema_section {
    const char *path; /* "" for the scenario itself */
    const char *doc;
    bool required, list;   /* a list of such mappings */
    const char *shorthand; /* the key that a word in place of the mapping stands for; NULL: none */
    struct params keys;    /* its own */
    const struct param *table; /* of the struct that it describes; NULL: none */
    const unsigned *table_count;
};
/* The shorthand of every section that is a duration: its mean. */
#define SCHEMA_DURATION "mean"
/* Those from SECTION_RUN on, for schema_section: schema_job.c. */
extern const struct schema_section schema_job_sections[SECTION_COUNT - SECTION_RUN];
const struct schema_section *schema_section(enum section section);
/* The section at this path, or NULL. */
const struct schema_section *schema_find(const char *path);
/* "gpu" of "cluster.gpu". */
const char *schema_key(const struct schema_section *section);
/* Stands section `inner` directly in `outer`? */
bool schema_inside(const struct schema_section *outer, const struct schema_section *inner);
/* The names that the word at this path chooses from; FAMILY_NONE: any word. */
enum family schema_family(const char *path);
/* A key whose word names a kind or an entry of a family: "policy" of the checkpoints. */
struct schema_choice {
    enum section section;
    const char *key;
    enum family family;
};
/* The section's choice number `index` among kinds, whose options then stand beside the key; NULL
 * past the last. */
const struct schema_choice *schema_choice(const struct schema_section *section, unsigned index);
/* The options of all kinds that may be chosen in the section. */
struct params schema_options(struct arena *arena, const struct schema_section *section);
/* The rows of both. */
struct params schema_join(struct arena *arena, struct params a, struct params b);
/* Does any key choose from this family? */
bool schema_chooses(enum family family);
bool schema_is_duration(const struct schema_section *section);
/* Has it no keys of its own? Then it takes any word by any key, and whoever reads it knows them. */
bool schema_is_open(const struct schema_section *section);
/* The link that a choice of perturbations.links.link means. */
enum link_kind schema_link_kind(int choice);
struct params schema_table(const struct schema_section *section);
/* All names that may stand in the section: keys, table, inner sections, `extra` options. */
struct name_list schema_names(struct arena *arena, const struct schema_section *section,
                              struct params extra);
/* The key of the section that stands in place of all others, or NULL. */
const char *schema_alone(const struct schema_section *section);
/* `nic` and `nic_bandwidth` of cluster.fabric are one key: to the spelling of its table. */
const char *schema_spelling(const struct schema_section *section, const char *key);
/* The other spelling that a key of its table has, or NULL. */
const char *schema_other_spelling(const struct schema_section *section, const char *key);

#endif
