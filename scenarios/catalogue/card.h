/* card.h - is the card that a file of another program names the catalogue's card that is meant?
 *
 * The one place that compares them: for traces, outputs of nccl-tests, matrices of NVLinks, and
 * profiles. A card of the catalogue is known by its chip, the first word of its entry's name
 * (h100-80gb-sxm: H100, which is neither H100L nor GH200), and by the words of that name, of its
 * `socket` and of the names in its `identity`: sizes of memory, kinds of it and form factors, as
 * drivers print them ("NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"). A word of such a class that the
 * entry does not have, where it has another of that class, contradicts; words of no class ("AMD
 * Instinct", "VF", "PG509") say nothing. A name without that chip, which the entry's
 * `identity` does not list either, is of another card if one of its words tells cards apart
 * ("A800", "L4", "3090"); else ("Graphics Device"), and for an entry without `identity`, it is of
 * none that is known. Memory, SMs, NVLinks and compute capability are compared
 * where the file tells them. `identity` is {names: [...], nvlinks: N, compute_capability: 9.0},
 * each of which may be left out. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_CARD_H
#define ORRERY_SCENARIOS_CATALOGUE_CARD_H

#include "scenarios/catalogue/catalogue.h"

/* What a file tells of the card that it is of. "" and 0: not told. */
struct card_told {
    const char *name;    /* as its driver prints it */
    double memory_bytes; /* all of it */
    unsigned sm_count;
    unsigned nvlinks;    /* of one GPU, that the file counts; at least */
    bool nvlinks_all;    /* and it has no others: they go to a switch */
    unsigned capability; /* 90 for compute capability 9.0 */
};
enum card_match {
    CARD_FITS,    /* nothing contradicts; perhaps nothing was told */
    CARD_DIFFERS, /* it is another card */
    CARD_UNKNOWN  /* the name tells no card, or `gpu` is none of the catalogue */
};
/* Compares with the entry `gpu`. `why` is a part of a sentence unless it fits: "'NVIDIA H200'
 * (h200-141gb-sxm in the catalogue) is not h100-80gb-sxm". An `identity` that is not as above is
 * reported to the catalogue's problems and counts as not there. */
enum card_match card_compare(struct catalogue *catalogue, const char *gpu,
                             const struct card_told *told, struct error *why);
/* The chip of the catalogue that stands in `text`, also inside of a word ("4xDGXH100": h100), where
 * no longer one does (gb200, not b200) and no digit follows; that of `gpu` before others. It lives
 * in the catalogue's arena; NULL: none. */
const char *card_chip_within(struct catalogue *catalogue, const char *text, const char *gpu);

#endif
