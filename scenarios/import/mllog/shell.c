/* shell.c - the commands of a configuration, one after the other.
 *
 * Blocks stand on a stack. What is carried out, passed over or perhaps carried out (SHELL_RUNS,
 * SHELL_SKIPPED, SHELL_PERHAPS) is the course of the innermost one:
 *
 *     if TEST         runs, or passed over, by the test; not known: perhaps      [test_branch]
 *     elif, else      by what came before                                        [branch]
 *     for, while, until, case, NAME()   perhaps                                  [open_block]
 *     ( ... )         passed over: it leaves no variable behind                  [open_block]
 *     behind && or || perhaps                                                    [run]
 *
 * Invariants:
 *   S1 a block's course is at most that of the block around it: nothing runs within what does not
 *   S2 a variable that is perhaps set is unknown, unless it is set to the value that it has */
#include <stdio.h>
#include <string.h>

#include "scenarios/import/mllog/shell_state.h"
#include "scenarios/import/reader/import_open.h"
#include "scenarios/language/file.h"

struct shell_block {
    const char *close; /* the word that ends it */
    unsigned line;
    enum shell_course around, course;
    bool in_test; /* between if and then */
    int truth;    /* of what was tested so far: 1, 0, or -1 */
    struct branches {
        bool taken;   /* of an if: a branch runs, this one or one before it */
        bool guessed; /* and of a branch before it is not known whether it does */
    } now, before;    /* with the branch that is read, and without */
};
struct script {
    struct shell_text text;
    struct shell_block blocks[SHELL_NEST_MAX];
    unsigned depth;
    enum shell_course course;
    bool connected;     /* behind && or || */
    struct shell_link { /* of the command before, in a test */
        bool joins, either;
    } link;
    bool function;  /* the next { begins a function */
    unsigned level; /* of sourced files */
    bool sources;
};

static bool read_file(struct shell *shell, const char *path, unsigned level,
                      enum shell_course course);

/* S2. */
static bool assign(struct script *s, const char *name, struct shell_value value)
{
    static const char perhaps[] = "set where it is not known whether that runs";
    const struct shell_variable *now = shell_find(s->text.shell, name);
    if (s->course == SHELL_SKIPPED)
        return true;
    if ((s->course == SHELL_PERHAPS || s->connected) &&
        (now == NULL || now->value == NULL || value.text == NULL ||
         strcmp(now->value, value.text) != 0))
        value = (struct shell_value){NULL, perhaps};
    return shell_set(&s->text, name, value);
}

/* Bytes of `NAME=` or `NAME+=` that a word begins with; 0: it is no assignment. */
static size_t assignment(const char *word)
{
    const size_t bytes = shell_name_bytes(word);
    const size_t plus = bytes > 0 && word[bytes] == '+';
    return bytes > 0 && word[bytes + plus] == '=' ? bytes + plus + 1 : 0;
}

static bool assign_word(struct script *s, const char *word)
{
    struct shell_value value;
    const size_t head = assignment(word), element = shell_element_bytes(word);
    const char *name =
        arena_format(s->text.shell->arena, "%.*s", (int)shell_name_bytes(word), word);
    if (element > 0)
        return assign(s, name, (struct shell_value){NULL, "an element of it is set by itself"});
    if (head == 0 || s->course == SHELL_SKIPPED)
        return true;
    if (!shell_expand(&s->text, word + head, &value))
        return false;
    const bool more = word[head - 2] == '+', heard = s->text.shell->ear != NULL;
    const struct shell_variable *now = shell_find(s->text.shell, name);
    if (more && now != NULL && now->value == NULL)
        value = (struct shell_value){NULL, now->why};
    else if (more && now != NULL && heard) {
        value.text = arena_format(s->text.shell->arena, "%s%s%s", now->value,
                                  word[head] == '(' ? " " : "", value.text);
        s->text.shell->expanded_bytes += strlen(value.text); /* bounded as what is expanded is */
    } else if (more && now != NULL && value.text != NULL) {
        const char *both = arena_format(s->text.shell->arena, "\"%s\"%s", now->value, word + head);
        if (strpbrk(now->value, "$`\"\\") != NULL)
            value = (struct shell_value){NULL, "text that is added to"};
        else if (!shell_expand(&s->text, both, &value))
            return false;
    }
    return assign(s, name, value);
}

