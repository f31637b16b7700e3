#include "analysis/output/terminal/output_kind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEAD_BYTES = 4096
};
static const char csv_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_,";
static const struct {
    const char *begins; /* "": a line of names with commas between */
    const char *what;
} kinds[] = {
    [OUTPUT_PICTURE] = {"<svg ", "an SVG picture"},
    [OUTPUT_PAGE] = {"<!doctype html", "an HTML page"},
    [OUTPUT_CHROME] = {"{\"displayTimeUnit\":", "a trace of Chrome's kind"},
    [OUTPUT_CSV] = {"", "a CSV table"},
    [OUTPUT_SHAPES] = {"# Kernels of ", "a list of kernels"},
    [OUTPUT_SCRIPT] = {"#!/bin/bash\n", "a script for bash"},
    [OUTPUT_DOCUMENT] = {"{\n  \"schema\": \"orrery.", "a JSON document of Orrery"},
};

/* Column names, as each table begins. */
static bool begins_csv(const char *head, size_t bytes)
{
    const size_t names = strspn(head, csv_letters);
    const bool ends = names == bytes || head[names] == '\n' || head[names] == '\r';
    return ends && memchr(head, ',', names) != NULL;
}

/* A writer that was killed may have left a part of the beginning. */
static bool begins(const char *head, size_t bytes, enum output_kind kind)
{
    const char *mark = kinds[kind].begins;
    const size_t length = strlen(mark);
    if (*mark == '\0')
        return begins_csv(head, bytes);
    return memcmp(head, mark, bytes < length ? bytes : length) == 0;
}

bool output_may_replace(const char *path, enum output_kind kind, struct error *error)
{
    struct stat status;
    char head[HEAD_BYTES + 1] = {0};
    if (kind == OUTPUT_LATER || stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size == 0)
        return true;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_set(error, "%s is there and cannot be read: %s; not replaced", path,
                         strerror(errno));
    const size_t bytes = fread(head, 1, HEAD_BYTES, file);
    fclose(file);
    if (begins(head, bytes, kind))
        return true;
    const bool database = bytes >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
    return error_set(error, "%s holds %s, not %s: not replaced; name another file, or remove it",
                     path, database ? "a database" : "something else", kinds[kind].what);
}
