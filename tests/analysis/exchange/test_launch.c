/* Launch scripts, run: every layout comes back from the arguments that the frameworks would get, or
 * a note says what does not; a layout is refused exactly where a rule of the framework forbids it;
 * the worked layout has the flags that were composed by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/layout/configuration_split.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/analysis/exchange/launch_case.h"
#include "tests/analysis/exchange/launch_seen.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

enum {
    DRAWS = 3000,
    LAYOUTS = 400 /* of the draws that are legal, for each framework */
};

static void save(const char *folder, unsigned script, const struct launch_text *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%u.sh", folder, script);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t i = 0; i < text->line_count; i++)
        fprintf(file, "%s\n", text->lines[i]);
    assert_int_equal(fclose(file), 0);
}

/* The worked layout of each framework; options that stand apart are followed by their value. */
struct worked {
    const struct launch_kind *kind;
    const char *options;
};
static const struct worked worked[] = {
    {&launch_megatron,
     "--nnodes=64 --nproc-per-node=8 --rdzv-backend=c10d --num-layers=80 --hidden-size=8192 "
     "--ffn-hidden-size=28672 --num-attention-heads=64 --seq-length=8192 "
     "--max-position-embeddings=8192 --swiglu --disable-bias-linear "
     "--untie-embeddings-and-output-weights --bf16 --tensor-model-parallel-size=8 "
     "--sequence-parallel --pipeline-model-parallel-size=4 --micro-batch-size=1 "
     "--global-batch-size=512 --train-iters=100 --lr=1.5e-4 --group-query-attention "
     "--num-query-groups=8 --normalization=RMSNorm --position-embedding-type=rope "
     "--rotary-base=500000 --num-layers-per-virtual-pipeline-stage=5 --use-distributed-optimizer "
     "--overlap-grad-reduce --overlap-param-gather --recompute-granularity=selective "
     "--attention-backend=flash --save=checkpoints --save-interval=50 --async-save "
     "--use-persistent-ckpt-worker"},
    {&launch_torchtitan,
     "-m=torchtitan.train --model.name=llama3 --training.seq_len=8192 "
     "--training.local_batch_size=32 --training.global_batch_size=512 "
     "--parallelism.tensor_parallel_degree=8 --parallelism.pipeline_parallel_degree=4 "
     "--parallelism.pipeline_parallel_schedule=Interleaved1F1B "
     "--parallelism.pipeline_parallel_layers_per_stage=5 "
     "--parallelism.pipeline_parallel_first_stage_less_layers=0 "
     "--parallelism.pipeline_parallel_last_stage_less_layers=0 "
     "--parallelism.data_parallel_shard_degree=16"},
    {&launch_deepspeed,
     "--num-layers=80 --hidden-size=8192 --ffn-hidden-size=28672 --num-attention-heads=64 "
     "--num-key-value-heads=8 --normalization=rmsnorm --use-rotary-position-embeddings "
     "--rotary-position-embeddings-theta=500000 --deepspeed --zero-stage=1 --use-flash-attn-v2 "
     "--data-path=d --tokenizer-type=HFTokenizer --tokenizer-model=t "
     "--tensor-model-parallel-size=8 --pipeline-model-parallel-size=4 --bf16 "
     "--sequence-parallel --micro-batch-size=1 --global-batch-size=512"},
    {&launch_nemo, "--mode=pretrain -tp=8 -pp=4 -vp=4 -cp=1 -mb=1 -gb=512 -sl=8192 "
                   "model.sequence_parallel=true comm_overlap.tp_comm_overlap_cfg=null "
                   "model.recompute_granularity=selective checkpoint.save_interval=50 "
                   "checkpoint.async_save=true checkpoint.use_persistent_ckpt_worker=true"},
};

