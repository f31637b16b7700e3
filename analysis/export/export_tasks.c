/* The timeline of a task graph as Chrome trace events: a process for each rank, a track for each of
 * its lanes and groups. A lane and a group carry one thing at a time, so that no spans overlap. */
#include <inttypes.h>

#include "analysis/export/export.h"
#include "sim/digest.h"

enum {
    NS_PER_US = 1000
};
struct task_timeline {
    const struct task_outcome *o;
    FILE *out;
    uint32_t rank;
    uint32_t *named_for; /* [group]: the rank + 1 whose track of it has a name */
    bool first;          /* no event has been written yet */
};

/* ASCII that a terminal can show. */
static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void begin(struct task_timeline *t, char phase, uint64_t track)
{
    fprintf(t->out, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%" PRIu64, t->first ? "\n" : ",\n", phase,
            t->rank, track);
    t->first = false;
}

static void write_us(struct task_timeline *t, const char *key, int64_t ns)
{
    fprintf(t->out, ",\"%s\":%" PRId64 ".%03d", key, ns / NS_PER_US, (int)(ns % NS_PER_US));
}

static void name_track(struct task_timeline *t, uint64_t track, const char *name)
{
    begin(t, 'M', track);
    fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", t->out);
    write_text(t->out, name);
    fputs("}}", t->out);
}

static void write_node(struct task_timeline *t, uint32_t index)
{
    const struct task_graph *g = t->o->graph;
    const struct task_node *node = &g->nodes[index];
    const struct task_times *times = &t->o->played->times[index];
    const bool meets = node->meeting != TASK_NONE;
    if (!meets && node->lane == TASK_NO_LANE)
        return;
    const int64_t begin_ns = digest_ns(times->begin_s), finish_ns = digest_ns(times->finish_s);
    begin(t, 'X', meets ? (uint64_t)TASK_LANES + g->meetings[node->meeting].group : node->lane);
    fputs(",\"name\":", t->out);
    write_text(t->out, node->name);
    write_us(t, "ts", begin_ns);
    write_us(t, "dur", finish_ns - begin_ns);
    fprintf(t->out, ",\"args\":{\"id\":%" PRIu64 ",\"waited_ns\":%" PRId64, node->id,
            begin_ns - digest_ns(times->ready_s));
    if (meets)
        fprintf(t->out, ",\"op\":\"%s\",\"bytes\":%.0f",
                comm_op_names[g->meetings[node->meeting].op], g->meetings[node->meeting].bytes);
    fputs("}}", t->out);
}

static void write_rank(struct task_timeline *t)
{
    static const char *const lanes[TASK_LANES] = {"compute", "memory", "host"};
    const struct task_graph *g = t->o->graph;
    begin(t, 'M', 0);
    fprintf(t->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"rank %u\"}}", t->rank);
    for (unsigned lane = 0; lane < TASK_LANES; lane++)
        name_track(t, lane, lanes[lane]);
    for (uint32_t n = g->rank_first[t->rank]; n < g->rank_first[t->rank + 1]; n++) {
        const uint32_t meeting = g->nodes[n].meeting;
        if (meeting != TASK_NONE && t->named_for[g->meetings[meeting].group] != t->rank + 1) {
            const uint32_t group = g->meetings[meeting].group;
            t->named_for[group] = t->rank + 1;
            name_track(t, (uint64_t)TASK_LANES + group, g->groups[group].name);
        }
        write_node(t, n);
    }
}

void export_tasks(const struct task_outcome *outcome, FILE *out)
{
    struct arena *arena = arena_create();
    struct task_timeline t = {.o = outcome, .out = out, .first = true};
    t.named_for = ARENA_ARRAY(arena, uint32_t, outcome->graph->group_count);
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    for (t.rank = 0; t.rank < outcome->graph->rank_count; t.rank++)
        write_rank(&t);
    fputs("\n]}\n", out);
    arena_destroy(arena);
}
