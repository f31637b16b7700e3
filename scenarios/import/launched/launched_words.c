/* launched_words.c - a list of options, and a command as options. */
#include "scenarios/import/launched/launched_words.h"

#include <ctype.h>
#include <string.h>

#include "scenarios/import/mllog/shell.h"
#include "sim/list.h"

enum {
    VALUE_MAX = 8192 /* bytes of a value with several words; more are left out */
};

bool launched_add(struct launched_words *w, const char *name, const char *value, unsigned line)
{
    if (w->count == LAUNCHED_WORDS_MAX)
        return error_set(w->error, "%s:%u: more than %d options: it is no launch", w->path, line,
                         LAUNCHED_WORDS_MAX);
    char *own = arena_text(w->arena, w->keys ? name : name + strspn(name, "-"));
    for (char *c = own; *c != '\0'; c++)
        *c = *c == '_' && !w->keys ? '-' : *c;
    LIST_ROOM(w->arena, w->rows, w->count, 1, w->capacity);
    w->rows[w->count++] = (struct launched_word){own, value, own + w->before,
                                                 w->from != NULL ? w->from : w->path, line};
    return true;
}

/* Behind the word at `at`; what is not known is one word, whatever is said of it. */
static const char *word_end(const char *at)
{
    for (; *at != '\0' && strchr(" \t\r\n", *at) == NULL; at++) {
        const char *stop = *at == SHELL_UNKNOWN ? strchr(at, SHELL_UNKNOWN_END) : NULL;
        at = stop != NULL ? stop : at;
    }
    return at;
}

static bool is_program(const char *word, size_t bytes)
{
    return bytes > 3 && strncmp(word + bytes - 3, ".py", 3) == 0;
}

/* An option that is being read: its values are gathered until the next one. */
struct option_read {
    const char *name, *value;
    bool closed; /* "--name=value", or no option */
};

static bool end_option(struct launched_words *w, struct option_read *r, unsigned line)
{
    const char *name = r->name;
    r->name = NULL;
    return name == NULL || launched_add(w, name, r->value, line);
}

static void begin_option(struct launched_words *w, struct option_read *r, const char *word,
                         size_t bytes)
{
    const char *equals = memchr(word, '=', bytes);
    const size_t name = equals != NULL ? (size_t)(equals - word) : bytes;
    r->name = arena_format(w->arena, "%.*s", (int)name, word);
    r->value =
        equals == NULL ? "" : arena_format(w->arena, "%.*s", (int)(bytes - name - 1), equals + 1);
    r->closed = equals != NULL;
}

/* A variable where options may stand, not the words that the script itself is given. */
static void note_open(struct launched_words *w, const char *at, size_t bytes)
{
    if (w->open == NULL && at[1] == '$' && at[bytes - 1] == SHELL_UNKNOWN_END)
        w->open = arena_format(w->arena, "%.*s", (int)bytes - 2, at + 1);
}

/* Is a word that is not known sure to hold some? What the file itself sets where a test is not
 * decided, or makes by a command or an operator, does; a variable that nobody sets, and the words
 * that the script is given, may hold nothing. */
static bool hides_options(const char *at, size_t bytes)
{
    static const char *const harmless[] = {"it has no value", "is set when the script runs"};
    for (unsigned i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (memmem(at, bytes, harmless[i], strlen(harmless[i])) != NULL)
            return false;
    return true;
}

static bool is_unknown_list(const char *at)
{
    return *at == SHELL_UNKNOWN &&
           strncmp(at + 1, SHELL_UNKNOWN_LIST, strlen(SHELL_UNKNOWN_LIST)) == 0;
}

bool launched_add_command(struct launched_words *w, const char *command, unsigned line)
{
    struct option_read r = {.closed = true};
    bool program = false; /* its options follow */
    const char *end;
    for (const char *at = command;; at = end) {
        at += strspn(at, " \t\r\n");
        end = word_end(at);
        const size_t bytes = (size_t)(end - at);
        if (bytes == 0)
            break;
        if (bytes > 2 && strncmp(at, "--", 2) == 0 && isalpha((unsigned char)at[2])) {
            if (!end_option(w, &r, line))
                return false;
            begin_option(w, &r, at, bytes);
        } else if (at[0] == '-' && isalpha((unsigned char)at[1])) {
            r.closed = true;
        } else if (is_program(at, bytes)) {
            w->program = arena_format(w->arena, "%.*s", (int)bytes, at);
            r.closed = program = true;
        } else if (is_unknown_list(at) ||
                   (*at == SHELL_UNKNOWN && (r.closed || *r.value != '\0'))) {
            if (program && hides_options(at, bytes))
                return error_set(w->error,
                                 "%s:%u: the launch has options that are not known (%.*s): write "
                                 "them out",
                                 w->path, line, (int)bytes - 2, at + 1);
            note_open(w, at, bytes);
        } else if (!r.closed && strlen(r.value) + bytes < VALUE_MAX &&
                   !(bytes == 1 && *at == '\\')) {
            r.value = arena_format(w->arena, "%s%s%.*s", r.value, *r.value != '\0' ? " " : "",
                                   (int)bytes, at);
        }
    }
    return end_option(w, &r, line);
}
