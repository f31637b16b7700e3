/* Which card a name of a driver is: names as nvidia-smi, rocm-smi and PyTorch print them in public
 * logs and traces, beside the cards of the built-in catalogue, and of one in a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/catalogue/card.h"
#include "scenarios/language/names.h"
#include "sim/units.h"
#include "tests/test.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

struct opened {
    struct arena *arena;
    struct problems *problems;
    struct catalogue catalogue;
};

static struct opened open_catalogue(const char *folder)
{
    struct opened o = {.arena = arena_create()};
    o.problems = ARENA_NEW(o.arena, struct problems);
    o.problems->arena = o.arena;
    catalogue_open(&o.catalogue, o.arena, folder, o.problems);
    return o;
}

static enum card_match compare(const char *gpu, struct card_told told, struct error *why)
{
    struct opened o = open_catalogue(NULL);
    const enum card_match match = card_compare(&o.catalogue, gpu, &told, why);
    assert_int_equal(o.problems->error_count, 0);
    arena_destroy(o.arena);
    return match;
}

/* A name and the cards of the catalogue that it can be, no other: "" none. */
static const struct {
    const char *name;
    const char *cards[4];
} names[] = {
    {"NVIDIA H100 80GB HBM3", {"h100-80gb-sxm"}},
    {"NVIDIA-H100-80GB-HBM3", {"h100-80gb-sxm"}}, /* label of Kubernetes */
    {"NVIDIA H100 PCIe", {"h100-80gb-pcie"}},
    {"NVIDIA H100 80GB HBM2e", {"h100-80gb-pcie"}},
    {"H100", {"h100-80gb-sxm", "h100-80gb-pcie", "h100-96gb-hbm2e-500w"}},
    {"NVIDIA H100 NVL", {""}},
    {"NVIDIA H100 80GB HBM3 MIG 3g.40gb", {""}},
    {"NVIDIA H200", {"h200-141gb-sxm"}},
    {"NVIDIA H200 NVL", {""}},
    {"NVIDIA H800", {"h800-80gb-sxm"}},
    {"NVIDIA H800 PCIe", {""}},
    {"NVIDIA H20", {"h20-96gb-sxm"}},
    {"NVIDIA H20-3e", {""}},
    {"NVIDIA GH200 480GB", {"gh200-96gb"}},
    {"NVIDIA GH200 120GB", {"gh200-96gb"}},
    {"NVIDIA GH200 144G HBM3e", {""}},
    {"NVIDIA B200", {"b200-180gb-sxm"}},
    {"NVIDIA B200 192GB", {"b200-180gb-sxm"}},
    {"NVIDIA GB200", {"gb200-186gb"}},
    {"NVIDIA B300 SXM6 AC", {"b300-288gb-sxm"}},
    {"NVIDIA GB300", {"gb300-288gb"}},
    {"NVIDIA A100-SXM4-40GB", {"a100-40gb-sxm"}},
    {"A100-SXM4-40GB", {"a100-40gb-sxm"}},
    {"NVIDIA A100-SXM4-80GB", {"a100-80gb-sxm"}},
    {"NVIDIA A100-SXM-64GB", {""}},
    {"NVIDIA A100 80GB PCIe", {"a100-80gb-pcie"}},
    {"NVIDIA A100-PCIE-40GB", {""}},
    {"NVIDIA A100-PG509-200", {"a100-40gb-sxm", "a100-80gb-sxm", "a100-80gb-pcie"}},
    {"Tesla V100-SXM2-32GB", {"v100-32gb-sxm"}},
    {"Tesla V100-SXM3-32GB", {"v100-32gb-sxm"}},
    {"Tesla V100-SXM2-16GB", {""}},
    {"Tesla V100-PCIE-32GB", {""}},
    {"NVIDIA L40S", {"l40s-48gb-pcie"}},
    {"NVIDIA GeForce RTX 4090", {"rtx4090-24gb"}},
    {"NVIDIA GeForce RTX 4090 D", {""}},
    {"NVIDIA GeForce RTX 4090 Laptop GPU", {""}},
    {"NVIDIA GeForce RTX 5090", {"rtx5090-32gb"}},
    {"AMD Instinct MI300X", {"mi300x-192gb"}},
    {"AMD Instinct MI300X VF", {"mi300x-192gb"}},
    {"AMD Instinct MI325X", {"mi325x-256gb"}},
    {"AMD Instinct MI350X", {"mi350x-288gb"}},
    {"AMD Instinct MI355X", {"mi355x-288gb"}},
    {"AMD Instinct MI455X", {"mi455x-432gb"}},
    {"NVIDIA VR200", {"vr200-288gb"}},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", {"rtxpro6000-96gb"}},
};
/* Of no card of the catalogue, however near they look. */
static const char *const strangers[] = {
    "NVIDIA A800-SXM4-80GB",
    "NVIDIA L40",
    "NVIDIA L4",
    "NVIDIA A10",
    "NVIDIA A10G",
    "NVIDIA A1000",
    "NVIDIA XA100",
    "NVIDIA A100X",
    "AMD Instinct MI300A",
    "AMD Instinct MI308X",
    "AMD Instinct MI250X/MI250",
    "Tesla T4",
    "Tesla V100S-PCIE-32GB",
    "NVIDIA H2000",
    "NVIDIA GeForce RTX 3090",
    "NVIDIA H10 0",
    "NVIDIA RTX PRO 6000 Blackwell",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    "NVIDIA RTX PRO 5000 Blackwell",
    "NVIDIA RTX 6000 Ada Generation",
    "NVIDIA RTX Pro 6000 Blackwell DC-1-12Q",
    "AMD Instinct MI430X",
    "NVIDIA VR300",
    "NVIDIA PG509-210",
};
/* Names that tell no card at all. */
static const char *const nameless[] = {
    "NVIDIA Graphics Device",
    "AMD Radeon Graphics",
    "simulated",
    "80GB HBM3",
};

