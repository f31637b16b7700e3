/* section.h - takes one section out of a scenario: finds it, lays its keys over the catalogue's,
 * fills the struct that it describes, and reports what is left over.
 *
 * Everything here goes by the schema; no section is known by name. */
#ifndef ORRERY_SCENARIOS_ASSEMBLE_SECTION_H
#define ORRERY_SCENARIOS_ASSEMBLE_SECTION_H

#include "models/plan/choice.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/catalogue.h"
#include "scenarios/catalogue/release.h"
#include "scenarios/schema/schema.h"

/* A key that a fact of the release sets. */
struct release_set {
    const char *key;
    const struct value *word;
    const struct release_fact *fact;
};
struct release_sets {
    struct release_set rows[RELEASE_SETS_MAX];
    unsigned count;
};
/* The release of its software. */
struct build_release {
    struct release_history history;
    unsigned month;   /* since year 0; 0: none */
    const char *text; /* as it is told */
    const char *why;  /* and behind that */
    bool newest;      /* nobody says it: the newest fact's */
    bool told;
    struct release_sets sets;               /* what its recipes set of what is not said */
    const struct value *software, *layout;  /* what the scenario says there */
    struct software_profile plain_software; /* before its recipes set anything */
    struct layout_experts plain_experts;
};
/* What a scenario is built with; one for each scenario_read. */
struct builder {
    struct arena *arena;
    struct problems *problems;
    struct reader reader;
    struct catalogue catalogue;
    const struct value *root;
    const char *path; /* of the scenario's file */
    struct scenario *scenario;
    struct constant *constants;    /* the scenario's own */
    struct stated_figure *figures; /* and these */
    unsigned figure_capacity;
    struct build_release release;
    unsigned open; /* keys that the scenario leaves to models/plan/choice.h, by bits */
    const struct scenario_chosen *chosen; /* by another reading; NULL */
    bool layout_open;                     /* its rules are not asked */
    bool alone;                           /* it names no file but those beside it */
    bool cluster_sound;                   /* the cluster was read without a problem */
    bool layout_sound;                    /* and the layout fits on it */
    /* of the scenario's own list, while the job is built */
    struct storage_tier *tiers;
    unsigned tier_count;
};

/* The section's mapping inside `outer`. A missing one that is not required is an empty mapping at
 * the place of `outer`; a word becomes {shorthand: word}. NULL with a problem otherwise. */
const struct value *section_take(struct builder *b, const struct value *outer,
                                 enum section section);
/* The same for a section that is a list of mappings: its items, NULL when there is none. */
const struct value *section_items(struct builder *b, const struct value *outer,
                                  enum section section);
/* "notes[3]": how messages name an item. */
const char *section_item_path(struct builder *b, enum section section, unsigned index);
unsigned section_item_count(const struct value *items); /* from this one on; NULL: 0 */
/* Reads one item of a list of mappings; false with problems when it is none or lacks keys. */
bool section_item(struct builder *b, enum section section, const struct value *item, unsigned index,
                  void *keys);
/* A new mapping: the members of `over` that are not used yet, on top of `base` (NULL: nothing)
 * without what describes it. When `over` names another `kind`, only keys of the table are kept. */
struct value *section_overlay(struct builder *b, enum section section, const struct value *base,
                              const struct value *over);
/* Reads the options of a kind (NULL: none was found) from the mapping, called `path` in messages,
 * and returns their rows. */
struct params section_options(struct builder *b, const struct value *mapping, const char *path,
                              const struct kind *kind, struct kind_options *out);
/* Reports every key that nothing has read. `extra` are options of kinds. `path`: as messages name
 * the section. */
void section_finish(struct builder *b, enum section section, const struct value *mapping,
                    struct params extra, const char *path);
/* The catalogue entry called `name`, which `key` gave; NULL with a problem when there is none. */
const struct value *section_entry(struct builder *b, enum section section,
                                  const struct value *mapping, const char *key, const char *name);
/* Reports at `key` of `mapping`, or at its default's place, that `text` is no such name. */
void section_unknown_name(struct builder *b, enum section section, const struct value *mapping,
                          const char *key, const char *text, struct name_list known);
/* The path of a file that the scenario names by `key`, at `where`, seen from the folder of its own;
 * it becomes one of its inputs. NULL with a problem when there is none of that name. One that is to
 * stand alone names none but those beside it. */
const char *section_file(struct builder *b, const char *key, const char *named, struct mark where);
/* The place of a key, or of its section when it was not given. */
struct mark section_mark(const struct value *mapping, const char *key);

#endif
