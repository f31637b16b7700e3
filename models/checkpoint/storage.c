/* Invariants:
 * 1. bytes_of_gpu is 0 for a GPU without a rank, or whose rank moves nothing.
 * 2. Nodes of a class have the same bytes on the same places and unperturbed links; a node with a
 *    perturbed link is the only one of its class.
 * 3. Link 0 is the tier as a whole; each class has a stretch of class_links: its node, its NICs,
 *    its PCIe switches. A cap that does not exist is no link of any activity. */
#include "models/checkpoint/storage.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/layout/configuration_split.h"
#include "models/layout/layout.h"
#include "models/schedule/schedule_kind.h"
#include "sim/check.h"
#include "sim/share.h"
#include "topology/topology_kind.h"

const char *const storage_path_names[] = {"host", "nic", NULL};

double storage_bytes_per_parameter(const struct configuration *c)
{
    const struct precision *precision = c->training.precision;
    const struct optimizer *optimizer = c->training.optimizer;
    const struct optimizer_state state =
        optimizer_state(optimizer, precision, &c->training.state_formats);
    const double weights = configuration_weights_are_master(c) ? 0.0 : precision->weight_bytes;
    const double bytes = weights + optimizer_nominal_bytes(optimizer, &state);
    if (c->training.adapter.kind == ADAPTER_NONE)
        return bytes;
    return bytes * configuration_adapter_parameters(c) /
           transformer_parameters(&c->model, c->training.sequence);
}

/* Parameters of each stage, unpadded; a tied head is the embedding's. */
static double *stage_parameters(const struct configuration *c, struct arena *arena)
{
    const struct schedule_kind *order = c->layout.pipeline.schedule;
    uint32_t stages = (uint32_t)c->layout.pp, parts = stages * (uint32_t)c->layout.pipeline.vpp;
    const struct schedule_shape shape = {stages, (uint32_t)c->layout.pipeline.vpp,
                                         (uint32_t)configuration_microbatches(c),
                                         &c->layout.pipeline.schedule_options};
    double *of_part = ARENA_ARRAY(arena, double, parts);
    double *parameters = ARENA_ARRAY(arena, double, stages);
    uint32_t *split = ARENA_ARRAY(arena, uint32_t, parts);
    uint64_t layer = 0;
    configuration_split(c, split);
    for (uint32_t part = 0; part < parts; part++)
        for (uint32_t i = 0; i < split[part]; i++)
            of_part[part] += transformer_layer_parameters(&c->model, layer++);
    of_part[0] += transformer_embedding_parameters(&c->model, c->training.sequence);
    of_part[parts - 1] += transformer_final_parameters(&c->model);
    of_part[parts - 1] += transformer_prediction_parameters(&c->model);
    for (uint32_t stage = 0; stage < stages; stage++)
        for (uint32_t chunk = 0; chunk < schedule_chunks(order, &shape); chunk++)
            parameters[stage] += of_part[schedule_part(order, &shape, stage, chunk)];
    return parameters;
}

/* Bytes of each rank's shard. Ranks of one stage and tensor place are replicas of each other,
 * counted by rank; the first `shards` of them make one copy, which writes. */
static double shards_of(const struct configuration *c, double bytes_per_parameter, bool replicas,
                        struct arena *arena, double *bytes_of_rank)
{
    const double *parameters = stage_parameters(c, arena);
    uint64_t shards = configuration_shards(c), tp = c->layout.tp;
    uint32_t ranks = (uint32_t)configuration_ranks(c);
    uint64_t *seen = ARENA_ARRAY(arena, uint64_t, tp * c->layout.pp);
    double sum = 0.0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct coordinates at = layout_coordinates(c, rank);
        const bool both = c->layout.pipeline.schedule->placement == PLACED_BOTH_WAYS;
        const uint64_t far = c->layout.pp - 1 - at.pp;
        const uint64_t place = both && far < at.pp ? far : at.pp; /* whose state it shares */
        bool moves = seen[place * tp + at.tp]++ < shards || replicas;
        double shard = parameters[at.pp] * bytes_per_parameter / (double)(tp * shards);
        bytes_of_rank[rank] = moves ? shard : 0.0;
        sum += bytes_of_rank[rank];
    }
    return sum;
}

double storage_shards(const struct configuration *c, double bytes_per_parameter,
                      struct arena *arena, double **bytes_of_rank)
{
    *bytes_of_rank = ARENA_ARRAY(arena, double, configuration_ranks(c));
    return shards_of(c, bytes_per_parameter, false, arena, *bytes_of_rank);
}