static bool is_among(const char *card, const char *const *cards)
{
    for (unsigned i = 0; i < 4 && cards[i] != NULL; i++)
        if (strcmp(cards[i], card) == 0)
            return true;
    return false;
}

/* Does a sentence name it? Long names end in dots there. */
static bool tells(const struct error *why, const char *name)
{
    char begins[32];
    snprintf(begins, sizeof begins, "%s", name);
    return strstr(why->text, begins) != NULL;
}

static void test_names(void **state)
{
    struct opened o = open_catalogue(NULL);
    const struct name_list cards = catalogue_names(&o.catalogue, FAMILY_GPUS);
    assert_true(cards.count > 20);
    for (unsigned n = 0; n < COUNT(names); n++) {
        for (unsigned i = 0; i < cards.count; i++) {
            struct error why = {""};
            const enum card_match match =
                compare(cards.names[i], (struct card_told){.name = names[n].name}, &why);
            const enum card_match right =
                is_among(cards.names[i], names[n].cards) ? CARD_FITS : CARD_DIFFERS;
            if (match != right)
                fail_msg("%s for %s: %d, not %d", names[n].name, cards.names[i], match, right);
            if (match == CARD_FITS)
                continue;
            /* The sentence names the card of the file, the one that is asked for, and the entry. */
            assert_true(tells(&why, names[n].name));
            assert_non_null(strstr(why.text, cards.names[i]));
            if (*names[n].cards[0] != '\0')
                assert_non_null(strstr(why.text, names[n].cards[0]));
            else
                assert_non_null(strstr(why.text, "nor another card of the catalogue"));
        }
    }
    arena_destroy(o.arena);
}

/* Each of the names is of no entry, and counts for every one as `right` says. */
static void all_are(const char *const *list, unsigned count, enum card_match right)
{
    struct opened o = open_catalogue(NULL);
    const struct name_list cards = catalogue_names(&o.catalogue, FAMILY_GPUS);
    for (unsigned n = 0; n < count; n++)
        for (unsigned i = 0; i < cards.count; i++) {
            struct error why = {""};
            const struct card_told told = {.name = list[n]};
            const enum card_match match = card_compare(&o.catalogue, cards.names[i], &told, &why);
            if (match != right)
                fail_msg("%s for %s: %d, not %d", list[n], cards.names[i], match, right);
            assert_true(tells(&why, list[n]));
            assert_non_null(strstr(why.text, "no card of the catalogue"));
        }
    arena_destroy(o.arena);
}

static void test_strangers(void **state)
{
    all_are(strangers, COUNT(strangers), CARD_DIFFERS);
    all_are(nameless, COUNT(nameless), CARD_UNKNOWN);
}

/* Every entry is itself by its own name, and no other entry of the catalogue; and it says what it
 * is called: a name of its identity fits it. */
static void test_entries(void **state)
{
    struct opened o = open_catalogue(NULL);
    const struct name_list cards = catalogue_names(&o.catalogue, FAMILY_GPUS);
    for (unsigned a = 0; a < cards.count; a++) {
        for (unsigned b = 0; b < cards.count; b++) {
            struct error why;
            const enum card_match match =
                compare(cards.names[b], (struct card_told){.name = cards.names[a]}, &why);
            if (match != (a == b ? CARD_FITS : CARD_DIFFERS))
                fail_msg("%s counts as %s", cards.names[a], cards.names[b]);
        }
        const struct value *identity =
            value_find(catalogue_find(&o.catalogue, FAMILY_GPUS, cards.names[a]), "identity");
        assert_non_null(identity);
        const struct value *called = value_find(identity, "names");
        for (const struct value *n = called ? called->first : NULL; n; n = n->next) {
            struct error why;
            assert_int_equal(compare(cards.names[a], (struct card_told){.name = n->text}, &why),
                             CARD_FITS);
        }
    }
    arena_destroy(o.arena);
}

