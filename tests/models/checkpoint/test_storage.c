/* storage: times of writes and reads against closed forms, what is spread over whom, what is
 * refused. */
#include <math.h>
#include <string.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "models/checkpoint/storage.h"
#include "models/layout/layout.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

#define BYTES 14.0

/* Sixteen ranks on two nodes of eight cards, a NIC each: 25 GB/s of PCIe, 10 GB/s of NIC. */
static struct configuration job(uint64_t tp, uint64_t dp, uint64_t pp)
{
    struct configuration c = lower_case();
    lower_case_size(&c, tp, 1, dp, pp, 2);
    c.layout.data.sharding = &sharding_zero_1;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options = (struct kind_options){{32, 1}}; /* nodes for each leaf */
    c.cluster.node.pcie.bytes_per_s = 25 * GIGA;
    c.cluster.node.nic.bytes_per_s = 10 * GIGA;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.efficiency_ratio = 1.0;
    return c;
}

static double all_bytes(const struct configuration *c)
{
    return transformer_parameters(&c->model, c->training.sequence) * BYTES;
}

static struct storage_time play(const struct configuration *c, const struct storage_tier *tier,
                                enum storage_op op)
{
    struct storage_time out;
    storage_play(c, &(struct storage_access){tier, op, BYTES}, &out);
    return out;
}

static void assert_close(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected))) {
        print_error("%.17g, not %.17g\n", got, expected);
        fail();
    }
}

static void test_bytes_per_parameter(void **state)
{
    struct configuration c = job(2, 8, 1);
    assert_true(storage_bytes_per_parameter(&c) == 2 + 4 + 8); /* weight, master, two moments */
    c.training.precision = precision_find("fp32");
    assert_true(storage_bytes_per_parameter(&c) == 4 + 8);
    c.training.precision = precision_find("bf16");
    c.training.optimizer = optimizer_find("sgd");
    assert_true(storage_bytes_per_parameter(&c) == 2 + 4);
    c.software.shards.weights_are_master = true; /* where they are shards that are gathered */
    assert_true(storage_bytes_per_parameter(&c) == 2 + 4);
    c.layout.data.sharding = &sharding_fsdp;
    assert_true(storage_bytes_per_parameter(&c) == 4);
    c.training.optimizer = optimizer_find("adamw");
    assert_true(storage_bytes_per_parameter(&c) == 4 + 8);
    c.training.precision = precision_find("fp32"); /* of one format */
    assert_true(storage_bytes_per_parameter(&c) == 4 + 8);
}

static unsigned count_writers(const double *bytes, uint64_t ranks)
{
    unsigned writers = 0;
    for (uint64_t i = 0; i < ranks; i++)
        writers += bytes[i] > 0.0;
    return writers;
}

/* Replicas write once: all ranks that hold shards of one copy, and no other. */
static void test_who_writes(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = job(2, 4, 2);
    double *bytes;
    assert_close(storage_shards(&c, BYTES, arena, &bytes), all_bytes(&c));
    assert_int_equal(count_writers(bytes, 16), 16);
    c.layout.data.sharding = &sharding_zero_0;
    assert_close(storage_shards(&c, BYTES, arena, &bytes), all_bytes(&c));
    assert_int_equal(count_writers(bytes, 16), 4);
    assert_true(bytes[0] > 0.0 && bytes[2] == 0.0); /* rank 2 is the second replica of rank 0 */
    c = job(2, 8, 1);
    c.layout.data.sharding = &sharding_hsdp;
    c.layout.data.shard_group = 4;
    assert_close(storage_shards(&c, BYTES, arena, &bytes), all_bytes(&c));
    assert_int_equal(count_writers(bytes, 16), 8);
    assert_true(bytes[7] > 0.0 && bytes[8] == 0.0); /* the second copy begins at rank 8 */
    arena_destroy(arena);
}

