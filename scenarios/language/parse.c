/* parse.c - from libyaml's events to a tree.
 *
 * 1. `stack[0 .. depth)` are the containers that are open; the last is the innermost.
 * 2. A frame of a mapping waits for a key when `key` is NULL and for a value otherwise.
 * 3. A value under a refused key is parsed and dropped (`drop`), so that the rest is still checked.
 * 4. After a fatal problem no event is read and the tree is thrown away. */
#include "scenarios/language/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "sim/check.h"
#include "sim/memory.h"

struct frame {
    struct value *container;
    const char *key;
    struct mark key_mark;
    bool drop;
};
struct parse {
    yaml_parser_t yaml;
    struct arena *arena;
    const struct source *source;
    struct problems *problems;
    unsigned skip;
    struct frame stack[PARSE_DEPTH_MAX];
    unsigned depth;
    struct value *root;
    unsigned document_count;
    bool fatal;
};

/* libyaml puts the end of a text on a line of its own; a `--set` has none. */
static struct mark end_of_line(const struct source *source)
{
    unsigned column = 1;
    for (size_t i = 0; i < source->bytes; i++)
        column += ((unsigned char)source->text[i] & 0xC0) != 0x80;
    return (struct mark){source, source->fixed_line, column, 1};
}

static struct mark mark_at(const struct parse *p, yaml_mark_t start)
{
    struct mark mark = {p->source, (unsigned)start.line + source_first_line(p->source),
                        (unsigned)start.column + 1, 1};
    if (start.line == 0)
        mark.column += p->skip;
    else if (p->source->fixed_line)
        mark = end_of_line(p->source);
    return mark;
}

static struct mark mark_of(const struct parse *p, const yaml_event_t *event)
{
    struct mark mark = mark_at(p, event->start_mark);
    bool one_line = event->start_mark.line == event->end_mark.line;
    if (one_line && event->end_mark.column > event->start_mark.column)
        mark.width = (unsigned)(event->end_mark.column - event->start_mark.column);
    return mark;
}

__attribute__((format(printf, 3, 4))) static void fatal(struct parse *p, struct mark where,
                                                        const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    problems_error(p->problems, where, "%s", text);
    p->fatal = true;
}

/* What libyaml's scanner or parser says in words of its grammar, said in words of a user; an
 * unlisted problem is returned as it is. `inside`: a scanner error is seen best where it was found,
 * not where the broken token began. */
static const char *plain_words(const char *problem, bool *inside)
{
    static const struct {
        const char *problem, *plain;
        bool inside;
    } words[] = {
        {"found character that cannot start any token",
         "this character cannot start a value; indent with blanks, and put it in quotes if it is "
         "meant",
         false},
        {"mapping values are not allowed in this context",
         "a ':' does not fit here; check the indentation, or put the value in quotes", false},
        {"could not find expected ':'", "a key needs a ':' and a blank after it", false},
        {"did not find expected key",
         "a key was expected here; check the indentation, and quotes and brackets before it",
         false},
        {"did not find expected '-' indicator",
         "a list item ('- ') was expected here; check the indentation", false},
        {"did not find expected ',' or '}'", "',' or '}' was expected here", false},
        {"did not find expected ',' or ']'", "',' or ']' was expected here", false},
        {"found unexpected end of stream", "the text ends inside quotes", false},
        {"did not find expected <document start>",
         "the text goes on after its end; a scenario is one mapping of 'key: value' lines", false},
        {"found undefined tag handle", "tags ('!') are refused; remove it", false},
        {"found unknown escape character", "unknown escape after '\\' in double quotes", true},
        {"block sequence entries are not allowed in this context",
         "a list item does not fit here; start the list on a line of its own", false},
        {"did not find expected node content", "a value was expected here", false},
        {"found a tab character that violates indentation",
         "a tab character indents this line; indent with blanks", true},
        {"found a tab character where an indentation space is expected",
         "a tab character indents this line; indent with blanks", true},
        {"mapping keys are not allowed in this context",
         "a '?' key does not fit here; write 'key: value'", false},
        {"found unexpected document indicator", "the text in quotes runs into '---' or '...'",
         false},
        {"did not find expected alphabetic or numeric character",
         "'&' and '*' make anchors and aliases, which are refused; put the value in quotes", false},
        {"did not find expected whitespace or line break",
         "'!' makes a tag, which is refused; put the value in quotes", false},
        {"found invalid Unicode character escape code",
         "this \\ escape names no character; write the character itself", true},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(problem, words[i].problem) == 0) {
            *inside = words[i].inside;
            return words[i].plain;
        }
    }
    *inside = false;
    return problem;
}

/* A scanner error shows where the broken token began, unless it is seen best where it was found; a
 * parser error shows where it went wrong. */
static void report_syntax(struct parse *p)
{
    const yaml_parser_t *yaml = &p->yaml;
    bool inside = false;
    const char *words = plain_words(yaml->problem ? yaml->problem : "out of memory", &inside);
    bool start = yaml->error == YAML_SCANNER_ERROR && yaml->context && !inside;
    struct mark where = mark_at(p, start ? yaml->context_mark : yaml->problem_mark);
    if (yaml->error == YAML_READER_ERROR)
        where = (struct mark){p->source, source_first_line(p->source), 1, 1};
    fatal(p, where, "%s", words);
}

static struct frame *top(struct parse *p)
{
    return p->depth ? &p->stack[p->depth - 1] : NULL;
}

static bool waits_for_key(const struct frame *frame)
{
    return frame && frame->container->kind == VALUE_MAPPING && frame->key == NULL;
}