static bool in_test(const struct script *s)
{
    return s->depth > 0 && s->blocks[s->depth - 1].in_test;
}

/* The course of what stands within `around`, by S1. */
static enum shell_course within(enum shell_course around, enum shell_course inner)
{
    if (around == SHELL_SKIPPED || inner == SHELL_SKIPPED)
        return SHELL_SKIPPED;
    return around == SHELL_PERHAPS || inner == SHELL_PERHAPS ? SHELL_PERHAPS : SHELL_RUNS;
}

static bool open_block(struct script *s, const char *close, enum shell_course inner)
{
    const struct shell_text *t = &s->text;
    if (s->depth == SHELL_NEST_MAX)
        return shell_bad(t->shell, t->path, t->line, "more than %d blocks nested", SHELL_NEST_MAX);
    s->blocks[s->depth++] =
        (struct shell_block){.close = close, .line = t->line, .around = s->course};
    s->course = within(s->course, s->connected ? within(inner, SHELL_PERHAPS) : inner);
    s->blocks[s->depth - 1].course = s->course;
    s->connected = false;
    return true;
}

/* The branch that follows: its test is 1, 0 or -1. */
static void branch(struct script *s, int truth)
{
    struct shell_block *b = &s->blocks[s->depth - 1];
    const struct branches was = b->now;
    const enum shell_course inner = was.taken || truth == 0    ? SHELL_SKIPPED
                                    : was.guessed || truth < 0 ? SHELL_PERHAPS
                                                               : SHELL_RUNS;
    b->before = was;
    b->now.taken = was.taken || truth == 1;
    b->now.guessed = was.guessed || truth < 0;
    s->course = b->course = within(b->around, inner);
}

static bool test_branch(struct script *s, const struct shell_command *c, unsigned first)
{
    int truth = -1;
    const struct shell_block *b = &s->blocks[s->depth - 1];
    if (b->around != SHELL_SKIPPED && !b->now.taken && !shell_test(&s->text, c, first, &truth))
        return false;
    branch(s, truth);
    s->blocks[s->depth - 1].in_test = true;
    s->blocks[s->depth - 1].truth = truth;
    return true;
}

/* A test of several commands: && and || from the left, and of others the last decides. */
static bool test_more(struct script *s, const struct shell_command *c, unsigned first)
{
    struct shell_block *b = &s->blocks[s->depth - 1];
    int truth = -1;
    if (!shell_test(&s->text, c, first, &truth))
        return false;
    const int before = b->truth, decides = s->link.either ? 1 : 0;
    if (s->link.joins && (before == decides || truth == decides))
        truth = decides;
    else if (!s->link.joins || before < 0)
        truth = -1;
    b->truth = truth;
    b->now = b->before;
    branch(s, truth);
    return true;
}

static bool close_block(struct script *s, const char *word)
{
    const struct shell_text *t = &s->text;
    if (s->depth == 0 || strcmp(s->blocks[s->depth - 1].close, word) != 0)
        return shell_bad(t->shell, t->path, t->line, "`%s` ends nothing that is open", word);
    s->course = s->blocks[--s->depth].around;
    return true;
}

/* The variable of `for` and `select` has another value in each turn; what stands between `while` or
 * `until` and `do` is carried out as what follows. */
static bool open_loop(struct script *s, const struct shell_command *c, unsigned at, bool *more)
{
    const char *loop = c->words[at - 1], *name = at < c->count ? c->words[at] : "";
    *more = strcmp(loop, "while") == 0 || strcmp(loop, "until") == 0;
    const bool counts = !*more && *name != '\0' && name[shell_name_bytes(name)] == '\0';
    return (!counts || assign(s, name, (struct shell_value){NULL, "set by a loop"})) &&
           open_block(s, "done", SHELL_PERHAPS);
}

