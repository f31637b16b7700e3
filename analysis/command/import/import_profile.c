#include "analysis/command/import/import_profile.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/command/line/card_agrees.h"
#include "analysis/output/text/format.h"

#define SIMULATED "simulated" /* as `orrery-calibrate --device simulated` calls its card */

/* The head of a new profile. */
static void describe(const struct import_points *points, struct profile_head *head)
{
    *head = (struct profile_head){.facts = {.driver = "not said",
                                            .runtime = "not said",
                                            .libraries = "not said",
                                            .cards = points->cards},
                                  .date = "not said"};
    snprintf(head->facts.device, sizeof head->facts.device, "%s",
             *points->device ? points->device
             : points->gpu   ? points->gpu
                             : "not said");
    snprintf(head->gpu, sizeof head->gpu, "%s", points->gpu != NULL ? points->gpu : "");
    snprintf(head->method, sizeof head->method, "%s", points->method);
}

/* Two names of the card that --gpu names, perhaps of two drivers? */
static bool both_fit(const struct import_points *points, const struct measured_profile *there)
{
    return card_fits(points->catalogue, points->gpu, there->head.facts.device) &&
           card_fits(points->catalogue, points->gpu, points->device);
}

/* That of a profile which is there: is it of the same card? */
static bool join(struct arena *arena, const struct import_points *points, const char *output,
                 struct profile_head *head, struct error *error)
{
    struct measured_profile there;
    if (!profile_read(arena, output, &there, error))
        return false;
    *head = there.head;
    if (strcmp(there.head.facts.device, SIMULATED) == 0)
        return error_set(
            error, "%s is of a card that is not there (simulated): give another --output", output);
    const bool device = strcmp(there.head.facts.device, points->device) == 0;
    const bool gpu = points->gpu != NULL && strcmp(there.head.gpu, points->gpu) == 0;
    if (points->gpu != NULL ? gpu && (device || both_fit(points, &there)) : device)
        return true;
    if (gpu)
        return error_set(
            error, "%s was measured on %s, and these points on %s: give another --output", output,
            format_shown(head->facts.device).s, format_shown(points->device).s);
    return error_set(error,
                     "%s is of %s, and these points are of %s: give another --output, or the name "
                     "of the card as that profile has it with --gpu",
                     output, format_shown(*head->gpu ? head->gpu : head->facts.device).s,
                     format_shown(points->gpu != NULL ? points->gpu : points->device).s);
}

bool import_profile(struct arena *arena, const struct import_points *points, const char *output,
                    bool *added, struct error *error)
{
    struct stat status;
    struct profile_head head;
    struct measured_profile resumed;
    *added = stat(output, &status) == 0 && status.st_size > 0;
    describe(points, &head);
    if (*added && !join(arena, points, output, &head, error))
        return false;
    struct profile_writer *writer = profile_write(arena, output, &head, &resumed, error);
    if (writer == NULL)
        return false;
    bool kept = true;
    for (unsigned i = 0; i < points->count && kept; i++)
        kept = profile_keep(writer, &points->rows[i], error);
    return profile_close(writer, kept && (!*added || head.complete), error) && kept;
}
