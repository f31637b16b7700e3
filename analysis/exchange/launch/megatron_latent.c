#include "analysis/exchange/launch/megatron_latent.h"

#include <inttypes.h>

/* Sparse attention, whose indexer learns from the chosen keys (NVIDIA/Megatron-LM
 * megatron/core/transformer/transformer_config.py, dsa_indexer_*). */
static void write_indexer(const struct model_shape *m, struct launch_text *text)
{
    const struct model_indexer *x = &m->latent.indexer;
    if (x->heads == 0)
        return;
    launch_option(text, "--experimental-attention-variant dsa");
    launch_option(text, "--dsa-indexer-n-heads %" PRIu64, x->heads);
    launch_option(text, "--dsa-indexer-head-dim %" PRIu64, x->size);
    launch_option(text, "--dsa-indexer-topk %" PRIu64, x->keys);
    if (x->interval > 1) {
        launch_option(text, "--dsa-indexer-topk-freq %" PRIu64, x->interval);
        launch_option(text, "--dsa-indexer-skip-topk-offset %" PRIu64, x->first);
        launch_say(text, LAUNCH_YOURS,
                   "shared indexers need a release whose transformer_config.py has "
                   "dsa_indexer_topk_freq");
    }
    launch_option(text, "--dsa-indexer-use-sparse-loss");
    launch_option(text, "--dsa-indexer-loss-coeff 0.001");
    launch_option(text, "--no-rope-fusion");
    launch_say(text, LAUNCH_YOURS,
               "the weight of the indexer's loss (--dsa-indexer-loss-coeff) is yours");
    launch_say(text, LAUNCH_DIFFERS,
               "sparse attention was simulated with fused kernels in the latent: which of them "
               "run (--dsa-kernel-backend) depends on the release and on what is installed");
}

void megatron_latent(const struct model_shape *m, struct launch_text *text)
{
    if (m->latent.kv_rank == 0)
        return;
    launch_option(text, "--multi-latent-attention");
    if (!m->norm.qk_norms) /* without it gpt_layer_specs.py builds no norms of the latents */
        launch_option(text, "--qk-layernorm");
    launch_option(text, "--kv-lora-rank %" PRIu64, m->latent.kv_rank);
    if (m->latent.q_rank > 0)
        launch_option(text, "--q-lora-rank %" PRIu64, m->latent.q_rank);
    launch_option(text, "--qk-head-dim %" PRIu64, m->attention.head_size);
    launch_option(text, "--qk-pos-emb-head-dim %" PRIu64, m->latent.rope_head_size);
    launch_option(text, "--v-head-dim %" PRIu64, m->latent.v_head_size);
    write_indexer(m, text);
}