static void worked_layouts(void **state)
{
    char folder[256], options[2048];
    struct scenario *s = launch_case_read();
    sample_folder(folder, sizeof folder);
    for (unsigned i = 0; i < sizeof worked / sizeof worked[0]; i++) {
        struct launch_text text;
        static struct seen_words words;
        struct configuration c = s->configuration;
        if (worked[i].kind == &launch_deepspeed) { /* it does not interleave */
            c.layout.pipeline.vpp = 1;
            c.layout.pipeline.schedule = &schedule_one_f_one_b;
        }
        launch_write(worked[i].kind, &c, NULL, s->arena, &text);
        assert_false(text.refused);
        save(folder, 0, &text);
        seen_run(folder, 1);
        seen_words(folder, 0, &words);
        snprintf(options, sizeof options, "%s", worked[i].options);
        for (char *o = strtok(options, " "); o != NULL; o = strtok(NULL, " ")) {
            char *value = strchr(o, '=');
            if (seen_has(&words, o))
                continue;
            if (value == NULL)
                fail_msg("%s: no %s", worked[i].kind->head.name, o);
            *value = '\0';
            const char *got = seen_value(&words, o);
            if (got == NULL || strcmp(got, value + 1) != 0)
                fail_msg("%s: %s is %s, not %s", worked[i].kind->head.name, o,
                         got != NULL ? got : "missing", value + 1);
        }
    }
    scenario_destroy(s);
    sample_remove(folder);
}

/* The frameworks' rules that a layout can break which breaks none of Orrery's: restated here. */
static bool forbidden(const struct launch_kind *kind, const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    const uint64_t m = configuration_microbatches(c), replicas = l->dp * l->cp;
    const uint64_t shards = configuration_shards(c);
    const struct layout_pipeline *p = &l->pipeline;
    const uint64_t chunks = l->pp * p->vpp, layers = c->model.layers;
    bool no = p->vpp > 1 && l->pp == 2 && c->software.pipeline.blocking_interleaved;
    if (kind == &launch_deepspeed)
        return (l->pp > 1 && l->data.sharding->shards_gradients) ||
               c->model.attention.heads % (l->tp * l->cp) != 0;
    if (kind == &launch_nemo) /* the other order is the same where one of both has one rank */
        no = no || (l->data.sharding->shards_gradients && strcmp(l->order, "tp-cp-pp-dp") == 0 &&
                    l->pp > 1 && l->dp > 1);
    if (kind != &launch_torchtitan)
        return no;
    const bool copied = !l->data.sharding->shards_optimizer || shards == 1;
    no = c->training.sequence % (2 * l->tp * l->cp) != 0;
    no = no || (copied && l->dp > 1 && l->cp == 1 && l->tp * l->pp > 1);
    no = no || (l->data.sharding->hybrid && (shards % l->cp != 0 || replicas % shards != 0));
    no = no || (l->pipeline.vpp > 1 && m % (m / l->pp) != 0);
    if (p->vpp > 2 && layers % chunks != 0 && !(p->ends_count && (layers + 2) % chunks == 0)) {
        const uint64_t each = (layers + chunks - 1) / chunks;
        no = no || (layers + each - 1) / each != chunks;
    }
    return no;
}

/* What a framework lacks, so that it would hold more than was simulated or train something else:
 * of the keys that draws have. */
static bool lacks(const struct launch_kind *kind, const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    const char *precision = c->training.precision->head.name;
    const bool fp8 = strcmp(precision, "fp8") == 0, fp16 = strcmp(precision, "fp16") == 0;
    const int r = l->recompute;
    const bool over_context =
        l->cp > 1 && configuration_shards(c) <= l->cp && l->data.sharding->shards_optimizer;
    if (kind == &launch_torchtitan)
        return r == RECOMPUTE_MODULES || (fp8 && over_context) ||
               (r == RECOMPUTE_UNIFORM && l->recompute_layers > 1) ||
               (l->dp * l->cp > 1 && l->data.sharding->shards_weights && l->pp > 1) || fp16 ||
               (strcmp(precision, "fp32") != 0 && l->tp * l->pp > 1 && l->cp == 1 &&
                (!l->data.sharding->shards_optimizer || configuration_shards(c) == 1));
    const bool unnamed = r == RECOMPUTE_MODULES || r == RECOMPUTE_PER_OPERATOR;
    if (kind != &launch_deepspeed)
        return unnamed || (fp8 && !l->data.sharding->shards_optimizer);
    const struct layout_pipeline *p = &l->pipeline;
    const bool stages = p->ends_count || p->first_layers + p->last_layers > 0;
    return p->vpp > 1 || l->cp > 1 || fp8 || unnamed || (l->pp > 1 && stages) ||
           (l->pp > 1 && (r == RECOMPUTE_BLOCK || r == RECOMPUTE_EVERY_OTHER_LAYER));
}

