/* symmetry_state.h - what the files of symmetry share: the real structure before it is folded.
 *
 * symmetry_shift.c finds what is alike by a turn of the replicas; symmetry_loads.c measures one
 * real group of each such orbit (shape, tuned plans, loads on real links); symmetry.c colours and
 * refines; symmetry_fold.c writes the classes. Ranks, groups and used links stand in rows: one for
 * each orbit, or, where nothing is turned, one for each. Only symmetry*.c include it. */
#ifndef ORRERY_MODELS_SYMMETRY_SYMMETRY_STATE_H
#define ORRERY_MODELS_SYMMETRY_SYMMETRY_STATE_H

#include <string.h>

#include "models/symmetry/symmetry.h"
#include "sim/divide.h"
#include "sim/table.h"

#define ROW_NONE UINT32_MAX

/* The number of a colour or another 64-bit hash: equal ones are one thing (symmetry.c says
 * how likely that errs). Most often few are met, however many are asked about. */
static inline uint32_t symmetry_number(struct arena *arena, struct table *table, uint64_t hash)
{
    return table_number(table, arena, hash, NULL, NULL, NULL);
}

static inline uint64_t symmetry_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
/* A colour from two: two rounds of multiplication and shift (the finaliser of MurmurHash3, Austin
 * Appleby, public domain) around the sum with an odd multiple. Inline: a refinement mixes millions.
 */
static inline uint64_t symmetry_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a + b * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

struct transfer_list { /* rows of transfers that a program uses on one stream */
    uint32_t *rows, count;
};
struct menu_entry { /* one operation and size that a group plays, tuned */
    enum comm_op op;
    double bytes;
    struct collective_plan tuned;
    uint32_t set; /* its wires, among the sets of the menu; ROW_NONE: nothing is sent */
};
struct menu { /* of groups with one shape, whose first member has one program */
    uint32_t shape, program;
    enum stream kind;
    struct menu_entry *entries;
    uint32_t entry_count, set_count;
};
struct wire_load { /* of one group with one set of wires on one real link */
    uint32_t link; /* row of used.links */
    uint32_t set;
    double weight; /* sum of share_weight'ed terms, relative to the set's busiest wire */
    uint64_t key;  /* hash of set and weight */
};
struct real_group { /* by row */
    uint32_t menu, shape;
    uint32_t load_first, load_count;
    uint32_t set_first; /* row of wire_weights for its set 0 */
};
struct shift {      /* how alike the replicas are: see symmetry_shift.c */
    uint32_t turns; /* parts of `step` replicas; 1: they are not, and rows are numbers */
    uint32_t rank_rows, group_rows;
    uint32_t replicas, stride, step;  /* of rank numbers along dp */
    struct divisor by_block, by_turn; /* ranks of all replicas in a row, and of those of a turn */
    bool *one_turn;                   /* [group]: all its members are of one turn */
    uint64_t *signature;              /* [turn] */
    uint32_t *first_like, *alike;     /* [turn]: first of its kind; [first]: how many */
    uint32_t *node_rank;              /* [node]: a rank of it, or ROW_NONE */
    uint32_t *row_of_rank, *row_of_group; /* NULL without turns, as all others */
    uint32_t *rank_at, *group_at;         /* [row]: the lowest number */
    bool *moves;                          /* [group row]: it lies in one turn */
    uint32_t *link_copies;                /* [used link] */
};
struct real {
    const struct configuration *c;
    const struct topology *topology;
    const struct layout *layout;
    const struct lowered *lowered;
    struct arena *arena;
    struct transfer_list *lists; /* [program x streams]: see symmetry_list */
    struct group_shape *shapes;
    struct menu *menus;
    struct real_group *groups;
    struct {
        struct wire_load *rows;
        uint32_t count, capacity;
    } loads;
    double *wire_weights; /* [group's set_first + set]: of the busiest wire, by payload byte */
    struct {
        uint32_t *links; /* ids, by row */
        uint32_t count;
        bool *own; /* [row]: never carries two activities at once */
    } used;        /* links that carry anything and can bind */
    double *speed; /* [GPU] */
    struct shift shift;
    uint32_t shape_count, menu_count, wire_weight_count;
};
struct partition { /* classes of rows, numbered by first appearance */
    uint32_t *rank, *group, *link;
    uint64_t *rank_colour; /* by row: of the refinement, whether it is used or not */
    uint32_t rank_count, group_count, link_count;
};

static inline struct transfer_list *symmetry_list(const struct real *real, uint32_t program,
                                                  unsigned stream)
{
    return &real->lists[(size_t)program * STREAM_COUNT + stream];
}
static inline uint32_t symmetry_rank_row(const struct real *real, uint32_t rank)
{
    return real->shift.turns > 1 ? real->shift.row_of_rank[rank] : rank;
}
static inline uint32_t symmetry_group_row(const struct real *real, uint32_t group)
{
    return real->shift.turns > 1 ? real->shift.row_of_group[group] : group;
}
static inline uint32_t symmetry_rank_at(const struct real *real, uint32_t row)
{
    return real->shift.turns > 1 ? real->shift.rank_at[row] : row;
}
static inline uint32_t symmetry_group_at(const struct real *real, uint32_t row)
{
    return real->shift.turns > 1 ? real->shift.group_at[row] : row;
}
/* symmetry_shift.c: fills real->shift, with turns or without. The kinds of turns, and with them the
 * rows, are known when all signatures are complete; copies of links when all used links are. */
