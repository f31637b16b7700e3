#include "analysis/explain/wires.h"

#include <string.h>

static bool take_number(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

static bool ask(struct query *query, const char *sql, bool *out, struct error *error)
{
    int64_t number = 0;
    const bool good = query_run(query, sql, NULL, take_number, &number, error);
    *out = number != 0;
    return good;
}

/* Does a group of ranks, alike in these coordinates, stand on several nodes? */
#define ACROSS(columns)                                                                            \
    "select coalesce(max(n), 0) > 1 from (select count(distinct g.node) as n from rank r "         \
    "join gpu g on g.id = r.gpu and g.run = r.run where r.run = 1 group by " columns ")"

bool wires_read(struct query *query, struct wires *out, struct error *error)
{
    static const char *const questions[WIRES_GROUP_COUNT] = {
        [WIRES_TP] = ACROSS("r.cp, r.dp, r.pp"), [WIRES_CP] = ACROSS("r.tp, r.dp, r.pp"),
        [WIRES_DP] = ACROSS("r.tp, r.pp"),       [WIRES_PP] = ACROSS("r.tp, r.cp, r.dp"),
        [WIRES_ALL] = ACROSS("r.run"),
    };
    *out = (struct wires){.nvlink = false};
    for (unsigned i = 0; i < WIRES_GROUP_COUNT; i++)
        if (!ask(query, questions[i], &out->across[i], error))
            return false;
    return ask(query, "select count(*) from link where run = 1 and kind = 'nvlink'", &out->nvlink,
               error) &&
           ask(query, "select count(*) from run where id = 1 and sharding = 'hsdp'", &out->split,
               error);
}

const char *wires_of(const struct wires *wires, const char *stream)
{
    static const struct {
        const char *stream;
        enum wires_group group;
    } groups[] = {{"tp", WIRES_TP},        {"cp", WIRES_CP},        {"dp", WIRES_DP},
                  {"gather", WIRES_DP},    {"replicate", WIRES_DP}, {"embed", WIRES_ALL},
                  {"world", WIRES_ALL},    {"send_next", WIRES_PP}, {"recv_prev", WIRES_PP},
                  {"send_prev", WIRES_PP}, {"recv_next", WIRES_PP}};
    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(stream, groups[i].stream) != 0)
            continue;
        const bool across = wires->across[groups[i].group];
        if (wires->split && groups[i].group == WIRES_DP && across)
            return "";
        return across ? "network" : wires->nvlink ? "nvlink" : "pcie";
    }
    return "";
}
