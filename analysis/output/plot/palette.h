/* palette.h - THE colours of pictures and of the page: a row for each thing that is drawn, by group
 * and word as the database has it.
 *
 * Within a group any two colours are told apart by every kind of eye and in grey: 10 steps of
 * lightness, each 7 or more of CIELAB's L from the next (a test computes both). What is light
 * stands out from paper by its outline. Nothing, idle time for one, is hatched: it has no colour.
 * Curves take the darker plot_colour of plot.h. */
#ifndef ORRERY_ANALYSIS_OUTPUT_PLOT_PALETTE_H
#define ORRERY_ANALYSIS_OUTPUT_PLOT_PALETTE_H

#define PALETTE_NIGHT "#1e0634"
#define PALETTE_INK "#193533"
#define PALETTE_PURPLE "#622b7f"
#define PALETTE_BLUE "#2c47c4"
#define PALETTE_BRICK "#b64b37"
#define PALETTE_TEAL "#259086"
#define PALETTE_LAVENDER "#a184f0"
#define PALETTE_AMBER "#e49d22"
#define PALETTE_PINK "#e8adee"
#define PALETTE_MINT "#7eef88"
#define PALETTE_MIST "#d7eedf"
/* A limit, and what is past it. */
#define PALETTE_ALARM "#c1121f"

/* X(group, word, colour): NULL is hatched. */
#define PALETTE_ROWS(X)                                                                            \
    X(phase, forward, PALETTE_BLUE)                                                                \
    X(phase, backward, PALETTE_AMBER)                                                              \
    X(phase, recompute, PALETTE_BRICK)                                                             \
    X(phase, gradients, PALETTE_PURPLE)                                                            \
    X(phase, optimizer, PALETTE_TEAL)                                                              \
    X(phase, parameters, PALETTE_LAVENDER)                                                         \
    X(phase, idle, NULL)                                                                           \
    X(tenant, weights, PALETTE_BLUE)                                                               \
    X(tenant, gradients, PALETTE_PURPLE)                                                           \
    X(tenant, master, PALETTE_INK)                                                                 \
    X(tenant, moments, PALETTE_TEAL)                                                               \
    X(tenant, activations, PALETTE_AMBER)                                                          \
    X(tenant, temporary, PALETTE_BRICK)                                                            \
    X(tenant, communication, PALETTE_LAVENDER)                                                     \
    X(tenant, context, PALETTE_MIST)                                                               \
    X(tenant, fragmentation, NULL)                                                                 \
    X(part, straggler, PALETTE_MINT)                                                               \
    X(part, compute, PALETTE_BLUE)                                                                 \
    X(part, recompute, PALETTE_BRICK)                                                              \
    X(part, exposed_tp, PALETTE_AMBER)                                                             \
    X(part, exposed_cp, PALETTE_PINK)                                                              \
    X(part, exposed_ep, PALETTE_MIST)                                                              \
    X(part, bubble, NULL)                                                                          \
    X(part, exposed_pp, PALETTE_LAVENDER)                                                          \
    X(part, exposed_dp, PALETTE_PURPLE)                                                            \
    X(part, offload, PALETTE_NIGHT)                                                                \
    X(part, optimizer, PALETTE_TEAL)                                                               \
    X(part, host, PALETTE_INK)                                                                     \
    X(badput, useful, PALETTE_BLUE)                                                                \
    X(badput, checkpoint, PALETTE_TEAL)                                                            \
    X(badput, lost_work, PALETTE_BRICK)                                                            \
    X(badput, detect, PALETTE_AMBER)                                                               \
    X(badput, restart, PALETTE_PURPLE)                                                             \
    X(badput, wait, PALETTE_LAVENDER)                                                              \
    X(badput, degraded, PALETTE_PINK)                                                              \
    X(badput, maintenance, PALETTE_MIST)                                                           \
    X(load, fifth, "#e8edf9")                                                                      \
    X(load, two_fifths, "#b4c2f0")                                                                 \
    X(load, three_fifths, "#7f96e6")                                                               \
    X(load, four_fifths, PALETTE_BLUE)                                                             \
    X(load, full, "#14205c")

struct palette_row {
    const char *group, *word, *colour;
};
extern const struct palette_row palette_rows[];
extern const unsigned palette_row_count;
/* NULL, hatched, also for a word that has no row. */
const char *palette_colour(const char *group, const char *word);

#endif
