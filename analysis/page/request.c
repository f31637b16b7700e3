#include "analysis/page/request.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 64,
    ARGUMENTS_MAX_BYTES = 512,
    DIGITS_MAX = 18
};

static const char *const names[] = {"127.0.0.1", "localhost"};

/* Is `text` one of our names, as PREFIX NAME:PORT? Returns its number, -1 when not. */
static int own_name(const char *text, const char *prefix, unsigned port)
{
    char ours[NAME_MAX_BYTES];
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        snprintf(ours, sizeof ours, "%s%s:%u", prefix, names[i], port);
        if (strcmp(text, ours) == 0)
            return i;
    }
    return -1;
}

static bool from_here(const struct request_text *text, unsigned port, bool changes)
{
    const int host = text->host != NULL ? own_name(text->host, "", port) : -1;
    if (host < 0)
        return false;
    if (text->origin == NULL)
        return !changes;
    return own_name(text->origin, "http://", port) == host;
}

/* A whole number without sign; false when it is none. */
static bool read_number(const char *text, int64_t *out)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || text[digits] != '\0')
        return false;
    *out = strtoll(text, NULL, 10);
    return true;
}

static bool read_argument(const char *name, const char *value, struct request *out)
{
    struct slices_ask *slices = &out->ask.slices;
    int64_t number = 0;
    if (strcmp(name, "level") == 0) {
        unsigned level = 0;
        while (slices_levels[level] != NULL && strcmp(slices_levels[level], value) != 0)
            level++;
        if (slices_levels[level] != NULL)
            slices->level = (enum slices_level)level;
        return slices_levels[level] != NULL;
    }
    if (!read_number(value, &number))
        return false;
    if (strcmp(name, "db") == 0)
        out->run = number < UINT16_MAX ? (unsigned)number : UINT16_MAX;
    else if (strcmp(name, "class") == 0)
        slices->rank_class = number;
    else if (strcmp(name, "from") == 0)
        slices->from_ns = number;
    else if (strcmp(name, "to") == 0)
        slices->to_ns = number;
    else
        return false;
    return true;
}

/* name=value pairs with & between them; none is fine. */
static bool read_arguments(const char *text, struct request *out)
{
    char copy[ARGUMENTS_MAX_BYTES];
    if (text == NULL || text[0] == '\0')
        return true;
    if (strlen(text) >= sizeof copy)
        return false;
    memcpy(copy, text, strlen(text) + 1);
    for (char *pair = copy; pair != NULL;) {
        char *next = strchr(pair, '&'), *equals = strchr(pair, '=');
        if (next != NULL)
            *next++ = '\0';
        if (equals == NULL || (next != NULL && equals >= next))
            return false;
        *equals = '\0';
        if (!read_argument(pair, equals + 1, out))
            return false;
        pair = next;
    }
    return true;
}

static const struct {
    const char *path;
    bool post;
    enum request_kind kind;
    enum document_kind document;
} places[] = {
    {"/", false, REQUEST_PAGE, DOCUMENT_RUN},
    {"/api/run", false, REQUEST_DOCUMENT, DOCUMENT_RUN},
    {"/api/slices", false, REQUEST_DOCUMENT, DOCUMENT_SLICES},
    {"/api/memory", false, REQUEST_DOCUMENT, DOCUMENT_MEMORY},
    {"/api/weeks", false, REQUEST_DOCUMENT, DOCUMENT_WEEKS},
    {"/api/checkpoints", false, REQUEST_DOCUMENT, DOCUMENT_SAVES},
    {"/api/schema", false, REQUEST_SCHEMA, DOCUMENT_RUN},
    {"/api/check", true, REQUEST_CHECK, DOCUMENT_RUN},
    {"/api/what-if", true, REQUEST_RUN, DOCUMENT_RUN},
};

enum request_status request_read(const struct request_text *text,
                                 const struct request_server *server, struct request *out)
{
    const bool post = strcmp(text->method, "POST") == 0;
    *out = (struct request){
        .ask.slices = {SLICES_OPS, 0, INT64_MAX / 4, SLICES_ALL, SLICES_ROOM},
    };
    if (!from_here(text, server->port, post))
        return REQUEST_FORBIDDEN;
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strcmp(text->path, places[i].path) != 0)
            continue;
        if (places[i].post ? !post : strcmp(text->method, "GET") != 0)
            return REQUEST_METHOD;
        out->kind = places[i].kind;
        out->ask.kind = places[i].document;
        if (!read_arguments(text->arguments, out))
            return REQUEST_BAD;
        return out->run < server->runs ? REQUEST_GOOD : REQUEST_UNKNOWN;
    }
    return REQUEST_UNKNOWN;
}
