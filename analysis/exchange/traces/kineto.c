#include "analysis/exchange/traces/kineto.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/traces/rank_message.h"
#include "analysis/output/text/utf8.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/import/trace/span.h"

enum {
    NS_PER_US = 1000,
    HOST_PROCESS = 1000, /* numbers below are those of cards */
    RANKS_SHOWN = 30,    /* of a group at a kernel (kTruncatLength of PyTorch's util.cpp) */
    LAUNCH_KERNEL = 211, /* CUPTI's numbers of cudaLaunchKernel and cudaMemcpyAsync */
    LAUNCH_COPY = 41
};

struct kineto {
    const struct rank_timeline *t;
    const struct configuration *c;
    FILE *out;
    int64_t correlation; /* of the kernel written last */
    unsigned card;
};
/* One kernel of an op. */
struct kernel_span {
    const struct op *op;
    const struct rank_op *at;
    const char *name; /* NULL: of a transfer */
    double flops;
    int64_t begin_ns, finish_ns;
};

static void write_us(FILE *out, int64_t ns)
{
    fprintf(out, "%" PRId64 ".%03d", ns / NS_PER_US, (int)(ns % NS_PER_US));
}

static void write_times(FILE *out, int64_t begin_ns, int64_t finish_ns)
{
    fputs(",\"ts\":", out);
    write_us(out, begin_ns);
    fputs(",\"dur\":", out);
    write_us(out, finish_ns - begin_ns);
}

static int stream_number(unsigned stream)
{
    return KINETO_STREAM + (int)stream;
}

static bool is_copy(const struct op *op)
{
    return (STREAMS_OF_HOST >> op->stream & 1) != 0;
}

/* Which pass a kernel computes for, as span_direction_of_kernel reads it again: gradients are
 * backward's, what both passes may do is of none. */
static const char *pass_of(const struct op *op, const char *name)
{
    switch ((enum phase)op->phase) {
    case PHASE_FORWARD:
    case PHASE_RECOMPUTE:
        return "forward::";
    case PHASE_BACKWARD:
        return strstr(name, "grad") != NULL ? "backward::" : "";
    case PHASE_GRADIENTS:
    case PHASE_OPTIMIZER:
    case PHASE_PARAMETERS:
    case PHASE_COUNT:
        break;
    }
    return "";
}

/* Products of experts are told apart by their namespace. */
static const char *namespace_of(const struct kernel_span *k)
{
    const enum span_kind kind = span_kind_of_simulated(k->name, k->flops);
    return kind == SPAN_GEMM && strncmp(k->name, "expert ", 7) == 0 ? "moe_gemm"
                                                                    : span_kind_names[kind];
}

static void write_name(const struct kineto *k, const struct kernel_span *span)
{
    if (is_copy(span->op))
        fputs(span->op->stream == STREAM_TO_HOST ? "Memcpy DtoH (Device -> Pinned)"
                                                 : "Memcpy HtoD (Pinned -> Device)",
              k->out);
    else
        fprintf(k->out, "orrery::%s::%s%s", namespace_of(span), pass_of(span->op, span->name),
                span->name);
}

static void write_label(const struct kineto *k, const char *name, uint16_t value)
{
    if (value != UINT16_MAX)
        fprintf(k->out, ",\"%s\":%u", name, value);
}

static void write_labels(const struct kineto *k, const struct op *op)
{
    fprintf(k->out, ",\"phase\":\"%s\"", phase_names[op->phase]);
    write_label(k, "microbatch", op->microbatch);
    write_label(k, "layer", op->layer);
}

static void write_ranks(const struct kineto *k, const struct group *group, uint32_t most)
{
    for (uint32_t i = 0; i < group->member_count && i < most; i++)
        fprintf(k->out, "%s%u", i > 0 ? ", " : "", layout_member(&k->t->layout, group, i));
    if (group->member_count > most)
        fputs(", ...", k->out);
}

