/* What a stage has allocated before its first step. */
#include "models/lower/stage/lower_setup.h"

#include "models/lower/plan/lower_held.h"

static void setup_weights(const struct setup *s)
{
    const struct model_shape *m = &s->l->c->model;
    for (uint32_t i = 0; i < s->units->count; i++) {
        const struct lowered_unit *u = &s->units->rows[i];
        const char *site = "model construction";
        if (u->layer != UINT16_MAX)
            site = arena_format(s->l->arena, "model construction, layer %u of %u",
                                (unsigned)u->layer + 1, (unsigned)(m->layers + m->mtp_layers));
        const char *name = arena_format(s->l->arena, "%s weights", u->block->name);
        lower_tensors_setup(
            s->tensors,
            (struct tensor){TENANT_WEIGHTS, 0, lower_held_weight_bytes(s->l, u), name, 0}, site,
            u->layer);
    }
}

/* One flat buffer for all gradients that this rank accumulates, and one for the 16-bit ones that
 * some software keeps beside it. */
static void setup_gradients(const struct setup *s)
{
    const struct configuration *c = s->l->c;
    const double elements = lower_units_elements(s->units, s->l->data.shares.gradients);
    double whole = 0.0;
    for (uint32_t i = 0; i < s->units->count; i++)
        whole += s->units->rows[i].held + s->units->rows[i].experts;
    if (c->software.data.gradients == GRADIENT_BUFFER) {
        lower_tensors_setup(s->tensors,
                            (struct tensor){TENANT_GRADIENTS, 0, elements * s->l->data.kept_bytes,
                                            "gradient buffer", 0},
                            "gradient buffer construction", UINT16_MAX);
    }
    if (c->software.data.gradient_copy && !lower_data_plan_scatters(&s->l->data)) {
        lower_tensors_setup(s->tensors,
                            (struct tensor){TENANT_GRADIENTS, 0,
                                            whole * c->training.precision->gradient_bytes,
                                            "gradient buckets", 0},
                            "gradient buffer construction", UINT16_MAX);
    }
}

/* Parameter gathers and gradient reductions share a communicator, and so do all pipeline pairs: who
 * gathers also reduces, and who receives from a neighbour also sends to it. */
static void setup_communicators(const struct setup *s)
{
    static const struct {
        const char *name;
        uint32_t streams;
    } kinds[] = {
        {"tensor-parallel communicator", 1u << STREAM_TP},
        {"context-parallel communicator", 1u << STREAM_CP},
        {"context-parallel communicator of heads", 1u << STREAM_CP_HEADS},
        {"expert-parallel communicator", 1u << STREAM_EP},
        {"data-parallel communicator", 1u << STREAM_DP},
        {"data-parallel communicator of experts", 1u << STREAM_EP_DATA},
        {"replica communicator", 1u << STREAM_REPLICATE},
        {"replica communicator of experts", 1u << STREAM_EP_REPLICATE},
        {"embedding communicator", 1u << STREAM_EMBED},
        {"world communicator", 1u << STREAM_WORLD},
        {"pipeline communicator", 1u << STREAM_SEND_NEXT | 1u << STREAM_SEND_PREV},
    };
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (s->streams & kinds[i].streams)
            lower_tensors_setup(s->tensors,
                                (struct tensor){TENANT_COMMUNICATION, 0,
                                                s->l->c->software.memory.communicator_bytes,
                                                kinds[i].name, LEDGER_OUTSIDE},
                                "communicator construction", UINT16_MAX);
    }
}

static void setup_optimizer(const struct setup *s)
{
    const struct training_spec *t = &s->l->c->training;
    const char *site = "optimizer construction";
    const double master_bytes = s->l->data.state.master_bytes;
    for (uint32_t i = 0; i < s->units->count && master_bytes > 0.0; i++) {
        const struct lowered_unit *u = &s->units->rows[i];
        lower_tensors_setup(s->tensors,
                            (struct tensor){TENANT_MASTER, 0, lower_held_master_bytes(s->l, u),
                                            "master weights", 0},
                            site, u->layer);
    }
    if (s->l->c->software.memory.build != BUILD_EAGER)
        return;
    for (unsigned k = 0; k < t->optimizer->moment_count; k++) {
        const struct moment *m = &t->optimizer->moments[k];
        for (uint32_t i = 0; i < s->units->count; i++) {
            const struct lowered_unit *u = &s->units->rows[i];
            lower_tensors_setup(
                s->tensors,
                (struct tensor){TENANT_MOMENTS, 0, lower_held_moment_bytes(s->l, u, k), m->name, 0},
                site, u->layer);
        }
    }
}

void lower_setup(const struct setup *s)
{
    lower_tensors_setup(s->tensors,
                        (struct tensor){TENANT_CONTEXT, 0, s->l->c->gpu.hbm.context_bytes,
                                        "CUDA context", LEDGER_OUTSIDE},
                        "process start", UINT16_MAX);
    setup_weights(s);
    setup_gradients(s);
    setup_communicators(s);
    setup_optimizer(s);
}
