#include "analysis/command/house/completion_words.h"

#include <string.h>

#include "scenarios/lessons/lessons.h"
#include "sim/check.h"

void completion_words(struct arena *arena, struct completion_words *out)
{
    *out = (struct completion_words){arena, keys_all(arena), listing_families(arena),
                                     ARENA_NEW(arena, struct listing)};
    for (unsigned i = 0; i < out->families.count; i++) {
        struct error error;
        CHECK(listing_add(out->listing, out->families.names[i], NULL, arena,
                          &error)); /* the built-in one is sound */
    }
}

const char *completion_family(const struct option *option)
{
    static const char *const takers[][2] = {{"--gpu", "gpus"},
                                            {"--node", "nodes"},
                                            {"--fabric", "fabrics"},
                                            {"--model", "models"},
                                            {"--mtbf", "fleets"}};
    for (unsigned i = 0; i < sizeof takers / sizeof takers[0]; i++)
        if (strcmp(option->name, takers[i][0]) == 0)
            return takers[i][1];
    return NULL;
}

bool completion_takes_key(const struct option *option)
{
    return option->type == OPTION_SET || option->type == OPTION_VARY;
}

void completion_print_family(const struct completion_words *words, const char *family, FILE *out)
{
    const char *space = "";
    for (unsigned i = 0; i < words->listing->count; i++) {
        if (strcmp(words->listing->entries[i].family, family) == 0) {
            fprintf(out, "%s%s", space, words->listing->entries[i].name);
            space = " ";
        }
    }
}

void completion_print_lessons(FILE *out)
{
    for (const struct lesson_file *file = lessons_shipped; file->name != NULL; file++)
        fprintf(out, "%s%s", file > lessons_shipped ? " " : "", file->name);
}

void completion_print_first(const struct command *command, FILE *out)
{
    for (unsigned i = 0; command->word(i) != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", command->word(i));
}

void completion_print_list(const char *const *names, FILE *out)
{
    for (unsigned i = 0; names[i] != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", names[i]);
}

void completion_print_plain(FILE *out, const char *text, const char *leave_out)
{
    for (; *text != '\0'; text++)
        if (strchr(leave_out, *text) == NULL)
            fputc(*text, out);
}
