#include "scenarios/catalogue/catalogue.h"

#include <string.h>

#include "scenarios/catalogue/catalogue_data.h"
#include "scenarios/language/file.h"
#include "scenarios/language/parse.h"
#include "sim/check.h"

enum {
    CATALOGUE_ORDER = 1000 /* problems of catalogue files stand after those of the scenario */
};

void catalogue_open(struct catalogue *catalogue, struct arena *arena, const char *folder,
                    struct problems *problems)
{
    *catalogue = (struct catalogue){.arena = arena, .folder = folder, .problems = problems};
}

bool catalogue_describes(const char *key)
{
    static const char *const keys[] = {"doc", "sources", "errors", "identity", "history"};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

const char *catalogue_path(const struct catalogue *c, enum family family)
{
    return arena_format(c->arena, "%s/%s.yaml", c->folder, family_name(family));
}

static bool read_folder(struct catalogue *c, enum family family, struct source *source)
{
    struct file_text file;
    struct error error = {{0}};
    source->name = catalogue_path(c, family);
    if (file_read(c->arena, source->name, SOURCE_BYTES_MAX, false, &file, &error)) {
        source->text = file.text;
        source->bytes = file.bytes;
        return true;
    }
    if (!c->unreadable)
        c->error = error;
    c->unreadable = true;
    return false;
}

static void read_binary(struct catalogue *c, enum family family, struct source *source)
{
    const struct catalogue_file *file = &catalogue_files[family];
    CHECK(strcmp(file->name, family_name(family)) == 0);
    source->name = arena_format(c->arena, "catalogue/%s.yaml", file->name);
    source->text = (const char *)file->text;
    source->bytes = file->bytes;
    source->order = CATALOGUE_ORDER + family;
}

static size_t line_end(const char *text, size_t bytes, size_t at)
{
    const char *newline = memchr(text + at, '\n', bytes - at);
    return newline ? (size_t)(newline - text) + 1 : bytes;
}

/* Narrows a file to one entry: from the line that begins with its name to the next line that begins
 * with another. False when there is none. Only for the files in the binary, whose entries begin
 * lines (tests/scenarios holds this equal to a parse of the whole file): a study reads thousands of
 * scenarios, and each needs five entries of hundreds. */
static bool narrow(struct source *source, const char *name)
{
    const char *text = source->text;
    size_t length = strlen(name), at = 0, start = source->bytes;
    for (; at < source->bytes; at = line_end(text, source->bytes, at)) {
        bool named = at + length < source->bytes && strncmp(text + at, name, length) == 0 &&
                     text[at + length] == ':';
        if (named && start == source->bytes)
            start = at;
        else if (start < source->bytes && strchr(" #\n", text[at]) == NULL)
            break;
        if (start == source->bytes)
            source->lines_before++;
    }
    source->text = text + start;
    source->bytes = at - start;
    return source->bytes > 0;
}

/* Does the text at `at` begin with this? */
static bool begins(const struct source *source, size_t at, const char *word)
{
    const size_t length = strlen(word);
    return source->bytes - at >= length && memcmp(source->text + at, word, length) == 0;
}

/* Of a narrowed entry keeps the name and the first key, where that is `doc`. */
static void narrow_to_doc(struct source *source)
{
    size_t at = line_end(source->text, source->bytes, 0);
    if (!begins(source, at, "  doc:"))
        return;
    do
        at = line_end(source->text, source->bytes, at);
    while (begins(source, at, "   ")); /* further in: the text of doc goes on */
    source->bytes = at;
}

/* Every entry must be a mapping; what is not is reported and left out. */
static const struct value *check_entries(struct catalogue *c, const struct value *root)
{
    struct value *entries = value_new(c->arena, VALUE_MAPPING, root->mark);
    if (root->kind != VALUE_MAPPING) {
        problems_error(c->problems, root->mark, "a catalogue file takes entries, not %s",
                       value_kind_name(root));
        return entries;
    }
    for (const struct value *entry = root->first; entry; entry = entry->next) {
        if (entry->kind == VALUE_MAPPING)
            value_append(entries, value_share(c->arena, entry));
        else
            problems_error(c->problems, entry->mark, "%s takes keys with values, not %s",
                           source_quote(c->arena, entry->key), value_kind_name(entry));
    }
    return entries;
}

/* All of a family's file in the folder. */
static const struct value *load(struct catalogue *c, enum family family)
{
    if (c->root[family])
        return c->root[family];
    struct source *source = ARENA_NEW(c->arena, struct source);
    source->order = CATALOGUE_ORDER + family;
    struct value *root = NULL;
    if (read_folder(c, family, source))
        root = parse_source(c->arena, source, 0, c->problems);
    if (root == NULL)
        root = value_new(c->arena, VALUE_MAPPING, (struct mark){.source = source});
    c->root[family] = check_entries(c, root);
    return c->root[family];
}

static const struct value *find(struct catalogue *catalogue, enum family family, const char *name,
                                bool doc_only)
{
    CHECK(family < FAMILY_CATALOGUE_COUNT);
    if (catalogue->folder)
        return value_find(load(catalogue, family), name);
    struct source *source = ARENA_NEW(catalogue->arena, struct source);
    read_binary(catalogue, family, source);
    if (*name == '\0' || strpbrk(name, " #\n:") || !narrow(source, name))
        return NULL;
    if (doc_only)
        narrow_to_doc(source);
    struct value *entries = parse_source(catalogue->arena, source, 0, catalogue->problems);
    return entries ? value_find(check_entries(catalogue, entries), name) : NULL;
}

const struct value *catalogue_find(struct catalogue *catalogue, enum family family,
                                   const char *name)
{
    return find(catalogue, family, name, false);
}

/* In the binary the words that begin lines; `out` (NULL: only count) takes them. */
static unsigned scan_names(struct catalogue *c, const struct source *source, const char **out)
{
    unsigned count = 0;
    for (size_t at = 0; at < source->bytes; at = line_end(source->text, source->bytes, at)) {
        const char *line = source->text + at;
        if (strchr(" #\n", *line))
            continue;
        int length = (int)strcspn(line, ":");
        if (out)
            out[count] = arena_format(c->arena, "%.*s", length, line);
        count++;
    }
    return count;
}

static struct name_list names_of_folder(struct catalogue *c, enum family family)
{
    const struct value *root = load(c, family);
    const char **names = ARENA_ARRAY(c->arena, const char *, root->count + 1);
    unsigned count = 0;
    for (const struct value *entry = root->first; entry; entry = entry->next)
        names[count++] = entry->key;
    return (struct name_list){names, count};
}

struct name_list catalogue_names(struct catalogue *catalogue, enum family family)
{
    CHECK(family < FAMILY_CATALOGUE_COUNT);
    if (catalogue->folder)
        return names_of_folder(catalogue, family);
    struct source *source = ARENA_NEW(catalogue->arena, struct source);
    read_binary(catalogue, family, source);
    unsigned count = scan_names(catalogue, source, NULL);
    const char **names = ARENA_ARRAY(catalogue->arena, const char *, count + 1);
    scan_names(catalogue, source, names);
    return (struct name_list){names, count};
}

const char *catalogue_doc(const struct value *entry)
{
    const struct value *doc = value_find(entry, "doc");
    return doc && doc->kind == VALUE_WORD ? doc->text : "";
}

const char *catalogue_doc_of(struct catalogue *catalogue, enum family family, const char *name)
{
    return catalogue_doc(find(catalogue, family, name, true));
}