static void want_recompute(struct seen *w, int kind, uint64_t layers)
{
    w->recompute = kind;
    w->recompute_layers = layers;
}

/* Megatron Core: uniform and block with any number of layers, and the attention core. */
static void core_wants(struct seen *w, const struct layout_spec *l, uint64_t most)
{
    switch (l->recompute) {
    case RECOMPUTE_FULL:
        want_recompute(w, RECOMPUTE_UNIFORM, 1);
        break;
    case RECOMPUTE_EVERY_OTHER_LAYER:
        want_recompute(w, RECOMPUTE_BLOCK, (most + 1) / 2);
        break;
    default:
        want_recompute(w, l->recompute, l->recompute_layers);
    }
}

/* PyTorch: by operator, and one layer in so many. */
static void titan_wants(struct seen *w, const struct layout_spec *l, uint64_t most)
{
    switch (l->recompute) {
    case RECOMPUTE_NONE:
    case RECOMPUTE_SELECTIVE:
        want_recompute(w, RECOMPUTE_NONE, 0);
        break;
    case RECOMPUTE_PER_OPERATOR:
        want_recompute(w, RECOMPUTE_PER_OPERATOR, 0);
        break;
    case RECOMPUTE_EVERY_OTHER_LAYER:
        want_recompute(w, RECOMPUTE_EVERY_OTHER_LAYER, 2);
        break;
    case RECOMPUTE_BLOCK:
        want_recompute(w, RECOMPUTE_EVERY_OTHER_LAYER, most / l->recompute_layers);
        if (w->recompute_layers == 1)
            want_recompute(w, RECOMPUTE_UNIFORM, 1);
        break;
    default:
        want_recompute(w, RECOMPUTE_UNIFORM, 1);
    }
}

/* Under DeepSpeed's pipeline whole layers, in groups of one size. */
static void deepspeed_wants(struct seen *w, const struct layout_spec *l, uint64_t most)
{
    core_wants(w, l, most);
    if (l->pp == 1)
        return;
    if (w->recompute == RECOMPUTE_SELECTIVE)
        want_recompute(w, RECOMPUTE_NONE, 0);
}

static uint64_t largest_chunk(const struct configuration *c)
{
    static uint32_t layers[SEEN_CHUNKS];
    uint64_t most = 0;
    configuration_split(c, layers);
    for (uint64_t i = 0; i < c->layout.pp * c->layout.pipeline.vpp; i++)
        most = layers[i] > most ? layers[i] : most;
    return most;
}

/* Is what comes back what was simulated? */
static bool same_recompute(const struct layout_spec *l, const struct seen *w)
{
    if (l->recompute == RECOMPUTE_FULL)
        return w->recompute == RECOMPUTE_UNIFORM && w->recompute_layers == 1;
    if (l->recompute == RECOMPUTE_EVERY_OTHER_LAYER)
        return w->recompute == l->recompute && w->recompute_layers == 2;
    return w->recompute == l->recompute && w->recompute_layers == l->recompute_layers;
}

