/* What a machine says of its wires, by nvidia-smi and by NCCL; and what is no such thing. */
#include <stdio.h>
#include <string.h>

#include "scenarios/import/machine/node_topology.h"
#include "tests/test.h"

typedef bool reader_fn(struct arena *arena, struct import_file file, struct node_topology *out,
                       struct error *error);

static struct node_topology sound(reader_fn *read, const char *text)
{
    struct arena *arena = arena_create();
    struct node_topology node;
    struct error error = {""};
    if (!read(arena, (struct import_file){"node", arena_text(arena, text), strlen(text)}, &node,
              &error))
        fail_msg("%s", error.text);
    arena_destroy(arena);
    return node;
}

static void refused(reader_fn *read, const char *text, const char *why)
{
    struct arena *arena = arena_create();
    struct node_topology node;
    struct error error = {""};
    if (read(arena, (struct import_file){"node", arena_text(arena, text), strlen(text)}, &node,
             &error) ||
        strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
    arena_destroy(arena);
}

static void test_a_matrix(void **state)
{
    struct node_topology n =
        sound(node_topology_matrix,
              "\t\033[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n"
              "GPU0\t X \tNV18\tPIX\tSYS\t0-31\t0\t\tN/A\n"
              "GPU1\tNV18\t X \tSYS\tNODE\t32-63\t1\t\tN/A\n"
              "NIC0\tPIX\tSYS\t X \tSYS\n"
              "NIC1\tSYS\tNODE\tSYS\t X \n"
              "\nLegend:\n\n  X    = Self\n  SYS  = Connection\n\nNIC Legend:\n\n  NIC0: mlx5_0\n");
    assert_int_equal(n.gpus, 2);
    assert_int_equal(n.nics, 2);
    assert_int_equal(n.near_nics, 1);
    assert_int_equal(n.links, 18);
    assert_int_equal(n.linked, 2);
    assert_false(n.uneven);
    /* Bridged pairs, older names of NICs. */
    n = sound(node_topology_matrix, "        GPU0 GPU1 GPU2 GPU3 mlx5_0 CPU Affinity\n"
                                    "GPU0    X    NV4  SYS  SYS  PXB    0-31\n"
                                    "GPU1    NV4  X    SYS  SYS  PXB    0-31\n"
                                    "GPU2    SYS  SYS  X    NV4  SYS    32-63\n"
                                    "GPU3    SYS  SYS  NV4  X    SYS    32-63\n"
                                    "mlx5_0  PXB  PXB  SYS  SYS  X\n");
    assert_int_equal(n.links, 4);
    assert_int_equal(n.linked, 2);
    assert_int_equal(n.nics, 1);
    n = sound(node_topology_matrix, "GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n");
    assert_int_equal(n.links, 0);
    assert_int_equal(n.linked, 1);
    assert_int_equal(n.wired, 0);
}

/* HGX with 4 GPUs: each has as many links to each other as its neighbours have; a hybrid cube mesh
 * (DGX-1: 6 links of each card, to 4 of 7); a switch of which 3 GPUs are seen. */
static void test_wires_from_card_to_card(void **state)
{
    struct node_topology n = sound(node_topology_matrix, "     GPU0 GPU1 GPU2 GPU3\n"
                                                         "GPU0 X    NV4  NV4  NV4\n"
                                                         "GPU1 NV4  X    NV4  NV4\n"
                                                         "GPU2 NV4  NV4  X    NV4\n"
                                                         "GPU3 NV4  NV4  NV4  X\n");
    assert_int_equal(n.links, 4);
    assert_int_equal(n.wired, 12);
    assert_int_equal(n.linked, 4);
    assert_false(n.meshed || n.uneven);
    n = sound(node_topology_matrix, "     GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7\n"
                                    "GPU0 X    NV1  NV1  NV2  NV2  SYS  SYS  SYS\n"
                                    "GPU1 NV1  X    NV2  NV1  SYS  NV2  SYS  SYS\n"
                                    "GPU2 NV1  NV2  X    NV2  SYS  SYS  NV1  SYS\n"
                                    "GPU3 NV2  NV1  NV2  X    SYS  SYS  SYS  NV1\n"
                                    "GPU4 NV2  SYS  SYS  SYS  X    NV1  NV1  NV2\n"
                                    "GPU5 SYS  NV2  SYS  SYS  NV1  X    NV2  NV1\n"
                                    "GPU6 SYS  SYS  NV1  SYS  NV1  NV2  X    NV2\n"
                                    "GPU7 SYS  SYS  SYS  NV1  NV2  NV1  NV2  X\n");
    assert_true(n.meshed);
    assert_int_equal(n.links, 6);
    n = sound(node_topology_matrix, "     GPU0 GPU1 GPU2\n"
                                    "GPU0 X    NV12 NV12\n"
                                    "GPU1 NV12 X    NV12\n"
                                    "GPU2 NV12 NV12 X\n");
    assert_int_equal(n.links, 12);
    assert_int_equal(n.wired, 0);
    assert_false(n.meshed);
}

static void test_hostile_matrices(void **state)
{
    refused(node_topology_matrix, "hello\n", "no matrix");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X NV18\n", "row of GPU1 is missing");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X NV18\nGPU1 NV12 X\n", "node:3: the matrix is");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18\n", "1 cell of 2");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X NV18\nGPU0 X NV18\n", "stands twice");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 NV18 X\n", "X stands where");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X X\n", "X stands where");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X NV99999999999\n", "no connection");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X NV-3\n", "no connection");
    refused(node_topology_matrix, "GPU0 GPU1\nGPU0 X nan\n", "no connection");
}