/* What an operation may use of the tier; INFINITY: no cap. */
struct caps {
    double client_bytes_per_s, node_bytes_per_s, total_bytes_per_s;
    double nic_ratio; /* of a NIC's rate; 0: the way does not pass it */
    double copies, latency_s;
};
struct node_class {
    uint32_t node, count;
    double *bytes; /* by GPU of the node */
};
struct flow {
    uint32_t class_index, place; /* the GPU within its node */
    uint32_t activity;
    double end_s;
    bool done;
};
struct storage_player {
    struct arena *arena;
    const struct configuration *c;
    struct caps caps;
    struct topology topology;
    uint32_t gpus, nics;
    double *bytes_of_gpu;
    struct node_class *classes;
    uint32_t *class_of_node, class_count, class_links;
    double *capacity; /* of links */
    struct share *share;
    struct flow *flows;
    uint32_t flow_count, *flow_of; /* [class x gpus]; UINT32_MAX: moves nothing */
};

static double cap_of(double bytes_per_s)
{
    return bytes_per_s > 0.0 ? bytes_per_s : INFINITY;
}

static struct caps caps_of(const struct storage_tier *tier, enum storage_op op)
{
    if (op == STORAGE_SNAPSHOT)
        return (struct caps){INFINITY, INFINITY, INFINITY, 0.0, 1.0, 0.0};
    bool read = op == STORAGE_READ;
    double nic_ratio = op == STORAGE_WRITE_BEHIND ? 0.5 : 1.0;
    return (struct caps){
        .client_bytes_per_s =
            cap_of(read ? tier->client_read_bytes_per_s : tier->client_write_bytes_per_s),
        .node_bytes_per_s =
            cap_of(read ? tier->node_read_bytes_per_s : tier->node_write_bytes_per_s),
        .total_bytes_per_s =
            cap_of(read ? tier->total_read_bytes_per_s : tier->total_write_bytes_per_s),
        .nic_ratio = tier->path == STORAGE_NIC ? nic_ratio : 0.0,
        .copies = read ? 1.0 : (double)tier->copies,
        .latency_s = tier->latency_s,
    };
}

static void build_cluster(struct storage_player *p)
{
    struct error error;
    CHECK(topology_build(p->arena, &p->c->cluster, &p->topology, &error));
    for (uint32_t i = 0; i < p->c->perturbation_count; i++) {
        const struct perturbation *q = &p->c->perturbations[i];
        if (q->what == PERTURB_LINK)
            topology_degrade(&p->topology, (uint32_t)q->gpu, (enum link_kind)q->link, q->ratio);
    }
    p->gpus = p->topology.gpus_per_node;
    p->nics = (uint32_t)topology_nics(&p->c->cluster);
}

static void place_bytes(struct storage_player *p, enum storage_op op, double bytes_per_parameter)
{
    uint32_t ranks = (uint32_t)configuration_ranks(p->c);
    double *bytes_of_rank = ARENA_ARRAY(p->arena, double, ranks);
    p->bytes_of_gpu = ARENA_ARRAY(p->arena, double, p->topology.gpu_count);
    shards_of(p->c, bytes_per_parameter, op == STORAGE_READ, p->arena, bytes_of_rank);
    for (uint32_t rank = 0; rank < ranks; rank++)
        p->bytes_of_gpu[layout_gpu(p->c, rank)] = bytes_of_rank[rank];
}

static bool perturbed(const struct storage_player *p, uint32_t node)
{
    for (uint32_t i = 0; i < p->c->perturbation_count; i++) {
        const struct perturbation *q = &p->c->perturbations[i];
        if (q->what == PERTURB_LINK && q->gpu / p->gpus == node)
            return true;
    }
    return false;
}

/* The class of a node, or the number of classes when it opens one. Neighbours are often alike, so
 * the latest class is tried first. */
static uint32_t class_like(const struct storage_player *p, const double *bytes)
{
    for (uint32_t i = p->class_count; i-- > 0;)
        if (memcmp(p->classes[i].bytes, bytes, sizeof *bytes * p->gpus) == 0 &&
            !perturbed(p, p->classes[i].node))
            return i;
    return p->class_count;
}

static void make_classes(struct storage_player *p, bool unfold)
{
    uint32_t nodes = p->topology.node_count;
    p->classes = ARENA_ARRAY(p->arena, struct node_class, nodes);
    p->class_of_node = ARENA_ARRAY(p->arena, uint32_t, nodes);
    for (uint32_t node = 0; node < nodes; node++) {
        double *bytes = p->bytes_of_gpu + (size_t)node * p->gpus;
        bool alone = unfold || perturbed(p, node);
        uint32_t k = alone ? p->class_count : class_like(p, bytes);
        if (k == p->class_count)
            p->classes[p->class_count++] = (struct node_class){node, 0, bytes};
        p->classes[k].count++;
        p->class_of_node[node] = k;
    }
}