static void write_message(const struct kineto *k, const struct op *op, const struct rank_message *m)
{
    const struct group *group = &m->group;
    fprintf(k->out,
            ",\"Collective name\":\"%s\",\"In msg nelems\":%.0f,\"Out msg nelems\":%.0f,"
            "\"Group size\":%u,\"dtype\":\"%s\",\"Process Group Name\":\"%" PRIu32
            "\",\"Process Group Description\":\"%s\",\"Process Group Ranks\":\"[",
            m->collective, m->in, m->out, group->member_count, m->type, m->group_index + 1,
            stream_names[group->kind]);
    write_ranks(k, group, RANKS_SHOWN);
    fputs("]\"", k->out);
    if (op->kind != OP_COLLECTIVE)
        fprintf(k->out, ",\"%s Rank\":%u", op->kind == OP_SEND ? "Dst" : "Src",
                layout_member(&k->t->layout, group, op->kind == OP_SEND));
}

static void write_launch(const struct kineto *k, const struct op *op, const struct rank_op *at)
{
    const unsigned process = HOST_PROCESS + k->t->rank;
    fprintf(k->out,
            ",\n{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u",
            is_copy(op) ? "cudaMemcpyAsync" : "cudaLaunchKernel", process, process);
    write_times(k->out, at->launch_ns, at->launch_ns);
    fprintf(k->out, ",\"args\":{\"cbid\":%d,\"correlation\":%" PRId64 "}}",
            is_copy(op) ? LAUNCH_COPY : LAUNCH_KERNEL, k->correlation);
}

static void write_where(const struct kineto *k, const struct kernel_span *span)
{
    fprintf(k->out, ",\"pid\":%u,\"tid\":%d", k->card, stream_number(span->op->stream));
    write_times(k->out, span->begin_ns, span->finish_ns);
    fprintf(k->out, ",\"args\":{\"device\":%u,\"context\":1,\"stream\":%d,\"correlation\":%" PRId64,
            k->card, stream_number(span->op->stream), k->correlation);
}

static void write_kernel(struct kineto *k, const struct kernel_span *span)
{
    if (span->finish_ns <= span->begin_ns)
        return;
    k->correlation++;
    write_launch(k, span->op, span->at);
    fprintf(k->out, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"",
            is_copy(span->op) ? "gpu_memcpy" : "kernel");
    write_name(k, span);
    fputc('"', k->out);
    write_where(k, span);
    if (is_copy(span->op))
        fprintf(k->out, ",\"bytes\":%.0f", k->t->program->costs[span->op->cost].bytes);
    write_labels(k, span->op);
    fputs("}}", k->out);
}

/* Members of a group without bytes only meet: nothing runs on the card. */
static void write_transfer(struct kineto *k, const struct op *op, const struct rank_op *at)
{
    const struct kernel_span span = {op, at, NULL, 0.0, at->begin_ns, at->finish_ns};
    struct rank_message message;
    if (!(k->t->program->transfers[op->cost].bytes > 0.0) || at->finish_ns <= at->begin_ns)
        return;
    rank_message_of(k->c, &k->t->layout, k->t->rank, k->t->program, op, &message);
    k->correlation++;
    write_launch(k, op, at);
    fprintf(k->out, ",\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\"", message.kernel);
    write_where(k, &span);
    write_message(k, op, &message);
    write_labels(k, op);
    fputs("}}", k->out);
}

static void write_compute(struct kineto *k, const struct op *op, const struct rank_op *at)
{
    const struct program *p = k->t->program;
    const struct op_cost *cost = &p->costs[op->cost];
    const struct op_kernel *kernels = &p->kernels[cost->kernel_first];
    const double took_ns = (double)(at->finish_ns - at->begin_ns);
    struct kernel_span span = {op,          at,           p->names[op->name],
                               cost->flops, at->begin_ns, at->finish_ns};
    double sum_s = 0.0, done_s = 0.0;
    for (uint32_t i = 0; i < cost->kernel_count; i++)
        sum_s += kernels[i].gpu_s;
    if (sum_s == 0.0 || is_copy(op)) {
        write_kernel(k, &span);
        return;
    }
    for (uint32_t i = 0; i < cost->kernel_count; i++) {
        done_s += kernels[i].gpu_s;
        span.name = kernels[i].name;
        span.flops = kernels[i].flops;
        span.finish_ns = i + 1 == cost->kernel_count
                             ? at->finish_ns
                             : at->begin_ns + (int64_t)(done_s / sum_s * took_ns + 0.5);
        write_kernel(k, &span);
        span.begin_ns = span.finish_ns;
    }
}

