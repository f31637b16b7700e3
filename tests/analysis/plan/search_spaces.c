#include "tests/analysis/plan/search_spaces.h"

#include <stdio.h>
#include <string.h>

#include "analysis/plan/search/search_lead.h"
#include "models/plan/ladder.h"
#include "models/plan/plan_space.h"
#include "sim/list.h"
#include "tests/test.h"

const char *const space_texts[SPACE_COUNT] = {
    "model: {preset: gpt2-1.5b}\ncluster: {gpu: a100-40gb-sxm, gpus: 8}\n"
    "training: {sequence: 1024, global_batch: 16}\nsoftware: megatron\n",
    "model: {layers: 8, hidden: 4096, heads: 32, vocabulary: 32000}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 16}\n"
    "training: {sequence: 8192, global_batch: 16}\nsoftware: nemo\n",
    "model: {layers: 12, hidden: 5120, heads: 40, vocabulary: 32000}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 16}\n"
    "training: {sequence: 4096, global_batch: 32}\nsoftware: torchtitan\n",
    "model: {layers: 6, hidden: 4096, heads: 4, vocabulary: 64000}\n"
    "cluster: {gpu: h100-80gb-sxm, gpus: 4}\n"
    "training: {sequence: 16384, global_batch: 8}\nsoftware: deepspeed\n",
    "model: {layers: 16, hidden: 6144, heads: 48, vocabulary: 50000}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 32}\n"
    "training: {sequence: 2048, global_batch: 32}\nsoftware: megatron-2021\n",
    "model: {layers: 6, hidden: 2048, heads: 16, vocabulary: 32000, ffn_hidden: 5632,\n"
    "  experts: 8, experts_per_token: 2, moe_ffn_hidden: 5632}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 16}\n"
    "training: {sequence: 4096, global_batch: 16}\nsoftware: megatron\n",
    "model: {layers: 8, hidden: 2048, heads: 4, vocabulary: 32000, ffn_hidden: 5632,\n"
    "  experts: 4, experts_per_token: 2, moe_ffn_hidden: 5632, usual_schedule: dualpipe,\n"
    "  usual_recompute: modules, usual_dispatch: deepep}\n"
    "cluster: {gpu: a100-40gb-sxm, gpus: 4}\n"
    "training: {sequence: 4096, global_batch: 16}\n",
};

struct scenario *space_read(const char *text)
{
    const struct scenario_options how = {.layout_open = true};
    struct error error = {""};
    struct scenario *s = scenario_read("text", text, strlen(text), &how, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        scenario_print_problems(s, stderr, false);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

struct scenario *space_read_priced(unsigned space)
{
    const char *batch = strstr(space_texts[space], "global_batch");
    char text[640];
    snprintf(text, sizeof text, "%.*stokens: 1B, %scost: {gpu_hour: %gUSD}\n",
             (int)(batch - space_texts[space]), space_texts[space], batch, SPACE_GPU_HOUR_USD);
    return space_read(text);
}

size_t space_play(struct arena *arena, const struct configuration *base, unsigned held,
                  double usable_bytes, struct space_played **out)
{
    struct plan_layout *layouts = NULL;
    const uint32_t count = plan_space(arena, base, held, &layouts);
    struct space_played *all = NULL;
    uint32_t played = 0, room = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct search_row row = {.layout = layouts[i]};
        do {
            struct configuration c;
            struct search_leader leader;
            plan_layout_apply(base, &row.layout, &c);
            if (!configuration_legal(&c) ||
                !search_lead_play(base, &row, usable_bytes, NULL, &leader))
                continue;
            LIST_ROOM(arena, all, played, 1, room);
            all[played++] = (struct space_played){row, leader};
        } while (ladder_more(base, held, &row.layout));
    }
    for (uint32_t i = 0; i < played; i++)
        all[i].leader.row = &all[i].row;
    *out = all;
    return played;
}