/* A word that opens, goes on with or ends a block. `at` moves behind it; `more`: a command may
 * follow in the same line. */
static bool block_word(struct script *s, const struct shell_command *c, unsigned *at, bool *more)
{
    static const char *const loops[] = {"for", "while", "until", "select"};
    const char *word = c->words[(*at)++];
    const bool in_if = s->depth > 0 && strcmp(s->blocks[s->depth - 1].close, "fi") == 0;
    *more = false;
    for (unsigned i = 0; i < sizeof loops / sizeof loops[0]; i++)
        if (strcmp(word, loops[i]) == 0)
            return open_loop(s, c, *at, more);
    if (strcmp(word, "case") == 0) {
        while (*at < c->count && strcmp(c->words[*at - 1], "in") != 0)
            (*at)++;
        *more = *at < c->count;
        return open_block(s, "esac", SHELL_PERHAPS);
    }
    if (strcmp(word, "if") == 0)
        return open_block(s, "fi", SHELL_RUNS) && test_branch(s, c, *at);
    if (in_if && strcmp(word, "elif") == 0)
        return test_branch(s, c, *at);
    if (in_if && strcmp(word, "else") == 0) {
        branch(s, 1);
        return *more = true;
    }
    if (strcmp(word, "then") == 0 || strcmp(word, "do") == 0) {
        if (s->depth > 0)
            s->blocks[s->depth - 1].in_test = false;
        return *more = true;
    }
    (*at)--;
    if (strcmp(word, "fi") == 0 || strcmp(word, "done") == 0 || strcmp(word, "esac") == 0 ||
        strcmp(word, "}") == 0)
        return close_block(s, word);
    return *more = true;
}

/* Does the word end a subshell? */
static bool ends_subshell(const char *word)
{
    const size_t bytes = strlen(word);
    return bytes > 0 && word[bytes - 1] == ')' && strchr(word, '(') == NULL;
}

static bool names_function(const struct shell_command *c, unsigned at)
{
    const char *word = c->words[at];
    const char *behind = word + shell_name_bytes(word);
    return strcmp(word, "function") == 0 ||
           (behind > word && (strcmp(behind, "()") == 0 || strcmp(behind, "(){") == 0)) ||
           (at + 1 < c->count && strcmp(c->words[at + 1], "()") == 0);
}

/* NAME() and `function NAME`, `{`, `(`: `at` moves behind what opens. `((` is passed over. */
static bool group(struct script *s, const struct shell_command *c, unsigned *at)
{
    const char *word = c->words[*at];
    if (names_function(c, *at)) {
        s->function = true;
        while (*at < c->count && strchr(c->words[*at], '{') == NULL)
            (*at)++;
        if (*at == c->count)
            return true;
        word = "{";
    }
    if (strcmp(word, "{") == 0) {
        const enum shell_course inner = s->function ? SHELL_PERHAPS : SHELL_RUNS;
        (*at)++;
        s->function = false;
        return open_block(s, "}", inner);
    }
    if (word[0] != '(')
        return true;
    *at = c->count;
    return word[1] == '(' || ends_subshell(c->words[c->count - 1]) || strchr(word, ')') != NULL ||
           open_block(s, ")", SHELL_SKIPPED);
}

/* The file that `source WORD` means: a plain path, or what stands behind the last slash where all
 * before it is made when the script runs, $(dirname ${BASH_SOURCE[0]})/config_common.sh. NULL: not
 * told. */
static const char *sourced(struct script *s, const char *word)
{
    struct arena *arena = s->text.shell->arena;
    const char *name = word;
    if (strpbrk(word, "$`") != NULL) {
        name = strrchr(word, '/');
        name = name != NULL ? name + 1 : "";
    }
    char *plain = arena_text(arena, name), *to = plain;
    for (const char *c = name; *c != '\0'; c++)
        if (*c != '"' && *c != '\'')
            *to++ = *c;
    *to = '\0';
    if (*plain == '\0' || *plain == '/' || strstr(plain, "..") != NULL || strpbrk(plain, "$`{}*?"))
        return NULL;
    return plain;
}