/* What is to come back: the layout, but for what the framework does in its own way. */
static struct seen wanted(const struct launch_kind *kind, const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    struct seen w = {.ranks = l->tp * l->pp * l->cp * l->dp,
                     .tp = l->tp,
                     .pp = l->pp,
                     .vpp = l->pipeline.vpp,
                     .cp = l->cp,
                     .dp = l->dp,
                     .microbatch = l->microbatch,
                     .global_batch = c->training.global_batch,
                     .sequence = c->training.sequence,
                     .layers = c->model.layers,
                     .copies = 1,
                     .sequence_parallel = l->sequence_parallel && l->tp > 1};
    snprintf(w.precision, sizeof w.precision, "%s", c->training.precision->head.name);
    w.stage =
        l->data.sharding->shards_weights
            ? 3
            : (l->data.sharding->shards_gradients ? 2
                                                  : (l->data.sharding->shards_optimizer ? 1 : 0));
    if (l->data.sharding->hybrid)
        w.copies = l->dp * l->cp / configuration_shards(c);
    if (strcmp(w.precision, "fp8") == 0) /* the head is never of 8 bits */
        w.narrow = (struct seen_narrow){.gathers = l->data.sharding->shards_optimizer,
                                        .wide_layers = c->training.wide_layers_first +
                                                       c->training.wide_layers_last};
    if (kind == &launch_torchtitan) {
        w.sequence_parallel = l->tp > 1;
        titan_wants(&w, l, largest_chunk(c));
        w.copies = w.stage == 0 ? l->dp : w.copies;
        w.stage = w.stage == 1 || (w.stage == 0 && l->cp > 1) ? (w.stage == 1 ? 2 : 3) : w.stage;
    } else {
        core_wants(&w, l, largest_chunk(c));
    }
    if (kind == &launch_deepspeed)
        deepspeed_wants(&w, l, largest_chunk(c));
    return w;
}

/* What does not come back is told: the words of its note. */
static void assert_told(const struct launch_kind *kind, const struct configuration *c,
                        const struct seen *w, const struct launch_text *text)
{
    const struct layout_spec *l = &c->layout;
    const enum launch_weight differs = LAUNCH_DIFFERS;
    if (!same_recompute(l, w))
        assert_non_null(launch_case_note(text, differs, "recomput"));
    if (w->sequence_parallel != (l->sequence_parallel && l->tp > 1))
        assert_non_null(launch_case_note(text, differs, "equence parallelism"));
    if (kind == &launch_torchtitan && l->dp * l->cp > 1 && w->stage == 2)
        assert_non_null(launch_case_note(text, differs, "like ZeRO-2"));
    if (kind != &launch_torchtitan && l->pp > 1 &&
        strcmp(l->pipeline.schedule->head.name, "gpipe") == 0)
        assert_non_null(launch_case_note(text, differs, "gpipe is not offered"));
}

static void assert_seen(const struct launch_kind *kind, uint64_t draw,
                        const struct configuration *c, const struct seen *w, const struct seen *s)
{
    static uint32_t layers[SEEN_CHUNKS];
    bool same = s->ranks == w->ranks && s->tp == w->tp && s->pp == w->pp && s->vpp == w->vpp &&
                s->cp == w->cp && s->dp == w->dp && s->microbatch == w->microbatch &&
                s->global_batch == w->global_batch && s->sequence == w->sequence &&
                s->layers == w->layers && s->recompute == w->recompute &&
                s->recompute_layers == w->recompute_layers &&
                s->sequence_parallel == w->sequence_parallel &&
                strcmp(s->precision, w->precision) == 0 && s->narrow.head == w->narrow.head &&
                s->narrow.wide_layers == w->narrow.wide_layers;
    if (w->dp * w->cp > 1) /* else nothing is shared out */
        same = same && s->stage == w->stage && s->copies == w->copies;
    if (configuration_shards(c) > 1)
        same = same && s->narrow.gathers == w->narrow.gathers;
    configuration_split(c, layers);
    for (uint64_t i = 0; s->chunks_given && i < w->pp * w->vpp; i++)
        same = same && s->chunks[i] == layers[i];
    if (!same) {
        fail_msg(
            "%s, draw %d: tp %d pp %d vpp %d cp %d dp %d mb %d gb %d seq %d stage %d copies %d "
            "recompute %d sp %d %s layers %d narrow %d %d %d; wanted pp %d vpp %d dp %d stage %d "
            "copies %d "
            "recompute %d sp %d %s layers %d",
            kind->head.name, (int)draw, (int)s->tp, (int)s->pp, (int)s->vpp, (int)s->cp, (int)s->dp,
            (int)s->microbatch, (int)s->global_batch, (int)s->sequence, (int)s->stage,
            (int)s->copies, s->recompute, s->sequence_parallel, s->precision, (int)s->layers,
            s->narrow.head, s->narrow.gathers, (int)s->narrow.wide_layers, (int)w->pp, (int)w->vpp,
            (int)w->dp, (int)w->stage, (int)w->copies, w->recompute, w->sequence_parallel,
            w->precision, (int)w->layers);
    }
}

