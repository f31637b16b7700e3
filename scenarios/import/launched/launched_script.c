/* launched_script.c - of a script the command that trains, as options. */
#include <ctype.h>
#include <string.h>

#include "scenarios/import/launched/launched_words.h"
#include "scenarios/import/mllog/shell.h"
#include "sim/list.h"

/* Commands with a mark, as they were told. */
struct heard {
    struct arena *arena;
    const char *const *marks;
    const char *words, *path, *other_path;
    unsigned line, other_line; /* 0: none */
};

/* Does "--name" stand at `at`, with dashes or with underscores? */
static bool is_option(const char *at, const char *name)
{
    const size_t bytes = strlen(name);
    size_t i = 0;
    while (i < bytes && (at[2 + i] == name[i] || (name[i] == '-' && at[2 + i] == '_')))
        i++;
    return i == bytes && !isalnum((unsigned char)at[2 + i]) && at[2 + i] != '-' && at[2 + i] != '_';
}

static bool has_mark(const char *words, const char *mark)
{
    for (const char *at = strstr(words, "--"); at != NULL; at = strstr(at + 1, "--"))
        if (is_option(at, mark))
            return true;
    return false;
}

static bool is_launch(const char *words, const char *const *marks)
{
    for (; *marks != NULL; marks++)
        if (has_mark(words, *marks))
            return true;
    return false;
}

static void hear(void *object, const char *words, const char *path, unsigned line)
{
    struct heard *h = object;
    if (!is_launch(words, h->marks))
        return;
    if (h->words == NULL) {
        h->words = words;
        h->path = path;
        h->line = line;
    } else if (strcmp(h->words, words) != 0 && h->other_line == 0) {
        h->other_path = path;
        h->other_line = line;
    }
}

/* "#SBATCH --nodes=16 ...": options of the job. */
static bool read_slurm(const char *text, struct launched_words *out)
{
    static const char directive[] = "#SBATCH";
    unsigned line = 1;
    for (const char *at = text; at != NULL && *at != '\0'; line++) {
        const char *stop = strchr(at, '\n');
        const size_t bytes = stop != NULL ? (size_t)(stop - at) : strlen(at);
        if (strncmp(at, directive, sizeof directive - 1) == 0 && bytes < 4096 &&
            !launched_add_command(out, arena_format(out->arena, "%.*s", (int)bytes, at), line))
            return false;
        at = stop != NULL ? stop + 1 : NULL;
    }
    return true;
}

/* The first variable that has a mark. */
static const struct shell_variable *find_variable(const struct shell *shell,
                                                  const char *const *marks)
{
    for (uint32_t i = 0; i < shell->count; i++)
        if (shell->rows[i].set && shell->rows[i].value != NULL &&
            is_launch(shell->rows[i].value, marks))
            return &shell->rows[i];
    return NULL;
}

static bool read_heard(const struct heard *heard, const struct shell *shell,
                       const struct launched_hints *hints, struct launched_words *out)
{
    const struct shell_variable *v = find_variable(shell, hints->marks);
    if (heard->other_line != 0)
        out->another = arena_format(out->arena, "%s:%u: another launch, which is not read",
                                    heard->other_path, heard->other_line);
    out->from = heard->words != NULL ? heard->path : v != NULL ? v->path : NULL;
    if (heard->words != NULL)
        return launched_add_command(out, heard->words, heard->line);
    if (v != NULL)
        return launched_add_command(out, v->value, v->line);
    return error_set(out->error,
                     "%s: no launch: no command and no variable of it has --%s; a script, a "
                     "command line or what the run printed is read",
                     out->path, hints->marks[0]);
}

/* The line that alone has this option; 0: none, or several have it. */
static unsigned line_with(const char *text, const char *name)
{
    unsigned line = 1, found = 0;
    bool comment = false, first = true;
    for (const char *at = text; *at != '\0'; at++) {
        comment = *at != '\n' && (comment || (first && *at == '#'));
        first = *at == '\n' || (first && (*at == ' ' || *at == '\t'));
        line += *at == '\n';
        if (comment || at[0] != '-' || at[1] != '-' || !is_option(at, name))
            continue;
        if (found != 0)
            return 0;
        found = line;
    }
    return found;
}

/* Each option has the line that it stands in, where that is plain; else that of the command. */
static void place(const char *text, struct launched_words *out)
{
    enum {
        PLACED = 512
    };
    for (uint32_t i = 0; i < out->count && out->count <= PLACED; i++) {
        const unsigned line = line_with(text, out->rows[i].name);
        if (line != 0) {
            out->rows[i].path = out->path;
            out->rows[i].line = line;
        }
    }
}

bool launched_script(const struct import_file *file, const struct launched_hints *hints,
                     struct launched_words *out)
{
    struct heard heard = {.arena = out->arena, .marks = hints->marks};
    const struct shell_ear ear = {hear, &heard, hints->sets, hints->set_count, hints->sources};
    struct shell shell;
    if (file->bytes > SHELL_BYTES_MAX)
        return error_set(out->error,
                         "%s: more than %d MiB, and no block of arguments: it is no script",
                         out->path, SHELL_BYTES_MAX >> 20);
    if (!shell_hear(out->arena, file, &ear, &shell, out->error) || !read_slurm(file->text, out) ||
        !read_heard(&heard, &shell, hints, out))
        return false;
    place(file->text, out);
    return true;
}