static void note_missing(struct shell *shell, const char *name)
{
    for (unsigned i = 0; i < shell->missing_count && i < SHELL_MISSING_MAX; i++)
        if (strcmp(shell->missing[i], name) == 0)
            return;
    if (shell->missing_count < SHELL_MISSING_MAX)
        shell->missing[shell->missing_count] = name;
    shell->missing_count++;
}

static bool source(struct script *s, const char *word)
{
    struct shell *shell = s->text.shell;
    const char *name = sourced(s, word);
    if (s->course == SHELL_SKIPPED)
        return true;
    const char *path = name != NULL ? file_beside(shell->arena, s->text.path, name) : NULL;
    FILE *there = path != NULL && s->sources ? fopen(path, "rb") : NULL;
    if (there == NULL) {
        note_missing(shell, name != NULL ? name : arena_text(shell->arena, word));
        return true;
    }
    fclose(there);
    return read_file(shell, path, s->level + 1, s->connected ? SHELL_PERHAPS : s->course);
}

static bool unset(struct script *s, const struct shell_command *c, unsigned at)
{
    for (; at < c->count; at++) {
        const size_t bytes = shell_name_bytes(c->words[at]);
        const struct shell_variable *now = shell_find(s->text.shell, c->words[at]);
        if (bytes == 0 || c->words[at][bytes] != '\0' || now == NULL)
            continue;
        if (s->course == SHELL_RUNS && !s->connected
                ? !shell_unset(&s->text, now->name)
                : !assign(s, now->name, (struct shell_value){NULL, "perhaps unset"}))
            return false;
    }
    return true;
}