enum {
    LINK_TOTAL,
    LINK_CLASSES
};

static uint32_t node_link(const struct storage_player *p, uint32_t class_index)
{
    return LINK_CLASSES + class_index * p->class_links;
}

/* NICs are shared by neighbours, as the node kinds wire them. */
static uint32_t nic_of(const struct storage_player *p, uint32_t place)
{
    return (uint32_t)((uint64_t)place * p->nics / p->gpus);
}

static double nic_bytes_per_s(const struct storage_player *p, uint32_t node, uint32_t nic)
{
    const struct topology *t = &p->topology;
    if (t->nics_per_node == 0) /* a single node's cluster has no network of its own */
        return topology_nic_bytes_per_s(&p->c->cluster);
    struct link_id link = topology_nic_out(t, node * t->nics_per_node + nic);
    return graph_link_type(&t->graph, link)->bytes_per_s;
}

/* The link of this kind that leaves a vertex of the node towards a vertex kind; LINK_NONE. */
static struct link_id link_up(const struct topology *t, uint32_t node, struct vertex_id from,
                              enum link_kind kind, enum vertex_kind to)
{
    for (uint32_t i = node * t->node_links; i < (node + 1) * t->node_links; i++) {
        const struct link link = graph_link_at(&t->graph, (struct link_id){i});
        if (link.from.value == from.value && graph_vertex_at(&t->graph, link.to).kind == to &&
            graph_link_type(&t->graph, (struct link_id){i})->kind == kind)
            return (struct link_id){i};
    }
    return LINK_NONE;
}

/* A GPU's way to the CPUs of its node: its PCIe link and, where switches are wired to the CPUs, the
 * link that all GPUs below its switch share. A node whose GPUs are wired to NICs alone has as wide
 * a slot to the CPUs as to them. */
struct host_way {
    double slot_bytes_per_s, switch_bytes_per_s; /* INFINITY: no such link */
    uint32_t switch_index;
};

static struct host_way host_way_of(const struct storage_player *p, uint32_t node, uint32_t place)
{
    const struct topology *t = &p->topology;
    struct host_way way = {p->c->cluster.node.pcie.bytes_per_s, INFINITY, 0};
    struct vertex_id gpu = topology_gpu(t, node * p->gpus + place);
    struct link_id slot = link_up(t, node, gpu, LINK_PCIE, VERTEX_PCIE_SWITCH);
    if (slot.value == LINK_NONE.value)
        slot = link_up(t, node, gpu, LINK_PCIE, VERTEX_NIC);
    if (slot.value == LINK_NONE.value)
        return way;
    struct vertex_id above = graph_link_at(&t->graph, slot).to;
    struct link_id up = link_up(t, node, above, LINK_HOST, VERTEX_HOST);
    way.slot_bytes_per_s = graph_link_type(&t->graph, slot)->bytes_per_s;
    if (up.value != LINK_NONE.value) {
        way.switch_index = graph_vertex_at(&t->graph, above).index;
        way.switch_bytes_per_s = graph_link_type(&t->graph, up)->bytes_per_s;
    }
    return way;
}

static void add_use(struct storage_player *p, struct share_use *uses, size_t *count, uint32_t link,
                    double capacity, double weight)
{
    if (isfinite(capacity)) {
        p->capacity[link] = capacity;
        uses[(*count)++] = (struct share_use){link, share_weight(weight)};
    }
}

/* Everything that one GPU of each node of the class meets on its way. */
static size_t flow_uses(struct storage_player *p, const struct flow *flow,
                        const struct host_way *way, struct share_use *uses)
{
    const struct node_class *class = &p->classes[flow->class_index];
    uint32_t first = node_link(p, flow->class_index);
    size_t count = 0;
    add_use(p, uses, &count, LINK_TOTAL, p->caps.total_bytes_per_s, (double)class->count);
    add_use(p, uses, &count, first, p->caps.node_bytes_per_s, 1.0);
    if (p->caps.nic_ratio > 0.0) {
        uint32_t nic = nic_of(p, flow->place);
        double rate = nic_bytes_per_s(p, class->node, nic) * p->caps.nic_ratio;
        add_use(p, uses, &count, first + 1 + nic, rate, 1.0);
    } else {
        add_use(p, uses, &count, first + 1 + p->nics + way->switch_index, way->switch_bytes_per_s,
                1.0);
    }
    return count;
}

enum {
    USE_MAX = 3
};
struct start {
    double work, cap;
    struct share_use uses[USE_MAX];
    size_t use_count;
};