/* Each stage writes its own layers; the first the embedding, the last the norm and the head. */
static void test_stages(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = job(2, 2, 4);
    c.model.layers = 10; /* 3 3 2 2 */
    double *bytes, layer = transformer_layer_parameters(&c.model, 0) * BYTES / 4;
    storage_shards(&c, BYTES, arena, &bytes);
    assert_close(bytes[0], 3 * layer + transformer_embedding_parameters(&c.model, 128) * BYTES / 4);
    assert_close(bytes[4], 3 * layer);
    assert_close(bytes[8], 2 * layer);
    assert_close(bytes[12], 2 * layer + transformer_final_parameters(&c.model) * BYTES / 4);
    c.model.mtp_layers = 1; /* a layer, 2 h h and three norms more, of embedding and head no copy */
    storage_shards(&c, BYTES, arena, &bytes);
    assert_close(bytes[8], 2 * layer);
    assert_close(bytes[12], 2 * layer + (transformer_final_parameters(&c.model) +
                                         transformer_prediction_parameters(&c.model)) *
                                            BYTES / 4);
    arena_destroy(arena);
}

/* Interleaved chunks go round the stages: each stage has two layers of its first
 * chunk and one of its second. */
static void test_interleaved_stages(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = job(2, 4, 2);
    c.layout.pipeline.vpp = 2;
    c.model.layers = 6; /* 2 2 1 1 */
    double *bytes, layer = transformer_layer_parameters(&c.model, 0) * BYTES / 8;
    storage_shards(&c, BYTES, arena, &bytes);
    assert_close(bytes[0], 3 * layer + transformer_embedding_parameters(&c.model, 128) * BYTES / 8);
    assert_close(bytes[8], 3 * layer + transformer_final_parameters(&c.model) * BYTES / 8);
    arena_destroy(arena);
}

static void test_client_cap(void **state)
{
    struct configuration c = job(2, 8, 1);
    struct storage_tier tier = {
        .name = "t", .client_write_bytes_per_s = 1e6, .client_read_bytes_per_s = 2e6, .copies = 1};
    struct storage_time t = play(&c, &tier, STORAGE_WRITE);
    assert_close(t.seconds, all_bytes(&c) / 16 / 1e6);
    assert_close(t.bytes, all_bytes(&c));
    assert_true(t.nic_bytes_per_s == 0.0);
    assert_close(play(&c, &tier, STORAGE_READ).seconds, all_bytes(&c) / 16 / 2e6);
}

static void test_node_cap(void **state)
{
    struct configuration c = job(2, 8, 1);
    struct storage_tier tier = {
        .name = "t", .node_write_bytes_per_s = 3e6, .node_read_bytes_per_s = 6e6, .copies = 1};
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, all_bytes(&c) / 2 / 3e6);
    assert_close(play(&c, &tier, STORAGE_READ).seconds, all_bytes(&c) / 2 / 6e6);
    /* Without sharding one rank of each tensor place writes: both stand on the first node. */
    c.layout.data.sharding = &sharding_zero_0;
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, all_bytes(&c) / 3e6);
    /* ... and all read all of theirs: eight copies. */
    assert_close(play(&c, &tier, STORAGE_READ).seconds, 8 * all_bytes(&c) / 2 / 6e6);
    assert_close(play(&c, &tier, STORAGE_READ).bytes, 8 * all_bytes(&c));
}

static void test_total_cap(void **state)
{
    struct configuration c = job(2, 8, 1);
    struct storage_tier tier = {
        .name = "t", .total_write_bytes_per_s = 5e6, .total_read_bytes_per_s = 4e6, .copies = 1};
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, all_bytes(&c) / 5e6);
    assert_close(play(&c, &tier, STORAGE_READ).seconds, all_bytes(&c) / 4e6);
    tier.latency_s = 0.25;
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, all_bytes(&c) / 5e6 + 0.25);
}

/* Two stages of unlike size under a total cap: equal shares until the smaller shards are written,
 * then the larger ones share what is there, each up to its client's cap. */
static void test_slowest_rank(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = job(2, 4, 2);
    c.model.layers = 3; /* 2 1 */
    double *bytes, total = 8e6, client = 0.6e6;
    storage_shards(&c, BYTES, arena, &bytes);
    double large = bytes[0], small = bytes[8];
    assert_true(large > small);
    struct storage_tier tier = {.name = "t", .total_write_bytes_per_s = total, .copies = 1};
    double equal = 16 * small / total;
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, equal + (large - small) / (total / 8));
    tier.client_write_bytes_per_s = client; /* above a sixteenth of the total, below an eighth */
    double seconds[16];
    struct storage_time t;
    storage_play_ranks(&c, &(struct storage_access){&tier, STORAGE_WRITE, BYTES}, false, seconds,
                       &t);
    assert_close(t.seconds, equal + (large - small) / client);
    assert_close(seconds[8], equal);
    assert_true(seconds[0] == t.seconds && seconds[7] == t.seconds);
    arena_destroy(arena);
}