static void write_process(const struct kineto *k, unsigned process, const char *name)
{
    fprintf(k->out,
            "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"tid\":0,\"ts\":0,\"args\":"
            "{\"name\":\"%s\"}}",
            process == k->card ? "\n" : ",\n", process, name);
}

static void write_stream(const struct kineto *k, unsigned stream)
{
    fprintf(k->out,
            ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%d,\"ts\":0,\"args\":"
            "{\"name\":\"stream %d %s\"}}",
            k->card, stream_number(stream), stream_number(stream), stream_names[stream]);
}

static void write_heads(const struct kineto *k)
{
    const unsigned process = HOST_PROCESS + k->t->rank;
    uint32_t streams = 0;
    for (uint32_t i = 0; i < k->t->program->op_count; i++)
        streams |= 1u << k->t->program->ops[i].stream;
    write_process(k, k->card, "GPU");
    write_process(k, process, "host");
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++)
        if ((streams >> stream & 1) != 0)
            write_stream(k, stream);
    fprintf(k->out,
            ",\n{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\",\"pid\":%u,"
            "\"tid\":%u",
            process, process);
    write_times(k->out, 0, k->t->step_ns);
    fputs(",\"args\":{}}", k->out);
}

/* All groups of the rank, each once, with all of their ranks. */
static void write_groups(const struct kineto *k)
{
    uint32_t written[STREAM_COUNT], count = 0;
    fprintf(k->out, "\"pg_config\":[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"pg_size\":%u}",
            k->t->rank_count);
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
        const uint32_t index = layout_group_of(&k->t->layout, k->t->rank, (enum stream)stream);
        uint32_t before = 0;
        while (before < count && written[before] != index)
            before++;
        if (index == GROUP_NONE || before < count)
            continue;
        const struct group group = layout_group(&k->t->layout, index);
        written[count++] = index;
        fprintf(k->out, ",\n{\"pg_name\":\"%u\",\"pg_desc\":\"%s\",\"pg_size\":%u,\"ranks\":[",
                index + 1, stream_names[group.kind], group.member_count);
        write_ranks(k, &group, group.member_count);
        fputs("]}", k->out);
    }
    fprintf(k->out, "],\"pg_count\":%u", count + 1);
}

/* HTA and others find the rank with a pattern that wants a blank behind its colon, as Python's json
 * writes one (facebookresearch/HolisticTraceAnalysis hta/common/trace_file.py). */
static void write_beginning(const struct kineto *k)
{
    const char *card = k->c->gpu.name;
    fputs("{\"generator\":\"orrery\",\"schemaVersion\":1,\"displayTimeUnit\":\"ms\","
          "\"baseTimeNanoseconds\":0,\n\"deviceProperties\":[{\"id\": ",
          k->out);
    fprintf(k->out, "%u, \"name\": ", k->card);
    utf8_write_json(k->out, card, (unsigned)strlen(card));
    fprintf(k->out,
            ", \"numSms\": %" PRIu64 "}],\n\"distributedInfo\": {\"backend\": \"nccl\", "
            "\"rank\": %u, \"world_size\": %u, ",
            k->c->gpu.sm_count, k->t->rank, k->t->rank_count);
    write_groups(k);
    fputs("},\n\"traceEvents\":[", k->out);
}

void kineto_write(const struct rank_timeline *t, FILE *out)
{
    const struct configuration *c = &t->scenario->configuration;
    struct kineto k = {.t = t, .c = c, .out = out};
    k.card = (unsigned)(t->layout.gpu_of_rank[t->rank] % c->cluster.node.gpus);
    write_beginning(&k);
    write_heads(&k);
    for (uint32_t i = 0; i < t->program->op_count; i++) {
        const struct op *op = &t->program->ops[i];
        if (op->kind == OP_COMPUTE)
            write_compute(&k, op, &t->ops[i]);
        else
            write_transfer(&k, op, &t->ops[i]);
    }
    fputs("\n]}\n", out);
}
