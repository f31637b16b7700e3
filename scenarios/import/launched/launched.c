/* launched.c - options sorted by a table, asked for, and the keys that they make. */
#include "scenarios/import/launched/launched.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/mllog/shell.h"
#include "scenarios/language/source.h"
#include "sim/check.h"
#include "sim/list.h"

/* Words of a sentence, cut where they are too many. */
__attribute__((format(printf, 2, 0))) static const char *spell(struct arena *arena,
                                                               const char *format, va_list words)
{
    enum {
        MOST = 8192
    };
    char *text = arena_alloc(arena, MOST, 1);
    const int bytes = vsnprintf(text, MOST, format, words);
    CHECK(bytes >= 0);
    return text;
}

static void add_line(struct launched *l, struct launched_lines *lines, const char *line)
{
    LIST_ROOM(l->arena, lines->rows, lines->count, 1, lines->capacity);
    lines->rows[lines->count++] = line;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static const char *dashes(const struct launched *l)
{
    return l->document ? "" : "--";
}

/* "train.sh:12, --num-layers"; the file without its folders. */
static const char *place_of(const struct launched *l, int option)
{
    const struct launched_said *s = &l->said[option];
    return arena_format(l->arena, "%s:%u, %s%s", file_name(s->path), s->line, dashes(l), s->name);
}

int launched_bad(struct launched *l, int option, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    const char *sentence = spell(l->arena, format, words);
    va_end(words);
    if (l->broken)
        return 0;
    l->broken = true;
    if (option != LAUNCHED_NOTHING && launched_has(l, option))
        error_set(l->error, "%s:%u: %s%s: %s", l->said[option].path, l->said[option].line,
                  dashes(l), source_quote(l->arena, l->said[option].name), sentence);
    else
        error_set(l->error, "%s: %s", l->path, sentence);
    return 0;
}

void launched_key(struct launched *l, enum launched_section section, int option, const char *format,
                  ...)
{
    enum {
        PLACE_COLUMN = 34
    };
    va_list words;
    va_start(words, format);
    const char *line = spell(l->arena, format, words);
    va_end(words);
    if (option != LAUNCHED_NOTHING && launched_has(l, option))
        line = arena_format(l->arena, "%-*s # %s", PLACE_COLUMN, line,
                            source_clean(l->arena, place_of(l, option)));
    add_line(l, &l->keys[section], line);
}

void launched_warn(struct launched *l, int option, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    const char *sentence = spell(l->arena, format, words);
    va_end(words);
    if (option != LAUNCHED_NOTHING)
        sentence = arena_format(l->arena, "%s: %s", place_of(l, option), sentence);
    add_line(l, &l->warnings, source_clean(l->arena, sentence));
}

void launched_comment(struct launched *l, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    const char *line = spell(l->arena, format, words);
    va_end(words);
    add_line(l, &l->comments, source_whole(l->arena, line));
}

bool launched_has(const struct launched *l, int option)
{
    return l->said[option].value != NULL;
}

bool launched_on(const struct launched *l, int option)
{
    return launched_has(l, option) && strcmp(l->said[option].value, "true") == 0;
}

/* Is what is said known, its first word or all of it? If not, that is what is wrong. */
static bool known(struct launched *l, int option, bool all)
{
    const char *value = l->said[option].value;
    const char *mark = value != NULL ? strchr(value, SHELL_UNKNOWN) : NULL;
    if (mark == NULL || (!all && memchr(value, ' ', (size_t)(mark - value)) != NULL))
        return true;
    const char *stop = strchr(mark, SHELL_UNKNOWN_END);
    launched_bad(l, option, "%.*s", stop != NULL ? (int)(stop - mark - 1) : 80, mark + 1);
    return false;
}

const char *launched_raw(struct launched *l, int option)
{
    return launched_has(l, option) && known(l, option, true) ? l->said[option].value : NULL;
}

static bool dresses(char c)
{
    return strchr("[](),'\"", c) != NULL;
}

unsigned launched_list(struct launched *l, int option, const char **words, unsigned most)
{
    unsigned count = 0;
    if (!launched_has(l, option) || !known(l, option, most > 1))
        return 0;
    for (const char *at = l->said[option].value; *at != '\0';) {
        const char *start = at;
        while (*at != '\0' && *at != ' ' && !dresses(*at))
            at++;
        const char *dot = memchr(start, '.', (size_t)(at - start));
        if (dot != NULL && dot > start && (start[0] < '0' || start[0] > '9') && start[0] != '-')
            start = dot + 1;
        if (at > start && count++ < most)
            words[count - 1] = arena_format(l->arena, "%.*s", (int)(at - start), start);
        at += *at != '\0';
    }
    return count;
}

const char *launched_text(struct launched *l, int option, const char *usual)
{
    const char *word = usual;
    launched_list(l, option, &word, 1);
    return word;
}

#define COUNT_MAX 1e9 /* of a document, whose sizes are multiplied */

static double read_number(struct launched *l, int option, double usual, bool whole)
{
    double number = usual;
    const char *word = NULL;
    const unsigned words = launched_list(l, option, &word, 1);
    if (l->broken || !launched_has(l, option))
        return usual;
    if (words > 1 && whole && l->document)
        word = launched_raw(l, option);
    if (word == NULL || !import_text_number(word, &number) || number < (whole ? 1.0 : 0.0) ||
        number > (whole && l->document ? COUNT_MAX : 1e15) ||
        (whole && number != (double)(uint64_t)number))
        launched_bad(l, option, "wants %s, not '%s'",
                     !whole        ? "a number from 0 on"
                     : l->document ? "a whole number from 1 to 1e9"
                                   : "a whole number above 0",
                     source_quote(l->arena, word != NULL ? word : "nothing"));
    return l->broken ? usual : number;
}

uint64_t launched_count(struct launched *l, int option, uint64_t usual)
{
    return launched_has(l, option) ? (uint64_t)read_number(l, option, 1.0, true) : usual;
}

double launched_number(struct launched *l, int option, double usual)
{
    return read_number(l, option, usual, false);
}

bool launched_truth(struct launched *l, int option, bool usual)
{
    const char *value = launched_raw(l, option);
    if (value == NULL || strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        return value != NULL ? strcmp(value, "true") == 0 : usual;
    launched_bad(l, option, "wants true or false, not '%s'", source_quote(l->arena, value));
    return usual;
}

uint64_t launched_needed(struct launched *l, int option, const char *name)
{
    if (!launched_has(l, option))
        launched_bad(l, LAUNCHED_NOTHING, "it has no %s%s, without which there is no scenario",
                     dashes(l), name);
    return launched_count(l, option, 1);
}

int launched_choice(struct launched *l, int option, const char *const *names, int usual)
{
    const char *word = launched_text(l, option, NULL), *all = "";
    if (word == NULL || l->broken)
        return usual;
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
        all = arena_format(l->arena, "%s%s%s", all, i > 0 ? ", " : "", names[i]);
    }
    launched_bad(l, option, "'%s' is not simulated; there are %s", source_quote(l->arena, word),
                 all);
    return usual;
}

/* "None" of a log is nothing said; a flag's value is true or false. */
static const char *value_of(const struct launched_option *o, bool by_dest, const char *value)
{
    static const char *const no[] = {"False", "false", "0"};
    bool on = true;
    if (strcmp(value, "None") == 0 || strcmp(value, "null") == 0)
        return NULL;
    if (o->type == LAUNCHED_VALUE)
        return strcmp(value, "True") == 0 ? "true" : strcmp(value, "False") == 0 ? "false" : value;
    for (unsigned i = 0; i < sizeof no / sizeof no[0]; i++)
        on = on && strcmp(value, no[i]) != 0;
    return on != (by_dest && o->type == LAUNCHED_CLEAR) ? "true" : "false";
}

static bool take_option(struct launched *l, const struct launched_word *w)
{
    const struct launched_table *t = l->table;
    bool found = false;
    for (unsigned i = 0; i < t->count; i++) {
        const struct launched_option *o = &t->options[i];
        const bool by_name = strcmp(o->name, w->name) == 0;
        const bool by_dest = o->dest != NULL && strcmp(o->dest, w->name) == 0;
        if (!by_name && !by_dest)
            continue;
        l->said[i] = (struct launched_said){l->document ? w->own : o->name,
                                            value_of(o, by_dest, w->value), w->path, w->line};
        found = true;
    }
    return found;
}

static const struct launched_other *other_of(const struct launched_table *t, const char *name)
{
    for (unsigned i = 0; i < t->other_count; i++) {
        const char *pattern = t->others[i].name;
        const size_t bytes = strcspn(pattern, "*");
        if (strncmp(pattern, name, bytes) == 0 && (pattern[bytes] == '*' || name[bytes] == '\0'))
            return &t->others[i];
    }
    return NULL;
}

/* A log lists all: what says no is not set. */
static bool says_nothing(const char *value)
{
    static const char *const nothing[] = {"None", "False", "false", "0", "0.0", "[]", "null"};
    for (unsigned i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        if (strcmp(nothing[i], value) == 0)
            return true;
    return false;
}

/* Names, several in a line. */
struct names {
    const char *text;
    unsigned count;
};

static void add_name(struct launched *l, struct names *names, const char *name)
{
    const unsigned listed = l->whole ? 16 : 100; /* a log has hundreds of them */
    if (names->count++ < listed)
        names->text = arena_format(l->arena, "%s%s%s", names->text, names->count > 1 ? ", " : "",
                                   source_quote(l->arena, name));
}

static const char *place_of_word(struct launched *l, const struct launched_word *w)
{
    return arena_format(l->arena, "%s:%u, %s%s", file_name(w->path), w->line, dashes(l),
                        source_quote(l->arena, w->own));
}

/* Of a document: a pattern that stands for many keys is told of once. */
static void take_key(struct launched *l, const struct launched_word *w, struct names *idle,
                     bool *told)
{
    const struct launched_other *other = other_of(l->table, w->name);
    if (other == NULL) {
        launched_warn(l, LAUNCHED_NOTHING, "%s: not known here, and left out", place_of_word(l, w));
        return;
    }
    bool *once = &told[other - l->table->others];
    const bool says = *w->value != '\0' && !says_nothing(w->value) && strcmp(w->value, "auto") != 0;
    if (*once || (other->why != NULL && !says))
        return;
    *once = strchr(other->name, '*') != NULL;
    if (other->why == NULL)
        add_name(l, idle, *once ? other->name : w->own);
    else
        launched_warn(l, LAUNCHED_NOTHING, "%s: %s", place_of_word(l, w), other->why);
}

static void take_other(struct launched *l, const struct launched_word *w, bool whole,
                       struct names *idle, struct names *unknown)
{
    const struct launched_other *other = other_of(l->table, w->name);
    if (says_nothing(w->value) && (whole || *w->value == 'f'))
        return;
    if (other == NULL)
        add_name(l, unknown, w->name);
    else if (other->why == NULL && !whole)
        add_name(l, idle, w->name);
    else if (other->why != NULL)
        launched_warn(l, LAUNCHED_NOTHING, "%s: %s", place_of_word(l, w), other->why);
}

void launched_take(const struct launched_words *words, const struct launched_table *table,
                   struct launched *l)
{
    struct names idle = {"", 0}, unknown = {"", 0};
    *l = (struct launched){.arena = words->arena, .path = words->path, .error = words->error};
    l->table = table;
    l->whole = words->whole;
    l->document = words->keys;
    bool *told = ARENA_ARRAY(l->arena, bool, table->other_count);
    l->said = ARENA_ARRAY(l->arena, struct launched_said, table->count);
    for (uint32_t i = 0; i < words->count; i++)
        if (take_option(l, &words->rows[i]))
            continue;
        else if (l->document)
            take_key(l, &words->rows[i], &idle, told);
        else
            take_other(l, &words->rows[i], words->whole, &idle, &unknown);
    if (words->open != NULL)
        launched_warn(l, LAUNCHED_NOTHING, "what it adds to the launch is not known: %s",
                      words->open);
    if (words->another != NULL)
        launched_warn(l, LAUNCHED_NOTHING, "%s", words->another);
    if (idle.count > 0)
        launched_comment(l, "moves no time: %s", idle.text);
    if (unknown.count > 0 && words->whole)
        launched_comment(l, "%u not known here, set or not: %s%s", unknown.count, unknown.text,
                         unknown.count > 16 ? ", ..." : "");
    else if (unknown.count > 0)
        launched_warn(l, LAUNCHED_NOTHING, "%u not known here, and left out: %s", unknown.count,
                      unknown.text);
}