/* Of several caps the narrowest counts, wherever it stands. */
static void test_mixed_caps(void **state)
{
    struct configuration c = job(2, 8, 1);
    for (unsigned narrow = 0; narrow < 3; narrow++) {
        double rate[3] = {1e6, 8e6, 16e6}; /* of a client, a node, all: alike */
        rate[narrow] /= 3;
        struct storage_tier tier = {.name = "t",
                                    .client_write_bytes_per_s = rate[0],
                                    .node_write_bytes_per_s = rate[1],
                                    .total_write_bytes_per_s = rate[2],
                                    .copies = 1};
        assert_close(play(&c, &tier, STORAGE_WRITE).seconds, all_bytes(&c) / 16 / 1e6 * 3);
    }
}

/* PCIe bounds what no cap of the tier does; a snapshot meets nothing else. */
static void test_pcie(void **state)
{
    struct configuration c = job(2, 8, 1);
    double expected = all_bytes(&c) / 16 / (25 * GIGA);
    struct storage_tier tier = {
        .name = "t", .node_write_bytes_per_s = 1e3, .latency_s = 9, .copies = 1};
    assert_close(play(&c, &tier, STORAGE_SNAPSHOT).seconds, expected);
    assert_close(play(&c, NULL, STORAGE_SNAPSHOT).seconds, expected);
    tier = (struct storage_tier){.name = "t", .copies = 1};
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, expected);
    /* A single node has no PCIe links in its graph, but its slots all the same. */
    c = job(2, 4, 1);
    assert_int_equal(c.cluster.nodes, 1);
    assert_close(play(&c, NULL, STORAGE_SNAPSHOT).seconds, all_bytes(&c) / 8 / (25 * GIGA));
}

/* Four cards below a PCIe switch share its link to the CPUs. */
static void test_host_links(void **state)
{
    struct configuration c = job(2, 8, 1);
    c.cluster.node.kind = &topology_pcie;
    c.cluster.node.options = (struct kind_options){.value = {4, 1}};
    c.cluster.node.pcie.host_bytes_per_s = 30 * GIGA;
    assert_close(play(&c, NULL, STORAGE_SNAPSHOT).seconds, all_bytes(&c) / 4 / (30 * GIGA));
    c.cluster.node.options.value[0] = 8; /* one switch: no link above it is wired */
    assert_close(play(&c, NULL, STORAGE_SNAPSHOT).seconds, all_bytes(&c) / 16 / (25 * GIGA));
}

static void test_nics(void **state)
{
    struct configuration c = job(2, 8, 1);
    struct storage_tier tier = {.name = "t", .path = STORAGE_NIC, .copies = 1};
    struct storage_time t = play(&c, &tier, STORAGE_WRITE);
    assert_close(t.seconds, all_bytes(&c) / 16 / (10 * GIGA));
    assert_close(t.nic_bytes_per_s, 10 * GIGA);
    t = play(&c, &tier, STORAGE_WRITE_BEHIND); /* training is left half */
    assert_close(t.seconds, all_bytes(&c) / 16 / (5 * GIGA));
    assert_close(t.nic_bytes_per_s, 5 * GIGA);
    tier.client_write_bytes_per_s = 1 * GIGA; /* a cap below that is not changed by it */
    t = play(&c, &tier, STORAGE_WRITE_BEHIND);
    assert_close(t.seconds, all_bytes(&c) / 16 / (1 * GIGA));
    assert_close(t.nic_bytes_per_s, 1 * GIGA);
    tier.client_write_bytes_per_s = 0;
    c.cluster.node.nic.count = 2; /* four cards share one */
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, all_bytes(&c) / 4 / (10 * GIGA));
    assert_close(play(&c, &tier, STORAGE_READ).seconds, all_bytes(&c) / 4 / (10 * GIGA));
    tier.latency_s = t.seconds; /* its mean load falls by the time that nothing moves */
    t = play(&c, &tier, STORAGE_WRITE);
    assert_close(t.nic_bytes_per_s, all_bytes(&c) / 4 / t.seconds);
}