#define GPU(dev)                                                                                   \
    "<pci busid=\"0000:1b:00.0\" class=\"0x030200\" link_width=\"16\">"                            \
    "<gpu dev=\"" dev "\" sm=\"90\" rank=\"" dev "\">"                                             \
    "<nvlink target=\"0000:05:00.0\" count=\"9\" tclass=\"0x068000\"/>"                            \
    "<nvlink target=\"0000:06:00.0\" count=\"9\" tclass=\"0x068000\"/></gpu></pci>\n"
#define NET "<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"400000\" port=\"1\"/></nic>\n"

#define PCI(class) "<pci busid=\"0001:00:00.0\" class=\"" class "\" link_speed=\"16 GT/s\"/>"
#define SWITCH "<pci busid=\"ffff:ff:01.0\" class=\"0x060400\">"
#define SYSTEM(inner)                                                                              \
    "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">" inner "</cpu></system>"

/* As cloud providers write them (Azure/azhpc-images): neither <gpu> nor <net>. */
static void test_classes_of_pci(void **state)
{
    struct node_topology n =
        sound(node_topology_xml, SYSTEM(SWITCH PCI("0x030200") PCI("0x020700") PCI("0x030200")
                                            PCI("0x020700") "</pci>" SWITCH PCI("0x030200")
                                                PCI("0x020000") "</pci>" SWITCH PCI("0x010802")
                                                    PCI("0x020700") "</pci>" PCI("0x020700")));
    assert_int_equal(n.gpus, 3);
    assert_int_equal(n.nics, 5);
    assert_int_equal(n.near_nics, 3);
    assert_int_equal(n.links, 0);
    assert_true(n.links_untold);
    n = sound(node_topology_xml, SYSTEM(PCI("0x030200") PCI("0x030200") PCI("0x020700")));
    assert_int_equal(n.gpus, 2);
    assert_int_equal(n.nics, 1);
    assert_int_equal(n.near_nics, 0);
    /* Elements count where there are any. */
    n = sound(node_topology_xml, SYSTEM(GPU("0") GPU("1") NET PCI("0x020700")));
    assert_int_equal(n.gpus, 2);
    assert_int_equal(n.nics, 1);
    assert_false(n.links_untold);
    refused(node_topology_xml, SYSTEM(PCI("0x020700")), "no GPU in it");
    refused(node_topology_xml, "<graphs version=\"1\"></graphs>",
            "these are NCCL's channels (NCCL_GRAPH_DUMP_FILE), not its wires: give what "
            "NCCL_TOPO_DUMP_FILE writes");
}