/* Writes the scripts of all draws that the framework takes; how many. */
static unsigned write_all(const struct launch_kind *kind, const struct scenario *s,
                          const char *folder, uint64_t *draws)
{
    unsigned count = 0, refused = 0;
    for (uint64_t draw = 0; draw < DRAWS && count < LAYOUTS; draw++) {
        struct configuration c = s->configuration;
        struct launch_text text;
        if (!launch_case_draw(draw, &c))
            continue;
        launch_write(kind, &c, NULL, s->arena, &text);
        /* Which splits of layers it can make is said by what comes back of the others. */
        const bool split = launch_case_note(&text, LAUNCH_REFUSED, "one by one") != NULL;
        if (text.refused != (split || forbidden(kind, &c) || lacks(kind, &c)))
            fail_msg("%s, draw %d: refused %d", kind->head.name, (int)draw, text.refused);
        refused += text.refused ? 1 : 0;
        if (text.refused) {
            assert_int_equal(text.line_count, 0);
            continue;
        }
        save(folder, count, &text);
        draws[count++] = draw;
    }
    assert_true(count >= 100);
    assert_true(refused > 20 || kind == &launch_megatron);
    return count;
}

static void every_layout_comes_back(void **state)
{
    static uint64_t draws[LAYOUTS];
    static struct seen_words words;
    struct scenario *s = launch_case_read();
    for (unsigned k = 0; k < launch_kind_count; k++) {
        char folder[256];
        sample_folder(folder, sizeof folder);
        const unsigned count = write_all(launch_kinds[k], s, folder, draws);
        seen_run(folder, count);
        for (unsigned i = 0; i < count; i++) {
            struct configuration c = s->configuration;
            struct launch_text text;
            assert_true(launch_case_draw(draws[i], &c));
            launch_write(launch_kinds[k], &c, NULL, s->arena, &text);
            const struct seen want = wanted(launch_kinds[k], &c);
            struct seen seen = {.layers = c.model.layers};
            seen_words(folder, i, &words);
            seen_read(launch_kinds[k], &words, &seen);
            assert_seen(launch_kinds[k], draws[i], &c, &want, &seen);
            assert_told(launch_kinds[k], &c, &want, &text);
        }
        sample_remove(folder);
    }
    scenario_destroy(s);
}

enum lack {
    LACK_OPTIMIZER,
    LACK_ADAPTER,
    LACK_SCHEDULE,
    LACK_RECOMPUTE,
    LACK_FORMATS,
    LACK_MASK,
    LACK_ACTIVATIONS,
    LACK_COUNT
};

static void want(enum lack lack, struct configuration *c)
{
    if (lack == LACK_OPTIMIZER)
        c->training.optimizer = optimizer_find("adafactor");
    if (lack == LACK_ADAPTER)
        c->training.adapter.kind = ADAPTER_LORA;
    if (lack == LACK_SCHEDULE)
        c->layout.pipeline.schedule = schedule_find("zb-h1");
    if (lack == LACK_RECOMPUTE)
        c->layout.recompute = RECOMPUTE_MODULES;
    if (lack == LACK_FORMATS)
        c->training.state_formats = (struct state_formats){.master = STATE_BF16};
    if (lack == LACK_MASK)
        c->training.causal = false;
    if (lack == LACK_ACTIVATIONS)
        c->layout.offload.activations = 0.5;
}