void symmetry_find_shift(struct arena *arena, struct real *real);
void symmetry_no_shift(struct real *real);
void symmetry_number_rows(struct arena *arena, struct real *real);
void symmetry_count_copies(struct arena *arena, struct real *real);
/* Turns: of a rank, of a link (of a node or NIC); a link or group at the same place of another turn
 * (the group lies in one). */
uint32_t symmetry_turn_of(const struct real *real, uint32_t rank);
uint32_t symmetry_turn_of_link(const struct real *real, uint32_t link);
struct turned_link {
    uint32_t turn, link; /* the turn of a link, and its like in turn 0 */
};
struct turned_link symmetry_first_link(const struct real *real, uint32_t link);
/* The node at the same place of the first turn of its kind: what is measured of it holds here. */
uint32_t symmetry_node_like(const struct real *real, uint32_t node);
uint32_t symmetry_turned_group(const struct real *real, const struct group *group, uint32_t turn);
/* Adds to a turn's signature that something at a place of turn 0 is so here. */
static inline void symmetry_sign(struct real *real, uint32_t turn, uint64_t place, uint64_t what)
{
    real->shift.signature[turn] += symmetry_mix(place, what);
}
/* Groups that a row of groups stands for. */
uint32_t symmetry_group_copies(const struct real *real, uint32_t row);
/* Links that a row of used links stands for. */
static inline uint32_t symmetry_link_copies(const struct real *real, uint32_t used_link)
{
    return real->shift.turns == 1 ? 1 : real->shift.link_copies[used_link];
}
/* Links that a load stands for: a group with members in all turns loads every copy. */
static inline uint32_t symmetry_load_copies(const struct real *real, uint32_t group_row,
                                            uint32_t used_link)
{
    return real->shift.turns == 1 || real->shift.moves[group_row]
               ? 1
               : real->shift.link_copies[used_link];
}
static inline double symmetry_capacity(const struct real *real, uint32_t used_link)
{
    const struct link_id link = {real->used.links[used_link]};
    return graph_link_type(&real->topology->graph, link)->bytes_per_s;
}
/* symmetry_exchange.c. Can a link of the fabric itself bind? */
bool symmetry_fabric_binds(const struct topology *topology);
/* Every member sends to every other: GPUs and their nodes, node by node in ascending order. Of
 * nodes that are not looked at no links are told (NULL: all are looked at). */
struct exchange {
    const uint32_t *gpus, *nodes; /* [count] */
    uint32_t count;
    const bool *looked_at; /* [node] */
};
/* A binding link, and how many of the messages cross it. Must not allocate. */
typedef void exchange_fn(void *context, uint32_t link, uint32_t wires);
/* Each such link once, in the order in which the pairs by sender, then by receiver, first meet
 * them. On a cluster whose fabric never binds. Asks for 2 routes for each member and GPU of a node.
 */
void symmetry_exchange(struct arena *arena, const struct topology *topology,
                       const struct exchange *exchange, exchange_fn *take, void *context);
/* symmetry_ends.c: the binding links of a route, by their places in the nodes at its ends. */
enum {
    END_LINKS_MAX = 10
};
struct end_links {
    enum {
        END_LINKS_UNKNOWN,
        END_LINKS_KNOWN,
        END_LINKS_MANY /* more than fit here */
    } state;
    uint32_t count;
    struct end_link {
        uint16_t place; /* as graph_place_of says */
        bool of_receiver;
    } links[END_LINKS_MAX];
};
struct end_pair { /* GPUs of a cluster, and their nodes */
    uint32_t from, from_node, to, to_node;
};
struct ends {
    const struct topology *topology;
    struct end_links *rows;          /* [in two nodes, sender's place, receiver's place] */
    struct turned_link *first_nodes; /* [node]: its turn, and (as link) its like in turn 0 */
};
/* Of replicas that turn; NULL: nodes are too wide for it. */
struct ends *symmetry_ends_create(struct arena *arena, const struct real *real);
/* In the order of the route; NULL: the route is to be asked for. */
const struct end_links *symmetry_ends(const struct ends *ends, const struct end_pair *pair);
/* symmetry_first_link of the link at this place of a node: the inverse of graph_place_of. */
static inline struct turned_link symmetry_first_at(const struct ends *ends, uint32_t node,
                                                   uint32_t place)
{
    const struct topology *t = ends->topology;
    const struct turned_link *first = &ends->first_nodes[node];
    const uint32_t port_ends = 2 * t->nics_per_node, inside = t->node_links;
    const uint32_t link = place < inside
                              ? first->link * inside + place
                              : t->node_count * inside + first->link * port_ends + place - inside;
    return (struct turned_link){first->turn, link};
}
/* symmetry_own.c: fills real->used.own. */
void symmetry_find_own(struct arena *arena, struct real *real);
/* A pipeline pair: its kind is the sender's stream. */
static inline bool symmetry_is_pair(enum stream kind)
{
    return kind == STREAM_SEND_NEXT || kind == STREAM_SEND_PREV;
}
/* The stream on which member `member` of a group takes part. */
static inline enum stream symmetry_role(const struct group *group, uint32_t member)
{
    if (!symmetry_is_pair(group->kind) || member == 0)
        return group->kind;
    return group->kind == STREAM_SEND_NEXT ? STREAM_RECV_PREV : STREAM_RECV_NEXT;
}
/* `fold`: rows may stand for orbits. */
void symmetry_measure(struct arena *arena, const struct symmetry_input *step, bool fold,
                      struct real *out);
void symmetry_fold(struct arena *arena, const struct real *real, const struct partition *partition,
                   struct symmetry *out);
/* CHECKs that the partition is equitable, member by member and load by load, without hashes. */
void symmetry_verify(const struct real *real, const struct partition *partition,
                     const struct symmetry *symmetry);

#endif