static void test_nccl(void **state)
{
    struct node_topology n =
        sound(node_topology_xml, "<?xml version=\"1.0\"?>\n<!-- a note -->\n<system version=\"1\">"
                                 "<cpu numaid=\"0\" arch=\"x86_64\">\n" GPU("0") NET GPU("1")
                                     GPU("2") NET "</cpu></system>\n");
    assert_int_equal(n.gpus, 3);
    assert_int_equal(n.nics, 2);
    assert_int_equal(n.links, 18);
    assert_int_equal(n.linked, 3);
    assert_int_equal(n.sm, 90);
    assert_false(n.uneven);
    assert_true(n.nic_bits_per_s == 400e9 && n.link_bytes_per_s == 25e9);
    /* Cables from card to card; a card without. */
    n = sound(node_topology_xml,
              "<system version=\"1\"><gpu sm=\"80\"><nvlink target=\"a\" count=\"12\" "
              "tclass=\"0x030200\"/></gpu><gpu sm=\"80\"></gpu></system>");
    assert_int_equal(n.links, 0);
    assert_int_equal(n.linked, 1);
    assert_true(n.uneven && n.link_bytes_per_s == 0.0);
}

static void test_hostile_xml(void **state)
{
    refused(node_topology_xml, "<system version=\"1\"></system>", "no GPU in it");
    refused(node_topology_xml, "<system version=\"2\"></system>", "version '2'");
    refused(node_topology_xml, "<html></html>", "the root is one <system>");
    refused(node_topology_xml, "<system version=\"1\">" GPU("0"), "does not end: the file is cut");
    refused(node_topology_xml, "<system version=\"1\"><gpu sm=\"90", "does not end");
    refused(node_topology_xml, "<system version=\"1\"><gpu sm=\"90\"", "the file is cut");
    refused(node_topology_xml, "<system version=\"1\"></gpu>", "fits no beginning");
    refused(node_topology_xml, "<system version=\"1\">text</system>", "text between");
    refused(node_topology_xml, "<system version=\"1\"><gpu sm=\"nan\"/></system>",
            "no number 'sm'");
    refused(node_topology_xml, "<system version=\"1\"><gpu sm=\"-9\"/></system>", "no number 'sm'");
    refused(node_topology_xml, "<system version=\"1\"><gpu sm=\"90\" sm=\"90\"/></system>",
            "'sm' stands twice");
    refused(node_topology_xml, "<system version=\"1\"><gpu sm=\"90\"/><gpu sm=\"80\"/></system>",
            "cards of sm");
    refused(node_topology_xml, "<system version=\"1\"><net speed=\"1e30\"/></system>",
            "no number 'speed'");
    refused(node_topology_xml,
            "<system version=\"1\"><gpu sm=\"90\"><nvlink count=\"65\"/></gpu></system>",
            "'count'");
    refused(node_topology_xml, "<system version=\"1\"/><system version=\"1\"/>", "one <system>");
    refused(node_topology_xml, "<system version=\"1\"><!-- no end", "comment that ends");
    refused(node_topology_xml,
            "<system version=\"1\"><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"
            "<a><a><a><a><a><a><a><a><a><a><a><a><a>",
            "in each other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_matrix),         cmocka_unit_test(test_wires_from_card_to_card),
        cmocka_unit_test(test_hostile_matrices), cmocka_unit_test(test_nccl),
        cmocka_unit_test(test_classes_of_pci),   cmocka_unit_test(test_hostile_xml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