/* deviceProperties of public traces; links of `nvidia-smi topo -m`; sm of NCCL's files. */
static void test_figures(void **state)
{
    static const struct {
        struct card_told told;
        const char *gpu, *says; /* NULL: it fits */
    } rows[] = {
        {{.name = "NVIDIA A100-PG509-200", .memory_bytes = 42505273344.0, .sm_count = 108},
         "a100-40gb-sxm",
         NULL},
        {{.name = "NVIDIA A100-PG509-200", .memory_bytes = 42505273344.0, .sm_count = 108},
         "a100-80gb-sxm",
         "(a100-40gb-sxm in the catalogue)"},
        {{.name = "NVIDIA H100 80GB HBM3", .memory_bytes = 85018279936.0, .sm_count = 132},
         "h100-80gb-sxm",
         NULL},
        {{.name = "NVIDIA H800", .memory_bytes = 84943110144.0, .sm_count = 132},
         "h800-80gb-sxm",
         NULL},
        {{.name = "AMD Instinct MI300X VF", .memory_bytes = 205571227648.0, .sm_count = 304},
         "mi300x-192gb",
         NULL},
        /* one of eight partitions */
        {{.name = "AMD Instinct MI300X", .memory_bytes = 205571227648.0 / 8, .sm_count = 38},
         "mi300x-192gb",
         "25.7 GB of memory"},
        {{.name = "NVIDIA H100 80GB HBM3", .memory_bytes = 85018279936.0, .sm_count = 16},
         "h100-80gb-sxm",
         "16 SMs"},
        {{.name = "", .memory_bytes = 85018279936.0, .sm_count = 132}, "h100-80gb-sxm", NULL},
        {{.name = "", .memory_bytes = 85018279936.0, .sm_count = 132},
         "mi300x-192gb",
         "a card with 85.02 GB of memory is not mi300x-192gb, which has 20"},
        {{.name = "Tesla T4", .memory_bytes = 15.6e9}, "h100-80gb-sxm", "'Tesla T4' with 15.6 GB"},
        {{.name = "", .nvlinks = 18},
         "v100-32gb-sxm",
         "18 NVLinks is not v100-32gb-sxm, which has 6"},
        {{.name = "", .nvlinks = 18}, "h100-80gb-sxm", NULL},
        {{.name = "", .nvlinks = 6}, "h100-80gb-sxm", NULL},
        {{.name = "", .nvlinks = 12, .nvlinks_all = true}, "h100-80gb-sxm", "12 NVLinks"},
        {{.name = "", .nvlinks = 12, .nvlinks_all = true}, "a100-80gb-sxm", NULL},
        {{.name = "", .nvlinks = 8, .nvlinks_all = true}, "h800-80gb-sxm", NULL},
        {{.name = "", .nvlinks = 1}, "mi300x-192gb", "1 NVLinks"},
        {{.name = "", .capability = 80}, "h100-80gb-sxm", "compute capability 8.0"},
        {{.name = "", .capability = 103},
         "b200-180gb-sxm",
         "10.3 is not b200-180gb-sxm, which has 10.0"},
        {{.name = "", .capability = 103}, "b300-288gb-sxm", NULL},
        {{.name = "", .capability = 90, .nvlinks = 18, .nvlinks_all = true}, "h20-96gb-sxm", NULL},
        {{.name = ""}, "h100-80gb-sxm", NULL},
    };
    for (unsigned i = 0; i < COUNT(rows); i++) {
        struct error why = {""};
        const enum card_match match = compare(rows[i].gpu, rows[i].told, &why);
        if (match != (rows[i].says == NULL ? CARD_FITS : CARD_DIFFERS))
            fail_msg("row %u: %d, %s", i, match, why.text);
        if (rows[i].says != NULL && strstr(why.text, rows[i].says) == NULL)
            fail_msg("row %u: %s", i, why.text);
    }
}

static struct opened open_folder(char *folder, const char *gpus)
{
    char path[64];
    memset(strrchr(folder, '-') + 1, 'X', 6); /* six X, as mkdtemp wants them */
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/gpus.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(gpus, file);
    assert_int_equal(fclose(file), 0);
    return open_catalogue(folder);
}

static void close_folder(struct opened *o, const char *folder)
{
    char path[64];
    snprintf(path, sizeof path, "%s/gpus.yaml", folder);
    remove(path);
    rmdir(folder);
    arena_destroy(o->arena);
}