/* Two NICs of a node: neighbours share one. The four ranks of the larger stage stand first, so its
 * NIC carries all of theirs. */
static void test_neighbours_share_a_nic(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = job(2, 2, 4);
    struct storage_tier tier = {.name = "t", .path = STORAGE_NIC, .copies = 1};
    double *bytes;
    c.model.layers = 7; /* 2 2 2 1; two stages on each node */
    c.cluster.node.nic.count = 2;
    storage_shards(&c, BYTES, arena, &bytes);
    double seconds[16];
    struct storage_time t;
    storage_play_ranks(&c, &(struct storage_access){&tier, STORAGE_WRITE, BYTES}, false, seconds,
                       &t);
    for (unsigned stage = 0; stage < 4; stage++)
        assert_close(seconds[4 * stage], 4 * bytes[4 * stage] / (10 * GIGA));
    assert_true(seconds[8] > 1.01 * seconds[12]);
    arena_destroy(arena);
}

/* The mean load told is that of the NIC that moves most, here the last of the last node: its stage
 * holds a norm beside what the first holds. It is done last; the mean is over all of
 * the write, the time without bytes included. */
static void test_busiest_nic(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = job(2, 2, 4);
    struct storage_tier tier = {.name = "t", .path = STORAGE_NIC, .copies = 3, .latency_s = 1e-3};
    double *bytes, seconds[16];
    c.cluster.node.nic.count = 2;
    storage_shards(&c, BYTES, arena, &bytes);
    assert_true(bytes[12] > bytes[0] && bytes[0] > bytes[4]);
    struct storage_time t;
    storage_play_ranks(&c, &(struct storage_access){&tier, STORAGE_WRITE, BYTES}, false, seconds,
                       &t);
    assert_close(t.seconds, 1e-3 + 3 * 4 * bytes[12] / (10 * GIGA));
    assert_close(t.nic_bytes_per_s, 3 * 4 * bytes[12] / t.seconds);
    assert_close(seconds[0], 1e-3 + 3 * 4 * bytes[0] / (10 * GIGA));
    arena_destroy(arena);
}

/* A card whose slot is worn writes slower, and nobody else: by the link to its NIC, or to its PCIe
 * switch; a slot is no narrower for another kind of link that wears. */
static void test_degraded_slot(void **state)
{
    static const struct node_and_kind {
        const struct topology_kind *node;
        enum link_kind worn;
        bool slower;
    } cases[] = {{&topology_nvlink_island, LINK_PCIE, true},
                 {&topology_nvlink_island, LINK_NVLINK, false},
                 {&topology_pcie, LINK_PCIE, true}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct configuration c = job(2, 8, 1);
        struct storage_tier tier = {.name = "t", .copies = 1};
        struct perturbation worn = {PERTURB_LINK, 11, 0.5, (int)cases[i].worn};
        c.cluster.node.kind = cases[i].node;
        c.cluster.node.options = (struct kind_options){.value = {4, 1}};
        c.cluster.node.pcie.host_bytes_per_s = 200 * GIGA;
        c.perturbations = &worn;
        c.perturbation_count = 1;
        double seconds[16], shard = all_bytes(&c) / 16;
        struct storage_time t;
        storage_play_ranks(&c, &(struct storage_access){&tier, STORAGE_WRITE, BYTES}, false,
                           seconds, &t);
        for (unsigned rank = 0; rank < 16; rank++) {
            double left = rank == 11 && cases[i].slower ? 0.5 : 1.0;
            assert_close(seconds[rank], shard / (left * 25 * GIGA));
        }
    }
}

static void test_single_node_nics(void **state)
{
    struct configuration c = job(2, 4, 1);
    struct storage_tier tier = {.name = "t", .path = STORAGE_NIC, .copies = 1};
    c.cluster.node.nic.count = 2;
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, all_bytes(&c) / 2 / (10 * GIGA));
}

