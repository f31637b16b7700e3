#include "analysis/explain/walls_rows.h"

#include <math.h>

#include "sim/units.h"

const char *const walls_part_titles[WALLS_PART_COUNT] = {
    [WALLS_OF_MEMORY] = "Memory",
    [WALLS_OF_COMPUTE] = "Compute",
    [WALLS_OF_BUDGET] = "The token budget",
    [WALLS_OF_COMMUNICATION] = "Gradients over the wire",
    [WALLS_OF_INFERENCE] = "To infer, not to train",
};
const char *const walls_unit_names[] = {
    [WALLS_BYTES] = "B",       [WALLS_FLOP] = "FLOP", [WALLS_SECONDS] = "s",
    [WALLS_SHARE] = "1",       [WALLS_CARDS] = "",    [WALLS_GPU_YEARS] = "GPU-years",
    [WALLS_MONTHS] = "months", [WALLS_RATE] = "B/s",
};
/* Sequences of GPT-3 and of every model in arXiv:2205.05198, table 3. */
#define PAPER_SEQUENCE 2048.0

static double walls_state(const struct walls_envelope *e)
{
    return e->state_bytes_per_parameter * e->parameters;
}

static struct walls_shape paper_shape(const struct walls_envelope *e)
{
    struct walls_shape shape = e->shape;
    shape.sequence = PAPER_SEQUENCE;
    return shape;
}

static double walls_paper_kept(const struct walls_envelope *e)
{
    const struct walls_shape shape = paper_shape(e);
    return walls_kept_with_scores_bytes(&shape);
}

static double walls_paper_recomputed(const struct walls_envelope *e)
{
    const struct walls_shape shape = paper_shape(e);
    return walls_recomputed_bytes(&shape);
}

static double seconds_of(const struct walls_envelope *e, double tokens, double gpus)
{
    return walls_compute_s(walls_envelope_flops(e, tokens), gpus, e->peak_flops_per_s,
                           e->assumed.mfu_ratio);
}

static double walls_sequence_s(const struct walls_envelope *e)
{
    return seconds_of(e, e->shape.sequence, 1.0);
}

static double walls_step_s(const struct walls_envelope *e)
{
    return seconds_of(e, e->step_tokens, e->gpus);
}

static double walls_budget_s(const struct walls_envelope *e)
{
    return seconds_of(e, e->budget_tokens, e->gpus);
}

static double walls_reduced(const struct walls_envelope *e)
{
    return walls_all_reduce_bytes(walls_envelope_gradient_bytes(e), e->gpus);
}

static double walls_all_reduce_s(const struct walls_envelope *e)
{
    return walls_reduced(e) / e->assumed.bandwidth_bytes_per_s;
}

void walls_rows(const struct walls *walls, struct walls_row out[WALLS_ROW_COUNT])
{
    const struct walls_envelope *e = &walls->envelope;
    const struct walls_simulated *s = &walls->simulated;
    const struct walls_words *w = &walls->words;
    unsigned next = 0;
#define X(key, part, unit, what, formula, envelope, simulated)                                     \
    out[next++] = (struct walls_row){part, unit, #key, what, formula, envelope, simulated};
    WALLS_ROWS(X)
#undef X
}
