/* worker_stuck.c - says who waits for whom when a step cannot go on. */
#include <stdio.h>

#include "models/step/simulate/worker_state.h"

enum {
    EXPLAIN_RANK_MAX = 4,
    EXPLAIN_MEMBER_MAX = 4
};

static const char *op_name(const struct program *program, uint32_t op)
{
    const uint16_t name = program->ops[op - 1].name;
    return name < program->name_count ? program->names[name] : "op";
}

static void explain_group(const struct worker *worker, uint32_t rank_class, unsigned stream)
{
    const struct symmetry *symmetry = worker->symmetry;
    const uint32_t group_class = symmetry->ranks[rank_class].group[stream];
    const struct layout *layout = worker->layout;
    fprintf(stderr, " is posted; its group's others are not");
    if (layout == NULL || group_class == GROUP_NONE) {
        fprintf(stderr, "\n");
        return;
    }
    const struct group group = layout_group(layout, symmetry->groups[group_class].representative);
    fprintf(stderr, " (ranks");
    for (uint32_t i = 0; i < group.member_count && i < EXPLAIN_MEMBER_MAX; i++)
        fprintf(stderr, " %u", layout_member(layout, &group, i));
    fprintf(stderr, "%s)\n", group.member_count > EXPLAIN_MEMBER_MAX ? " ..." : "");
}

static void explain_head(const struct worker *worker, uint32_t rank_class, unsigned stream)
{
    const struct rank_state *rank = &worker->ranks[rank_class];
    const struct program *source = rank->program->source;
    const uint32_t index = rank->streams[stream].head;
    const struct played_op *op = &rank->program->ops[index];
    fprintf(stderr, "  rank %u (stage %u), stream %s: op %u (%s)",
            worker->symmetry->ranks[rank_class].representative, source->stage, stream_names[stream],
            index - 1, op_name(source, index));
    for (unsigned i = 0; i < WAIT_COUNT; i++) {
        if (rank->streams[op->wait_stream[i]].head <= op->wait[i]) {
            fprintf(stderr, " %s op %u (%s) on %s\n",
                    i == WAIT_HOST ? "is not launched: the host waits for" : "waits for",
                    op->wait[i] - 1, op_name(source, op->wait[i]),
                    stream_names[op->wait_stream[i]]);
            return;
        }
    }
    explain_group(worker, rank_class, stream);
}

void worker_explain(const struct worker *worker)
{
    unsigned shown = 0;
    fprintf(stderr, "deadlock: no event is left, and these ranks wait:\n");
    for (uint32_t r = 0; r < worker->symmetry->rank_class_count; r++) {
        bool open = false;
        for (unsigned s = 0; s < STREAM_COUNT && shown < EXPLAIN_RANK_MAX; s++) {
            if (worker->ranks[r].streams[s].head != OP_END) {
                explain_head(worker, r, s);
                open = true;
            }
        }
        shown += open;
    }
}
