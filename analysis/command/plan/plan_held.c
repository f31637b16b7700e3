#include "analysis/command/plan/plan_held.h"

#include <stdio.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/output/text/format.h"
#include "models/plan/plan_layout.h"
#include "scenarios/language/names.h"

/* The key of this name; PLAN_KEY_COUNT: none. */
static unsigned key_named(const char *name, size_t length)
{
    unsigned key = 0;
    while (key < PLAN_KEY_COUNT && (strlen(plan_axis_names[key]) != length ||
                                    strncmp(plan_axis_names[key], name, length) != 0))
        key++;
    return key;
}

/* "tp,recompute" into a set of enum plan_axis. */
static int read_hold(const char *rest, struct session *session, unsigned *held)
{
    *held = 0;
    while (rest != NULL && *rest != '\0') {
        const size_t length = strcspn(rest, ",");
        const unsigned found = key_named(rest, length);
        if (found >= PLAN_AXIS_COUNT) {
            char word[80];
            snprintf(word, sizeof word, "%.*s", length < 70 ? (int)length : 70, rest);
            const char *nearest =
                names_nearest(word, (struct name_list){plan_axis_names, PLAN_AXIS_COUNT});
            fprintf(session->notes, "orrery plan: --hold: no key '%s'%s%s%s\n",
                    format_shown(word).s, nearest != NULL ? "; did you mean '" : "",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
            return EXIT_USAGE;
        }
        *held |= 1u << found;
        rest += length + (rest[length] == ',');
    }
    return EXIT_OK;
}

/* --set layout.tp=4 where no file has a layout: meant to stay. Keys that follow from the others, or
 * are chosen with them, cannot be held: they are told. */
static unsigned held_by_sets(const struct plan_arguments *a, struct session *session)
{
    static const char of_layout[] = "layout.";
    unsigned held = 0;
    for (unsigned i = 0; stated_scenario_given(&a->stated) && i < a->scenario.sets.count; i++) {
        const char *word = a->scenario.sets.words[i];
        const size_t prefix = sizeof of_layout - 1;
        if (strncmp(word, of_layout, prefix) != 0)
            continue;
        const unsigned key = key_named(word + prefix, strcspn(word + prefix, "="));
        if (key < PLAN_AXIS_COUNT)
            held |= 1u << key;
        else if (key < PLAN_KEY_COUNT)
            fprintf(
                session->notes,
                "note: the search chooses layout.%s with the other keys: --set %s has no effect\n",
                plan_axis_names[key], format_shown(word).s);
    }
    return held;
}

int plan_held_read(const struct plan_arguments *a, struct session *session,
                   struct plan_held_keys *out)
{
    const int code = read_hold(a->hold, session, &out->asked);
    out->set = code == EXIT_OK ? held_by_sets(a, session) : 0;
    return code;
}

int plan_held_check(const struct scenario *scenario, const struct plan_held_keys *held,
                    struct session *session, unsigned *keys)
{
    static const enum choice_key said_by[PLAN_AXIS_COUNT] = {
        [PLAN_TP] = CHOICE_TP,
        [PLAN_PP] = CHOICE_PP,
        [PLAN_CP] = CHOICE_CP,
        [PLAN_EP] = CHOICE_EP,
        [PLAN_MICROBATCH] = CHOICE_MICROBATCH,
        [PLAN_SCHEDULE] = CHOICE_SCHEDULE,
        [PLAN_VPP] = CHOICE_CHUNKS,
        [PLAN_RECOMPUTE] = CHOICE_RECOMPUTE,
        [PLAN_SHARDING] = CHOICE_SHARDING,
        [PLAN_SEQUENCE_PARALLEL] = CHOICE_SEQUENCE_PARALLEL,
    };
    *keys = held->asked | held->set;
    for (unsigned i = 0; i < PLAN_AXIS_COUNT; i++) {
        if ((scenario->choices.open >> said_by[i] & 1u) == 0)
            continue;
        if ((held->asked >> i & 1u) != 0) {
            fprintf(session->notes,
                    "orrery plan: --hold %s: layout.%s is not said; give it with --set\n",
                    plan_axis_names[i], plan_axis_names[i]);
            return EXIT_USAGE;
        }
        *keys &= ~(1u << i); /* set to what leaves it open */
    }
    return EXIT_OK;
}
