/* launch_kind.h - the contract of a training framework: a layout as the script that starts it.
 *
 * Adding one: a file, a row in launch_list.h, a line in CMakeLists.txt. A kind is a
 * framework at one version. From a checked configuration it writes a bash script (sbatch or by
 * hand, torchrun inside), notes in words about what the framework does otherwise, and further files
 * as here-documents. What it needs of a layout, and the words to write with: launch_job.h. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_KIND_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "models/layout/configuration.h"
#include "sim/arena.h"
#include "sim/kind.h"

enum launch_weight {
    LAUNCH_REFUSED, /* the framework stops with this layout; or it would train something else, or
                     * hold more than was simulated, or take far longer: what it lacks */
    LAUNCH_DIFFERS, /* it does something in another way, which trains the same, and holds no more
                     * or, where the note has the figures, fits as well: what it does instead, which
                     * may move the step's time */
    LAUNCH_YOURS    /* what the reader must know or fill in */
};
extern const char *const launch_weight_names[]; /* "refused", "differs", "yours" */

struct launch_note {
    enum launch_weight weight;
    const char *text; /* ASCII, no line ends */
};
/* What launch_write writes; everything lives in the arena. */
struct launch_text {
    struct arena *arena;
    const char **lines; /* of the script, without line ends; none where it is refused */
    uint32_t line_count, line_capacity;
    struct launch_note *notes;
    uint32_t note_count, note_capacity;
    bool refused; /* a note says why */
};

/* The layout and what follows from it, worked out once for all kinds (launch_job.h). */
struct launch_job;
struct launch_kind {
    struct kind head;
    const char *version;  /* of the framework: "Megatron-LM core_v0.19.0" */
    const char *software; /* the profile that simulates this version */
    /* Says each of the framework's own rules that the layout breaks; NULL: it has none. */
    void (*check)(const struct launch_job *job, struct launch_text *text);
    /* Writes variables, files and the command behind the common head, and its notes. */
    void (*write)(const struct launch_job *job, struct launch_text *text);
};
extern const char *const launch_names[]; /* NULL-ended, in the order of the list */
#define X(name) extern const struct launch_kind launch_##name;
#include "analysis/exchange/launch/launch_list.h"
#undef X
KIND_FAMILY(launch)

#endif
