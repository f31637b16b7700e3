/* launched_print.c - a launch as the text of a scenario. */
#include "scenarios/import/launched/launched_print.h"

#include <string.h>

#include "scenarios/language/source.h"

static void print_section(const struct launched *l, enum launched_section section, const char *name,
                          FILE *out)
{
    fprintf(out, "%s:\n", name);
    for (uint32_t i = 0; i < l->keys[section].count; i++)
        fprintf(out, "  %s\n", l->keys[section].rows[i]);
}

/* What the file describes of the machine; without a card, one that is named. */
static void print_machine(const struct launched *l, const char *gpu, FILE *out)
{
    static const char *const parts[] = {
        [LAUNCHED_GPU] = "gpu", [LAUNCHED_NODE] = "node", [LAUNCHED_FABRIC] = "fabric"};
    if (l->keys[LAUNCHED_GPU].count == 0 && gpu != NULL)
        fprintf(out, "  gpu: %s\n", gpu);
    else if (l->keys[LAUNCHED_GPU].count == 0)
        fputs("  # gpu: not said: --gpu NAME\n", out);
    for (int part = LAUNCHED_GPU; part <= LAUNCHED_FABRIC; part++) {
        if (l->keys[part].count > 0)
            fprintf(out, "  %s:\n", parts[part]);
        if (part == LAUNCHED_GPU && l->keys[part].count > 0 && gpu != NULL)
            fprintf(out, "    name: %s\n", gpu);
        for (uint32_t i = 0; i < l->keys[part].count; i++)
            fprintf(out, "    %s\n", l->keys[part].rows[i]);
    }
}

/* A comment in lines of bounded width. */
static void print_comment(const char *head, const char *text, FILE *out)
{
    enum {
        WIDTH = 98
    };
    size_t used = (size_t)fprintf(out, "#%s", head);
    while (*(text += strspn(text, " ")) != '\0') {
        const size_t bytes = strcspn(text, " ");
        if (used + bytes + 1 > WIDTH)
            used = (size_t)fprintf(out, "\n#  ");
        used += (size_t)fprintf(out, " %.*s", (int)bytes, text);
        text += bytes;
    }
    fputc('\n', out);
}

void launched_print(const struct launched *l, const char *gpu, FILE *out)
{
    const char *slash = strrchr(l->path, '/');
    fprintf(out, "# Scenario of a launch: %s\n",
            source_clean(l->arena, slash != NULL ? slash + 1 : l->path));
    for (uint32_t i = 0; i < l->warnings.count; i++)
        print_comment(" warning:", l->warnings.rows[i], out);
    for (uint32_t i = 0; i < l->comments.count; i++)
        print_comment("", l->comments.rows[i], out);
    print_section(l, LAUNCHED_MODEL, "model", out);
    fputs("cluster:\n", out);
    print_machine(l, gpu, out);
    if (l->gpus == 0)
        fputs("  # gpus: not said: --gpus N\n", out);
    for (uint32_t i = 0; i < l->keys[LAUNCHED_CLUSTER].count; i++)
        fprintf(out, "  %s\n", l->keys[LAUNCHED_CLUSTER].rows[i]);
    print_section(l, LAUNCHED_TRAINING, "training", out);
    print_section(l, LAUNCHED_LAYOUT, "layout", out);
    fprintf(out, "software:\n  profile: %s\n", l->profile);
    for (uint32_t i = 0; i < l->keys[LAUNCHED_SOFTWARE].count; i++)
        fprintf(out, "  %s\n", l->keys[LAUNCHED_SOFTWARE].rows[i]);
}