/* A card that somebody added is known by its name alone, and by an identity where it has one. */
static void test_folder(void **state)
{
    char folder[] = "/tmp/orrery-card-......";
    struct opened o = open_folder(folder, "x900-64gb-sxm: {hbm: 64GiB}\n"
                                          "y1: {identity: {names: [ACME Y1 HBM4], nvlinks: 4}}\n"
                                          "lab-card: {identity: {names: [AMD Instinct MI999X]}}\n");
    struct error why = {""};
    const struct {
        struct card_told told;
        const char *gpu;
        enum card_match match;
    } rows[] = {
        {{.name = "ACME X900"}, "x900-64gb-sxm", CARD_FITS},
        {{.name = "ACME X900 PCIe"}, "x900-64gb-sxm", CARD_DIFFERS},
        {{.name = "ACME X900", .memory_bytes = 32e9}, "x900-64gb-sxm", CARD_DIFFERS},
        {{.name = "ACME X900", .sm_count = 7, .nvlinks = 30, .capability = 3},
         "x900-64gb-sxm",
         CARD_FITS},
        {{.name = "ACME Y1 HBM3"}, "y1", CARD_DIFFERS},
        {{.name = "ACME Y1", .nvlinks = 4}, "y1", CARD_FITS},
        {{.name = "ACME Y1", .nvlinks = 5}, "y1", CARD_DIFFERS},
        {{.name = "ACME Y1"}, "x900-64gb-sxm", CARD_DIFFERS},
        {{.name = "NVIDIA H100"}, "y1", CARD_DIFFERS},
        {{.name = "NVIDIA H100"}, "x900-64gb-sxm", CARD_UNKNOWN},
        {{.name = "amd instinct mi999x"}, "lab-card", CARD_FITS},
        {{.name = "AMD Instinct MI999X VF"}, "lab-card", CARD_DIFFERS},
        {{.name = "AMD Instinct MI999X"}, "y1", CARD_DIFFERS},
        {{.name = "ACME Y1"}, "custom", CARD_UNKNOWN},
        {{.name = ""}, "custom", CARD_FITS},
    };
    for (unsigned i = 0; i < COUNT(rows); i++)
        if (card_compare(&o.catalogue, rows[i].gpu, &rows[i].told, &why) != rows[i].match)
            fail_msg("row %u: %s", i, why.text);
    assert_int_equal(o.problems->error_count, 0);
    close_folder(&o, folder);
}

static void test_identity_that_is_none(void **state)
{
    static const char *const entries[] = {
        "y1: {identity: Y1}",
        "y1: {identity: {name: [Y1]}}",
        "y1: {identity: {names: Y1}}",
        "y1: {identity: {names: [[Y1]]}}",
        "y1: {identity: {nvlinks: many}}",
        "y1: {identity: {nvlinks: [4]}}",
        "y1: {identity: {compute_capability: new}}",
        "y1: {identity: {names: [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a]}}",
    };
    for (unsigned i = 0; i < COUNT(entries); i++) {
        char folder[] = "/tmp/orrery-card-......";
        struct error why;
        struct opened o = open_folder(folder, entries[i]);
        assert_int_equal(
            card_compare(&o.catalogue, "y1", &(struct card_told){.name = "Y1", .nvlinks = 5}, &why),
            CARD_FITS);
        if (o.problems->error_count != 1)
            fail_msg("%s: %u problems", entries[i], o.problems->error_count);
        close_folder(&o, folder);
    }
}

/* Names of platforms are free: the chip may stand inside of a word. */
static void test_chip_within(void **state)
{
    static const struct {
        const char *text, *gpu, *chip; /* "": none */
    } rows[] = {
        {"4xDGXH100", "b200-180gb-sxm", "H100"},
        {"384xGB200", "b200-180gb-sxm", "GB200"},
        {"64xB200-NVL72", "gb200-186gb", "B200"},
        {"dgx_h200_n8", "h20-96gb-sxm", "h200"}, /* not H20 */
        {"XE9680xMI300X", "mi325x-256gb", "MI300X"},
        {"H1000", "h100-80gb-sxm", ""},
        {"h100 and a100", "a100-80gb-sxm", "a100"},
        {"a100 and h100", "a100-80gb-sxm", "a100"},
        {"h100 and a100", "b200-180gb-sxm", "h100"},
        {"somewhere", "h100-80gb-sxm", ""},
        {"", "h100-80gb-sxm", ""},
    };
    struct opened o = open_catalogue(NULL);
    for (unsigned i = 0; i < COUNT(rows); i++) {
        const char *chip = card_chip_within(&o.catalogue, rows[i].text, rows[i].gpu);
        assert_string_equal(chip != NULL ? chip : "", rows[i].chip);
    }
    arena_destroy(o.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),       cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_entries),     cmocka_unit_test(test_figures),
        cmocka_unit_test(test_folder),      cmocka_unit_test(test_identity_that_is_none),
        cmocka_unit_test(test_chip_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