/* What none of them can do is refused, with a script it would train something else or hold more. */
static void lacks_are_refused(void **state)
{
    static const char *const words[LACK_COUNT] = {"the optimizer adafactor is not offered",
                                                  "this would train all weights",
                                                  "zb-h1 is not offered",
                                                  "ecomputation",
                                                  "state is kept in fp32",
                                                  "without a causal mask",
                                                  "stay on the cards"};
    struct scenario *s = launch_case_plain();
    for (unsigned k = 0; k < launch_kind_count; k++) {
        for (int lack = 0; lack < LACK_COUNT; lack++) {
            struct configuration c = s->configuration;
            struct launch_text text;
            launch_write(launch_kinds[k], &c, NULL, s->arena, &text);
            assert_false(text.refused);
            want((enum lack)lack, &c);
            launch_write(launch_kinds[k], &c, NULL, s->arena, &text);
            assert_true(text.refused);
            assert_int_equal(text.line_count, 0);
            if (launch_case_note(&text, LAUNCH_REFUSED, words[lack]) == NULL)
                fail_msg("%s does not refuse: %s", launch_kinds[k]->head.name, words[lack]);
        }
    }
    scenario_destroy(s);
}

/* Megatron's made-up tokenizer has one entry more than it is given, the end of a document: 128,256
 * in all, padded to 128 x 8, are 129,024. */
static void made_up_tokens_have_the_vocabulary(void **state)
{
    struct scenario *s = launch_case_read();
    struct launch_text text;
    bool found = false;
    launch_write(&launch_megatron, &s->configuration, NULL, s->arena, &text);
    for (uint32_t i = 0; i < text.line_count; i++)
        found = found || strstr(text.lines[i], "--vocab-size 128255)") != NULL;
    assert_true(found);
    assert_non_null(launch_case_note(&text, LAUNCH_YOURS, "padded to 129024"));
    scenario_destroy(s);
}

/* A name may hold anything; what reaches the script cannot leave its line, or be a command. */
static void hostile_names(void **state)
{
    static struct seen_words words;
    char folder[256];
    struct scenario *s = launch_case_plain();
    sample_folder(folder, sizeof folder);
    s->configuration.model.name = "x\ntouch owned; $(touch owned) `touch owned` \" ' ) #";
    static char long_name[5000];
    memset(long_name, 'n', sizeof long_name - 1);
    s->configuration.gpu.name = "\n)\ntouch owned\n(";
    s->configuration.software.name = long_name;
    s->configuration.software.version.framework = "c\nd";
    s->configuration.layout.order = "dp-tp-cp-pp";
    for (unsigned k = 0; k < launch_kind_count; k++) {
        struct launch_text text;
        launch_write(launch_kinds[k], &s->configuration, NULL, s->arena, &text);
        assert_false(text.refused);
        for (uint32_t i = 0; i < text.line_count; i++) {
            assert_null(strchr(text.lines[i], '\n'));
            assert_null(strstr(text.lines[i], "touch owned"));
        }
        for (uint32_t i = 0; i < text.note_count; i++)
            assert_null(strchr(text.notes[i].text, '\n'));
        assert_non_null(launch_case_note(&text, LAUNCH_DIFFERS, "simulated in the order"));
        save(folder, k, &text);
    }
    seen_run(folder, launch_kind_count);
    for (unsigned k = 0; k < launch_kind_count; k++) {
        seen_words(folder, k, &words);
        assert_true(words.count > 20);
    }
    scenario_destroy(s);
    sample_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_layouts),    cmocka_unit_test(every_layout_comes_back),
        cmocka_unit_test(lacks_are_refused), cmocka_unit_test(made_up_tokens_have_the_vocabulary),
        cmocka_unit_test(hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