static void plan_flow(struct storage_player *p, struct flow *flow, struct start *start)
{
    const struct node_class *class = &p->classes[flow->class_index];
    struct host_way way = host_way_of(p, class->node, flow->place);
    start->work = class->bytes[flow->place] * p->caps.copies;
    start->cap = fmin(p->caps.client_bytes_per_s, way.slot_bytes_per_s);
    start->use_count = flow_uses(p, flow, &way, start->uses);
    CHECK(start->cap > 0.0 && isfinite(start->cap));
}

static void start_flows(struct storage_player *p)
{
    uint32_t room = p->class_count * p->gpus;
    p->class_links = 1 + p->nics + p->gpus; /* there are no more switches than GPUs */
    uint32_t links = node_link(p, p->class_count);
    struct start *starts = ARENA_ARRAY(p->arena, struct start, room);
    p->capacity = ARENA_ARRAY(p->arena, double, links);
    p->flows = ARENA_ARRAY(p->arena, struct flow, room);
    p->flow_of = ARENA_ARRAY(p->arena, uint32_t, room);
    for (uint32_t i = 0; i < links; i++)
        p->capacity[i] = 1.0;
    for (uint32_t i = 0; i < room; i++) {
        p->flow_of[i] = UINT32_MAX;
        if (p->classes[i / p->gpus].bytes[i % p->gpus] > 0.0) {
            p->flow_of[i] = p->flow_count;
            p->flows[p->flow_count] =
                (struct flow){.class_index = i / p->gpus, .place = i % p->gpus};
            plan_flow(p, &p->flows[p->flow_count], &starts[p->flow_count]);
            p->flow_count++;
        }
    }
    p->share = share_create(p->arena, links, p->capacity);
    for (uint32_t i = 0; i < p->flow_count; i++) {
        p->flows[i].activity =
            share_start(p->share, 0.0, (struct share_demand){starts[i].work, starts[i].cap, 1.0},
                        starts[i].uses, starts[i].use_count);
    }
}

/* Plays until the last flow is done, and says when. */
static double play_flows(struct storage_player *p)
{
    double now_s = 0.0;
    const uint32_t *changed;
    for (uint32_t left = p->flow_count; left > 0;) {
        double next_s = INFINITY;
        share_solve(p->share, now_s, &changed);
        for (uint32_t i = 0; i < p->flow_count; i++)
            if (!p->flows[i].done)
                next_s = fmin(next_s, share_finish_s(p->share, p->flows[i].activity));
        CHECK(isfinite(next_s));
        now_s = next_s;
        for (uint32_t i = 0; i < p->flow_count; i++) {
            struct flow *flow = &p->flows[i];
            if (!flow->done && share_finish_s(p->share, flow->activity) == now_s) {
                share_finish(p->share, now_s, flow->activity);
                flow->done = true;
                flow->end_s = now_s;
                left--;
            }
        }
    }
    return now_s;
}

static void gather(const struct storage_player *p, double end_s, struct storage_time *out)
{
    double busiest = 0.0;
    *out = (struct storage_time){.seconds = p->caps.latency_s + end_s};
    for (uint32_t k = 0; k < p->class_count; k++) {
        const struct node_class *class = &p->classes[k];
        for (uint32_t i = 0; i < p->gpus; i++)
            out->bytes += class->bytes[i] * p->caps.copies * (double)class->count;
        for (uint32_t nic = 0; p->caps.nic_ratio > 0.0 && nic < p->nics; nic++)
            busiest = fmax(busiest, share_moved(p->share, node_link(p, k) + 1 + nic, end_s));
    }
    out->nic_bytes_per_s = busiest > 0.0 ? busiest / out->seconds : 0.0;
}

static void gather_ranks(const struct storage_player *p, double *seconds_of_rank)
{
    uint32_t ranks = (uint32_t)configuration_ranks(p->c);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t gpu = layout_gpu(p->c, rank), class_index = p->class_of_node[gpu / p->gpus];
        uint32_t flow = p->flow_of[class_index * p->gpus + gpu % p->gpus];
        seconds_of_rank[rank] = flow == UINT32_MAX ? 0.0 : p->caps.latency_s + p->flows[flow].end_s;
    }
}

void storage_play_ranks(const struct configuration *c, const struct storage_access *access,
                        bool unfold, double *seconds_of_rank, struct storage_time *out)
{
    struct storage_player p = {
        .arena = arena_create(), .c = c, .caps = caps_of(access->tier, access->op)};
    build_cluster(&p);
    place_bytes(&p, access->op, access->bytes_per_parameter);
    make_classes(&p, unfold);
    start_flows(&p);
    gather(&p, play_flows(&p), out);
    if (seconds_of_rank != NULL)
        gather_ranks(&p, seconds_of_rank);
    arena_destroy(p.arena);
}

void storage_play(const struct configuration *c, const struct storage_access *access,
                  struct storage_time *out)
{
    storage_play_ranks(c, access, false, NULL, out);
}