static bool is_export(const char *word)
{
    static const char *const words[] = {"export", "readonly", "declare", "typeset", "local"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool assign_words(struct script *s, const struct shell_command *c, unsigned at)
{
    for (; at < c->count; at++)
        if (!assign_word(s, c->words[at]))
            return false;
    return true;
}

/* Words whose ${NAME:=WORD} may set something. */
static bool expand_words(struct script *s, const struct shell_command *c, unsigned at)
{
    struct shell_value value;
    for (; at < c->count; at++)
        if (!shell_expand(&s->text, c->words[at], &value))
            return false;
    return true;
}

/* `: ${NAME:=WORD}` that perhaps runs: NAME is unknown unless it is set already. */
static bool perhaps_default(struct script *s, const char *word)
{
    const char *at = strstr(word, "${");
    const size_t bytes = at != NULL ? shell_name_bytes(at + 2) : 0;
    if (bytes == 0 || strchr(":=", at[2 + bytes]) == NULL || s->course == SHELL_SKIPPED)
        return true;
    const char *name = arena_format(s->text.shell->arena, "%.*s", (int)bytes, at + 2);
    return shell_find(s->text.shell, name) != NULL ||
           assign(s, name, (struct shell_value){NULL, "perhaps a default"});
}

static bool simple(struct script *s, const struct shell_command *c, unsigned at)
{
    const struct shell_text *t = &s->text;
    const char *word = c->words[at];
    if (is_export(word))
        return assign_words(s, c, at + 1);
    if (strcmp(word, "unset") == 0)
        return unset(s, c, at + 1);
    if ((strcmp(word, "source") == 0 || strcmp(word, ".") == 0) && at + 1 < c->count)
        return source(s, c->words[at + 1]);
    if (strcmp(word, ":") == 0 && at + 1 < c->count)
        return s->course == SHELL_RUNS && !s->connected ? expand_words(s, c, at + 1)
                                                        : perhaps_default(s, c->words[at + 1]);
    if (strcmp(word, "exit") == 0 && t->shell->ear == NULL && s->course == SHELL_RUNS &&
        !s->connected)
        return shell_bad(t->shell, t->path, c->line,
                         "the configuration ends itself here: its own rule is broken, see the "
                         "lines before");
    for (unsigned i = at; i < c->count; i++)
        if (assignment(c->words[i]) + shell_element_bytes(c->words[i]) ==
            0) /* another command, perhaps with variables of its own */
            return s->course == SHELL_SKIPPED || shell_tell(&s->text, c, at);
    return assign_words(s, c, at);
}

/* Past keywords and what opens or ends blocks; `at` is where a command is left. */
static bool run_blocks(struct script *s, const struct shell_command *c, unsigned *at)
{
    bool more = true;
    for (unsigned before = *at + 1; *at < c->count && *at != before;) {
        const char *word = c->words[before = *at];
        const bool in_case = s->depth > 0 && s->blocks[s->depth - 1].close[0] == 'e';
        if (in_case && ends_subshell(word)) { /* a pattern */
            (*at)++;
            continue;
        }
        if (!block_word(s, c, at, &more) ||
            (more && *at == before && !in_test(s) && !group(s, c, at)))
            return false;
        if (!more)
            *at = c->count;
    }
    return true;
}

static bool run(struct script *s, const struct shell_command *c)
{
    unsigned at = 0;
    s->text.line = c->line;
    if (s->depth > 0 && s->blocks[s->depth - 1].close[0] == ')')
        return !ends_subshell(c->words[c->count - 1]) || close_block(s, ")");
    if (!run_blocks(s, c, &at))
        return false;
    if (at >= c->count)
        return true;
    return in_test(s) ? test_more(s, c, at) : simple(s, c, at);
}

static bool run_all(struct script *s)
{
    struct shell_command command;
    do {
        if (!shell_next(&s->text, &command))
            return false;
        const unsigned line = s->text.line;
        if (command.count > 0 && !run(s, &command))
            return false;
        s->text.line = line;
        s->link = (struct shell_link){command.stop == SHELL_CONNECTOR, command.either};
        if (command.count > 0)
            s->connected = command.stop == SHELL_CONNECTOR;
    } while (command.stop != SHELL_END);
    if (s->depth > 0)
        return shell_bad(s->text.shell, s->text.path, s->blocks[s->depth - 1].line,
                         "what begins here has no `%s`: the file is cut, or no shell script",
                         s->blocks[s->depth - 1].close);
    return true;
}

static bool run_text(struct shell *shell, const struct import_file *file, unsigned level,
                     enum shell_course course)
{
    struct import_text text;
    if (!import_text_begin(&text, shell->arena, file, shell->error))
        return false;
    struct script script = {
        .text = {shell, file->path, text.at, text.end, 1}, .course = course, .level = level};
    script.sources = level > 0 || (shell->ear != NULL && shell->ear->sources);
    if (level == 0 && !shell_fix(&script.text))
        return false;
    return run_all(&script);
}

static bool read_file(struct shell *shell, const char *path, unsigned level,
                      enum shell_course course)
{
    struct import_file file;
    if (level > 8 || shell->file_count == SHELL_FILES_MAX)
        return error_set(shell->error, "%s: it is sourced by what it sources, or after %d files",
                         path, SHELL_FILES_MAX);
    shell->file_count++;
    if (!import_open(shell->arena, path, SHELL_BYTES_MAX, &file, shell->error))
        return false;
    if (file.bytes > SHELL_BYTES_MAX)
        return error_set(shell->error, "%s: more than %d MiB: it is no configuration", path,
                         SHELL_BYTES_MAX >> 20);
    return run_text(shell, &file, level, course);
}

bool shell_read(struct arena *arena, const char *path, struct shell *out, struct error *error)
{
    *out = (struct shell){.arena = arena, .error = error};
    return read_file(out, path, 1, SHELL_RUNS);
}

bool shell_parse(struct arena *arena, const char *path, char *text, size_t bytes, struct shell *out,
                 struct error *error)
{
    *out = (struct shell){.arena = arena, .error = error, .file_count = 1};
    return run_text(out, &(struct import_file){path, text, bytes}, 0, SHELL_RUNS);
}

bool shell_hear(struct arena *arena, const struct import_file *file, const struct shell_ear *ear,
                struct shell *out, struct error *error)
{
    *out = (struct shell){.arena = arena, .error = error, .file_count = 1, .ear = ear};
    return run_text(out, file, 0, SHELL_RUNS);
}
