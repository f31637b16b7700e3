/* import_nccl_tests.c - times of collectives, as nccl-tests prints them, into a profile. */
#include "analysis/command/import/import_kind.h"
#include "analysis/command/import/import_profile.h"
#include "analysis/command/line/command.h"
#include "analysis/output/text/format.h"
#include "scenarios/import/machine/nccl_tests.h"
#include "sim/plural.h"

static int run(struct importing *i)
{
    struct error error = {""};
    struct nccl_tests tests;
    bool added;
    if (i->a->output == NULL) {
        fputs("orrery import nccl-tests: give --output FILE, the profile to write or to add to\n",
              i->session->notes);
        return EXIT_USAGE;
    }
    if (!nccl_tests_read(i->arena, i->file, i->a->op, &tests, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    if (!importing_agrees(i, (struct card_told){.name = tests.device}))
        return EXIT_REJECTED;
    const struct import_points points = {
        tests.points,         tests.point_count,      tests.device, i->a->card.gpu,
        i->a->card.catalogue, "output of nccl-tests", 0.0};
    if (!import_profile(i->arena, &points, i->a->output, &added, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    fprintf(i->session->out, "%s: %u point%s of %u table%s%s", format_shown(i->a->output).s,
            tests.point_count, plural_s(tests.point_count), tests.table_count,
            plural_s(tests.table_count), added ? " added" : "");
    if (tests.left_out > 0)
        fprintf(i->session->out, "; %u row%s of no bytes or of integers left out", tests.left_out,
                plural_s(tests.left_out));
    fputs("\n", i->session->out);
    return EXIT_OK;
}

static const char *const takes[] = {IMPORT_TAKES_CARD, "--output", "--op", NULL};

const struct import_kind import_nccl_tests = {
    .head = {.name = "nccl-tests",
             .doc = "times of collectives, into the profile that --output names"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run,
};
