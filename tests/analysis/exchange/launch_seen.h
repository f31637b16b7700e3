/* launch_seen.h - what a framework would make of a launch script, from its arguments alone.
 *
 * The scripts run: torchrun, srun and scontrol are shell functions that print what they are given.
 * The arguments are read back as the frameworks' own parsers define them; nothing of the writer is
 * used. */
#ifndef ORRERY_TESTS_ANALYSIS_LAUNCH_LAUNCH_SEEN_H
#define ORRERY_TESTS_ANALYSIS_LAUNCH_LAUNCH_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/exchange/launch/launch.h"

enum {
    SEEN_WORDS = 200,
    SEEN_BYTES = 16384,
    SEEN_CHUNKS = 256
};
/* What was given to torchrun, and the ds.json that lay beside it. */
struct seen_words {
    char text[SEEN_BYTES];
    char *words[SEEN_WORDS];
    unsigned count;
    char json[2048];
};
/* Of 8-bit linear layers. */
struct seen_narrow {
    bool head;            /* the product of the output is of 8 bits, too */
    bool gathers;         /* weights come in 8 bits */
    uint64_t wide_layers; /* that stay in 16 */
};
struct seen {
    uint64_t ranks, tp, pp, vpp, cp, dp, microbatch, global_batch, sequence, layers;
    unsigned stage;            /* of ZeRO */
    uint64_t copies;           /* of the sharded state among dp x cp ranks: hsdp */
    int recompute;             /* enum recompute; full is uniform, each layer by itself */
    uint64_t recompute_layers; /* of block, uniform; every_other_layer: one in so many */
    bool sequence_parallel;
    char precision[8]; /* "bf16" */
    struct seen_narrow narrow;
    uint64_t chunks[SEEN_CHUNKS]; /* layers of each, where the script gives them */
    bool chunks_given;
};
/* Runs scripts 0 .. count-1 of `folder` ("0.sh", ...); their arguments lie beside them then. */
void seen_run(const char *folder, unsigned count);
void seen_words(const char *folder, unsigned script, struct seen_words *out);
bool seen_has(const struct seen_words *w, const char *word);
/* The word behind `name`, or that behind NAME= where `name` ends so; NULL: it is not there. */
const char *seen_value(const struct seen_words *w, const char *name);
void seen_read(const struct launch_kind *kind, const struct seen_words *w, struct seen *out);

#endif
