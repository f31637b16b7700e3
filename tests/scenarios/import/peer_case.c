#include "tests/scenarios/import/peer_case.h"

#include <string.h>

static struct peer_case texts;
static peer_reader_fn *peer;

static struct import_file file_of(struct arena *arena, const char *path, const char *text)
{
    return (struct import_file){path, arena_text(arena, text), strlen(text)};
}

static bool read(struct arena *arena, const struct import_file *file,
                 const struct launched_hints *hints, uint64_t gpus, struct launched *out,
                 struct error *error)
{
    const bool described = texts.machine != NULL;
    const struct import_file llm = file_of(arena, "llm.json", texts.model);
    const struct import_file sys = file_of(arena, "sys.json", described ? texts.machine : "");
    const struct peer_files files = {file, &llm, described ? &sys : NULL, texts.card};
    (void)hints;
    return peer(arena, &files, gpus, out, error);
}

void peer_case_read(peer_reader_fn *reader, struct peer_case given)
{
    texts = given;
    peer = reader;
    launched_case_named(given.machine == NULL || given.card ? "h100-80gb-sxm" : NULL);
    launched_case_read(read, given.run, NULL, given.gpus);
}

void peer_case_have(const char *const *lines)
{
    for (; *lines != NULL; lines++)
        launched_case_has(*lines);
}
