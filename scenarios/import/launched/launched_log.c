/* launched_log.c - the block of arguments in a log of Megatron-LM:
 *
 *     ------------------------ arguments ------------------------
 *       accumulate_allreduce_grads_in_fp32 .............. True
 *     -------------------- end of arguments ---------------------
 *
 * A name of 48 letters has no dots behind it (megatron/training/arguments.py, _print_args). Before
 * a line the launcher may have put anything; lines of other processes between are passed over.
 * The first block is read. A log that a restart was appended to has another one, which is compared
 * with it. */
#include <ctype.h>
#include <string.h>

#include "scenarios/import/launched/launched_words.h"

static const char head[] = "- arguments -", foot[] = "- end of arguments -";
enum {
    NAME_FULL = 48,       /* letters of a name from which on there are no dots */
    DIFFERENCES_MAX = 16, /* that are named */
};
/* What a later block says otherwise than the first. */
struct differences {
    unsigned line; /* of the first block that differs; 0: none */
    unsigned count;
    const char *names;
};

bool launched_is_log(const struct import_file *file)
{
    return memmem(file->text, file->bytes, head, sizeof head - 1) != NULL;
}

static bool name_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The name that ends before `at`; NULL: none. */
static const char *name_before(const char *line, const char *at)
{
    const char *name = at;
    while (name > line && name_letter(name[-1]))
        name--;
    return name < at && (name == line || name[-1] == ' ' || name[-1] == ':') ? name : NULL;
}

/* Cuts "  name .... value" into two; false: it is another line. */
static bool cut(char *line, const char **name, const char **value)
{
    for (char *at = strchr(line, ' '); at != NULL; at = strchr(at + 1, ' ')) {
        const char *found = name_before(line, at);
        const size_t dots = strspn(at + 1, ".");
        const bool full = found != NULL && at - found >= NAME_FULL && at[1] == ' ';
        if (found == NULL ||
            (!full && (dots == 0 || (at[1 + dots] != ' ' && at[1 + dots] != '\0'))))
            continue;
        *at = '\0';
        *name = found;
        *value = at + 1 + dots;
        *value += strspn(*value, " ");
        return true;
    }
    return false;
}

/* " > padded vocab (size: 50257) with 47 dummy tokens": what the tokenizer has. */
static bool read_vocabulary(struct launched_words *out, const char *line, unsigned number)
{
    static const char words[] = "padded vocab (size: ";
    const char *at = strstr(line, words);
    if (at == NULL)
        return true;
    at += sizeof words - 1;
    return launched_add(out, "tokenizer-entries",
                        arena_format(out->arena, "%.*s", (int)strspn(at, "0123456789"), at),
                        number);
}

/* One argument of a later block, which begins at `line`. */
static void compare(struct launched_words *out, unsigned line, const char *name, const char *value,
                    struct differences *d)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const char *have = out->rows[i].name;
        size_t k = 0;
        while (have[k] != '\0' && (have[k] == name[k] || (have[k] == '-' && name[k] == '_')))
            k++;
        if (have[k] == '\0' && name[k] == '\0' && strcmp(out->rows[i].value, value) == 0)
            return;
    }
    if (d->line != 0 && d->line != line)
        return;
    d->line = line;
    if (d->count++ < DIFFERENCES_MAX)
        d->names = arena_format(out->arena, "%s%s%s", d->count > 1 ? d->names : "",
                                d->count > 1 ? ", " : "", name);
}

static void tell_differences(struct launched_words *out, const struct differences *d)
{
    if (d->line != 0)
        out->another = arena_format(
            out->arena, "%s:%u: another block of arguments, which is not read; it differs in %s%s",
            out->path, d->line, d->names, d->count > DIFFERENCES_MAX ? ", ..." : "");
}

bool launched_log(const struct import_file *file, struct launched_words *out)
{
    struct import_text text;
    const char *name, *value;
    bool within = false, ended = false;
    unsigned later = 0; /* the line where a later block begins; 0: outside of one */
    struct differences differences = {.names = ""};
    if (!import_text_begin(&text, out->arena, file, out->error))
        return false;
    out->whole = true;
    for (char *line = import_text_line(&text); line != NULL; line = import_text_line(&text))
        if (strstr(line, foot) != NULL)
            ended = within, later = 0;
        else if (strstr(line, head) != NULL)
            within = true, later = ended ? text.line : 0;
        else if (later != 0 && cut(line, &name, &value))
            compare(out, later, name, value, &differences);
        else if (ended && !read_vocabulary(out, line, text.line))
            return false;
        else if (within && !ended && cut(line, &name, &value) &&
                 !launched_add(out, name, value, text.line))
            return false;
    if (!ended)
        return error_set(out->error,
                         "%s: its block of arguments has no end (\"end of arguments\"): the log is "
                         "cut",
                         out->path);
    tell_differences(out, &differences);
    return true;
}
