#include "analysis/exchange/launch/launch_unsaid.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/launch/launch_compose.h"
#include "analysis/exchange/launch/launch_job.h"
#include "analysis/output/text/format.h"
#include "scenarios/language/quantity.h"
#include "sim/check.h"

/* Where a member of the profile begins, and its bytes. */
#define SPAN(member)                                                                               \
    {                                                                                              \
        offsetof(struct software_profile, member),                                                 \
            sizeof((const struct software_profile *)NULL)->member                                  \
    }

bool launch_unsaid_asks(const struct param *key)
{
    static const struct member_span {
        size_t from, bytes;
    } others[] = {SPAN(version),
                  SPAN(offers),
                  SPAN(usual),
                  SPAN(pipeline.refuses_shards),
                  SPAN(pipeline.interleaves),
                  SPAN(pipeline.even_stages)};
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
        if (key->offset >= others[i].from && key->offset < others[i].from + others[i].bytes)
            return false;
    return key->type != PARAM_TIME;
}

/* How a key is kept. */
static size_t bytes_of(enum param_type type)
{
    switch (type) {
    case PARAM_FLAG:
        return sizeof(bool);
    case PARAM_COUNT:
        return sizeof(uint64_t);
    case PARAM_CHOICE:
        return sizeof(int);
    case PARAM_TEXT:
        return sizeof(const char *);
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        return sizeof(double);
    }
    UNREACHABLE("type is an enum param_type");
}

/* The value of a key as --set takes it. */
static const char *value_of(struct arena *arena, const struct param *key,
                            const struct software_profile *profile)
{
    const void *at = (const char *)profile + key->offset;
    char number[QUANTITY_TEXT_MAX];
    switch (key->type) {
    case PARAM_FLAG:
        return *(const bool *)at ? "true" : "false";
    case PARAM_COUNT:
        return arena_format(arena, "%" PRIu64, *(const uint64_t *)at);
    case PARAM_CHOICE:
        return key->choices[*(const int *)at];
    case PARAM_TEXT:
        return *(const char *const *)at != NULL ? launch_clean(arena, *(const char *const *)at)
                                                : key->fallback;
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        quantity_write(key->type, *(const double *)at, number, sizeof number);
        return arena_text(arena, number);
    }
    UNREACHABLE("type is an enum param_type");
}

/* The configuration with one key as the bare profile has it, and what reading that key decides. */
static void take_plain(const struct param *key, const struct launch_plain *plain,
                       struct configuration *c)
{
    memcpy((char *)&c->software + key->offset, (const char *)&plain->software + key->offset,
           bytes_of(key->type));
    if (key->offset == offsetof(struct software_profile, memory.states_as_weights))
        c->training.state_formats = plain->state_formats;
}

static bool same(const struct launch_text *a, const struct launch_text *b)
{
    bool same = a->refused == b->refused && a->line_count == b->line_count &&
                a->note_count == b->note_count;
    for (uint32_t i = 0; same && i < a->line_count; i++)
        same = strcmp(a->lines[i], b->lines[i]) == 0;
    for (uint32_t i = 0; same && i < a->note_count; i++)
        same = strcmp(a->notes[i].text, b->notes[i].text) == 0;
    return same;
}

/* What is found, and added to the notes once all keys were asked. */
struct unsaid {
    const struct launch_kind *kind;
    const struct configuration *c;
    const struct launch_beside *beside;
    struct launch_text *text;
    struct launch_text said;       /* as it was before */
    struct configuration *without; /* all that is unsaid is as the profile has it */
    const char *sets;              /* "software.K=V, ..." of them; NULL: there is none */
};

static void note_key(struct unsaid *u, const struct param *key)
{
    struct arena *arena = u->text->arena;
    const struct software_profile *stated = &u->c->software, *plain = &u->beside->plain.software;
    const bool own = strcmp(software_framework(stated), u->kind->software) == 0;
    const char *value = value_of(arena, key, plain);
    const char *set = arena_format(arena, "software.%s=%s", key->name, value);
    launch_say(u->text, LAUNCH_DIFFERS,
               "software.%s is %s here and %s in the profile %s: no option of the script says it, "
               "and %s does %s (%s simulates that)",
               key->name, value_of(arena, key, stated), value, launch_clean(arena, plain->name),
               u->kind->head.name, own ? "as the profile" : "it in its own way", set);
    u->sets = u->sets == NULL ? set : arena_format(arena, "%s, %s", u->sets, set);
    take_plain(key, &u->beside->plain, u->without);
}

static void ask_key(struct unsaid *u, const struct param *key)
{
    const char *stated = value_of(u->text->arena, key, &u->c->software);
    if (!launch_unsaid_asks(key) ||
        strcmp(stated, value_of(u->text->arena, key, &u->beside->plain.software)) == 0)
        return;
    struct arena *scratch = arena_create();
    struct launch_text changed;
    struct configuration *c = ARENA_NEW(scratch, struct configuration);
    *c = *u->c;
    take_plain(key, &u->beside->plain, c);
    launch_compose(u->kind, c, u->beside, scratch, &changed);
    if (same(&u->said, &changed))
        note_key(u, key);
    arena_destroy(scratch);
}

/* More of the card than was simulated, by keys that no script says. */
static void note_room(struct unsaid *u)
{
    const struct launch_room *stated = &u->beside->room;
    struct launch_room room;
    if (u->sets == NULL || !stated->known || !stated->fits || !configuration_legal(u->without))
        return;
    launch_room_find(u->without, &room);
    const struct text needed = format_bytes(room.needed_bytes);
    const struct text had = format_bytes(stated->needed_bytes);
    const struct text usable = format_bytes(room.usable_bytes);
    if (room.known && !room.fits)
        launch_say(u->text, LAUNCH_REFUSED,
                   "with %s, as in the profile, it does not fit in memory: stage %" PRIu32
                   " needs %s a card and %s are usable; %s were simulated",
                   u->sets, room.stage, needed.s, usable.s, had.s);
    else if (room.known && room.needed_bytes > stated->needed_bytes)
        launch_say(u->text, LAUNCH_DIFFERS,
                   "with %s, as in the profile, stage %" PRIu32
                   " needs %s a card, not %s as was simulated; %s are usable",
                   u->sets, room.stage, needed.s, had.s, usable.s);
}

void launch_unsaid(const struct launch_kind *kind, const struct configuration *c,
                   const struct launch_beside *beside, struct launch_text *text)
{
    struct unsaid u = {.kind = kind, .c = c, .beside = beside, .text = text, .said = *text};
    if (!beside->plain.known)
        return;
    u.without = ARENA_NEW(text->arena, struct configuration);
    *u.without = *c;
    for (unsigned i = 0; i < software_param_count; i++)
        ask_key(&u, &software_params[i]);
    note_room(&u);
}