static void test_copies(void **state)
{
    struct configuration c = job(2, 8, 1);
    struct storage_tier tier = {.name = "t", .path = STORAGE_NIC, .memory = true, .copies = 1};
    struct storage_time one = play(&c, &tier, STORAGE_WRITE);
    struct storage_time read = play(&c, &tier, STORAGE_READ);
    tier.copies = 3;
    assert_close(play(&c, &tier, STORAGE_WRITE).seconds, 3 * one.seconds);
    assert_close(play(&c, &tier, STORAGE_WRITE).bytes, 3 * one.bytes);
    assert_close(play(&c, &tier, STORAGE_READ).seconds, read.seconds); /* one is read */
}

/* Two degraded NICs, told after a slow card which is nothing to them, delay their own ranks, and
 * with them the write; no other rank. */
static void test_degraded_nic(void **state)
{
    struct configuration c = job(2, 8, 1);
    struct storage_tier tier = {.name = "t", .path = STORAGE_NIC, .copies = 1};
    struct perturbation weak[] = {{.what = PERTURB_GPU_SPEED, .gpu = 3, .ratio = 0.5},
                                  {PERTURB_LINK, 9, 0.25, LINK_NIC},
                                  {PERTURB_LINK, 2, 0.5, LINK_NIC}};
    c.perturbations = weak;
    c.perturbation_count = 3;
    double seconds[16], shard = all_bytes(&c) / 16;
    struct storage_time t;
    storage_play_ranks(&c, &(struct storage_access){&tier, STORAGE_WRITE, BYTES}, false, seconds,
                       &t);
    for (unsigned rank = 0; rank < 16; rank++) {
        double left = rank == 9 ? 0.25 : rank == 2 ? 0.5 : 1.0;
        assert_close(seconds[rank], shard / (left * 10 * GIGA));
    }
    assert_true(t.seconds == seconds[9]);
}

/* BLOOM 176B on 48 nodes of eight A100: tp 4, pp 12, dp 8, ZeRO-1, embedding and head counted as
 * layers; a checkpoint of 2.3 TB (bigscience train/tr11-176B-ml/README.md), written by 384
 * processes in 40 s (S. Bekman, Machine Learning Engineering, Storage). Our state has that size to
 * 8 %, and the file system, at the rate that this says, takes that time. */
static void test_bloom(void **state)
{
    struct configuration c = job(4, 8, 12);
    c.model = (struct model_shape){.layers = 70,
                                   .hidden = 14336,
                                   .attention.heads = 112,
                                   .vocabulary = 250880,
                                   .ffn = FFN_GELU,
                                   .norm.kind = NORM_LAYERNORM,
                                   .position = POSITION_ALIBI,
                                   .tied_embeddings = true,
                                   .biases = true};
    transformer_complete(&c.model);
    c.training.sequence = 2048;
    c.layout.pipeline.ends_count = true;
    assert_int_equal(configuration_ranks(&c), 384);
    double bytes_per_parameter = storage_bytes_per_parameter(&c);
    struct storage_tier gpfs = {
        .name = "gpfs", .total_write_bytes_per_s = 2.3 * TERA / 40, .copies = 1};
    struct storage_time t;
    storage_play(&c, &(struct storage_access){&gpfs, STORAGE_WRITE, bytes_per_parameter}, &t);
    assert_true(fabs(t.bytes / (2.3 * TERA) - 1.0) < 0.08);
    assert_true(fabs(t.seconds / 40 - 1.0) < 0.08);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_per_parameter),
        cmocka_unit_test(test_who_writes),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_interleaved_stages),
        cmocka_unit_test(test_client_cap),
        cmocka_unit_test(test_node_cap),
        cmocka_unit_test(test_total_cap),
        cmocka_unit_test(test_slowest_rank),
        cmocka_unit_test(test_mixed_caps),
        cmocka_unit_test(test_pcie),
        cmocka_unit_test(test_host_links),
        cmocka_unit_test(test_nics),
        cmocka_unit_test(test_neighbours_share_a_nic),
        cmocka_unit_test(test_busiest_nic),
        cmocka_unit_test(test_degraded_slot),
        cmocka_unit_test(test_single_node_nics),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_degraded_nic),
        cmocka_unit_test(test_bloom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