/* Hangs a finished or opening value into the innermost container. */
static void attach(struct parse *p, struct value *value)
{
    struct frame *frame = top(p);
    if (frame == NULL) {
        p->root = value;
        return;
    }
    if (frame->container->kind == VALUE_LIST) {
        value_append(frame->container, value);
        return;
    }
    value->key = frame->key;
    value->key_mark = frame->key_mark;
    if (!frame->drop)
        value_append(frame->container, value);
    frame->key = NULL;
    frame->drop = false;
}

static void take_key(struct parse *p, const char *key, struct mark where)
{
    struct frame *frame = top(p);
    const struct value *first = value_find(frame->container, key);
    frame->key = key;
    frame->key_mark = where;
    if (first) {
        problems_error(p->problems, where, "duplicate key '%s'; it stands on line %u already",
                       source_quote(p->arena, key), first->key_mark.line);
        frame->drop = true;
    } else if (frame->container->count >= PARSE_KEYS_MAX) {
        fatal(p, where, "more than %d keys in one mapping", PARSE_KEYS_MAX);
    }
}

static void refuse_key(struct parse *p, struct mark where)
{
    problems_error(p->problems, where, "a key must be a word");
    top(p)->key = "";
    top(p)->key_mark = where;
    top(p)->drop = true;
}

static void refuse_decorations(struct parse *p, struct mark where, const unsigned char *anchor,
                               const unsigned char *tag)
{
    if (anchor)
        problems_error(p->problems, where,
                       "anchors and aliases are refused; write the value where it is meant");
    if (tag)
        problems_error(p->problems, where, "tags ('!') are refused; remove it");
}

static void take_word(struct parse *p, const yaml_event_t *event)
{
    struct mark where = mark_of(p, event);
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    refuse_decorations(p, where, event->data.scalar.anchor, event->data.scalar.tag);
    if (strlen(text) != length)
        problems_error(p->problems, where, "a NUL character in a value");
    text = arena_text(p->arena, text);
    if (waits_for_key(top(p))) {
        take_key(p, text, where);
        return;
    }
    struct value *word = value_word(p->arena, text, where);
    word->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    attach(p, word);
}

static void take_alias(struct parse *p, const yaml_event_t *event)
{
    struct mark where = mark_of(p, event);
    refuse_decorations(p, where, event->data.alias.anchor, NULL);
    if (waits_for_key(top(p))) {
        top(p)->key = "";
        top(p)->key_mark = where;
        top(p)->drop = true;
    } else {
        struct value *nothing = value_word(p->arena, "", where);
        nothing->refused = true;
        attach(p, nothing);
    }
}

static void open_container(struct parse *p, enum value_kind kind, const yaml_event_t *event)
{
    struct mark where = mark_at(p, event->start_mark);
    if (p->depth == PARSE_DEPTH_MAX) {
        fatal(p, where, "nested deeper than %d levels", PARSE_DEPTH_MAX);
        return;
    }
    struct value *container = value_new(p->arena, kind, where);
    if (waits_for_key(top(p)))
        refuse_key(p, where); /* the container itself is dropped, as its value will be */
    else
        attach(p, container);
    p->stack[p->depth++] = (struct frame){.container = container};
}

static void take_event(struct parse *p, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (p->document_count++ > 0)
            fatal(p, mark_at(p, event->start_mark), "a second document; a scenario is one");
        break;
    case YAML_SCALAR_EVENT:
        take_word(p, event);
        break;
    case YAML_ALIAS_EVENT:
        take_alias(p, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        refuse_decorations(p, mark_at(p, event->start_mark), event->data.sequence_start.anchor,
                           event->data.sequence_start.tag);
        open_container(p, VALUE_LIST, event);
        break;
    case YAML_MAPPING_START_EVENT:
        refuse_decorations(p, mark_at(p, event->start_mark), event->data.mapping_start.anchor,
                           event->data.mapping_start.tag);
        open_container(p, VALUE_MAPPING, event);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        CHECK(p->depth > 0);
        p->depth--;
        break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
}

static void read_events(struct parse *p)
{
    bool done = false;
    while (!done && !p->fatal) {
        yaml_event_t event;
        if (!yaml_parser_parse(&p->yaml, &event)) {
            if (p->yaml.error == YAML_MEMORY_ERROR)
                memory_refused(0);
            report_syntax(p);
            return;
        }
        take_event(p, &event);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
}

static bool acceptable(const struct source *source, struct problems *problems)
{
    struct mark where = {source, source_first_line(source), 1, 1};
    const char *why = NULL;
    if (source->bytes > SOURCE_BYTES_MAX) {
        problems_error(problems, where, "larger than 1 MiB; a scenario is a few kB of text");
        return false;
    }
    if (!source_check(source, &where, &why)) {
        problems_error(problems, where, "%s", why);
        return false;
    }
    return true;
}

struct value *parse_source(struct arena *arena, const struct source *source, size_t skip,
                           struct problems *problems)
{
    if (!acceptable(source, problems))
        return NULL;
    struct parse *p = ARENA_NEW(arena, struct parse);
    p->arena = arena;
    p->source = source;
    p->problems = problems;
    p->skip = (unsigned)skip;
    if (!yaml_parser_initialize(&p->yaml))
        memory_refused(0);
    yaml_parser_set_encoding(&p->yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p->yaml, (const unsigned char *)source->text + skip,
                                 source->bytes - skip);
    read_events(p);
    yaml_parser_delete(&p->yaml);
    if (p->fatal)
        return NULL;
    if (p->root == NULL)
        p->root = value_word(arena, "", mark_at(p, (yaml_mark_t){0, 0, 0}));
    return p->root;
}
