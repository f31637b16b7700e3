/* nccl_tests_json.c - rccl-tests -Z json (ROCm/rccl-tests src/common.cu, class Reporter): a list of
 * objects, of older versions a line each; nccl-tests -J (NVIDIA/nccl-tests src/util.cu): one object
 * with `config`, `results`. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/machine/nccl_tests_state.h"

enum {
    RANKS_MAX = 1 << 20
};

static double number_of(const json_t *object, const char *name, double without)
{
    const json_t *json = json_object_get(object, name);
    return json_is_number(json) ? json_number_value(json) : without;
}

static const char *string_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static bool is_count(double value, double most)
{
    return value >= 1.0 && value <= most && value == floor(value);
}

/* How many ranks on how many nodes. */
static bool take_ranks(struct nccl_reading *r, double ranks, double nodes)
{
    if (!is_count(ranks, RANKS_MAX) || ranks < 2.0 || !is_count(nodes, ranks))
        return import_text_bad(&r->text, "among how many GPUs of how many nodes is not told");
    r->rank_count = (unsigned)ranks;
    r->host_count = (unsigned)nodes;
    return true;
}

static struct nccl_hints hints_of(const json_t *row)
{
    const char *root = string_of(row, "root");
    return (struct nccl_hints){.redop = string_of(row, "redop"), .root = root + strspn(root, " ")};
}

/* One measurement, `names` those of time, algbw and busbw. */
static bool keep(struct nccl_reading *r, const json_t *row, const json_t *times,
                 const char *const names[3])
{
    struct nccl_times t = {.bytes = number_of(row, "size", -1.0),
                           .time_us = number_of(times, names[0], -1.0),
                           .algbw = number_of(times, names[1], -1.0),
                           .busbw = number_of(times, names[2], -1.0)};
    const char *type = nccl_tests_type(string_of(row, "type"));
    if (json_object_get(times, "cpu_time") != NULL)
        return import_text_bad(&r->text, "these are times of the CPU: run without -C 1");
    if (type == NULL || t.bytes < 0.0 || t.bytes != floor(t.bytes) || t.time_us < 0.0 ||
        t.algbw < 0.0 || t.busbw < 0.0)
        return import_text_bad(&r->text, "a result without size, type, time and bandwidths");
    const char *wrong = string_of(times, json_object_get(times, "wrong") ? "wrong" : "#wrong");
    if (!import_text_number(wrong, &t.wrong))
        t.wrong = number_of(times, "nwrong", 0.0);
    if (t.bytes == 0.0 || *type == '\0') {
        r->out->left_out++;
        return true;
    }
    const struct nccl_hints hints = hints_of(row);
    return nccl_tests_keep(r, type, &t, &hints);
}

/* Processes on nodes with several GPUs each; without MPI one process with all of them. */
static bool read_rccl(struct nccl_reading *r, const json_t *row)
{
    static const char *const names[3] = {"time", "algBw", "busBw"};
    const double gpus = number_of(row, "gpus", 0.0);
    const double ranks = number_of(row, "ranks", 0.0) * number_of(row, "gpusPerRank", 1.0);
    if (!nccl_tests_take_op(r, string_of(row, "name")) ||
        !take_ranks(r, gpus > 0.0 ? gpus : ranks, number_of(row, "nodes", gpus > 0.0 ? 1.0 : 0.0)))
        return false;
    r->out->table_count += r->out->table_count == 0;
    return keep(r, row, row, names);
}

/* The first of each process stands in the list, whatever it drives. */
static bool read_devices(struct nccl_reading *r, const json_t *config)
{
    const json_t *list = json_object_get(config, "devices"), *item;
    const double each = number_of(config, "nthreads", 0.0) * number_of(config, "ngpus", 0.0);
    size_t index, hosts = 0;
    json_array_foreach(list, index, item)
    {
        bool seen = false;
        const char *host = string_of(item, "hostname"), *card = string_of(item, "device_info");
        for (size_t i = 0; i < index && !seen; i++)
            seen = strcmp(host, string_of(json_array_get(list, i), "hostname")) == 0;
        hosts += !seen;
        if (number_of(item, "group", -1.0) != 0.0)
            return import_text_bad(&r->text, "several groups at once: their wires are shared, and "
                                             "no time is that of a group alone");
        if (number_of(item, "rank", -1.0) != (double)index * each)
            return import_text_bad(&r->text, "the ranks of `devices` do not count up: it is cut");
        if (*r->out->device == '\0')
            snprintf(r->out->device, sizeof r->out->device, "%s", card);
        if (strncmp(r->out->device, card, sizeof r->out->device - 1) != 0)
            return import_text_bad(
                &r->text, "a rank on %s after one on %s: a profile is of one card",
                import_text_quote(&r->text, card), import_text_quote(&r->text, r->out->device));
    }
    return take_ranks(r, each * (double)json_array_size(list), (double)hosts);
}

/* Without the name of the program, by the result with the largest bandwidth. */
static const char *guess_op(const struct nccl_reading *r, const json_t *results)
{
    struct nccl_times best = {.algbw = 0.0};
    struct nccl_hints hints = {NULL, NULL, false};
    size_t index;
    const json_t *row;
    json_array_foreach(results, index, row)
    {
        const json_t *times = json_object_get(row, "in_place");
        const double algbw = number_of(times, "alg_bw", 0.0);
        if (algbw <= best.algbw)
            continue;
        best = (struct nccl_times){.algbw = algbw, .busbw = number_of(times, "bus_bw", 0.0)};
        hints = hints_of(row);
    }
    return nccl_tests_guess(r->rank_count, &best, &hints);
}

static bool read_nccl(struct nccl_reading *r, const json_t *whole)
{
    static const char *const names[3] = {"time", "alg_bw", "bus_bw"};
    static const char *const halves[] = {"out_of_place", "in_place"};
    const json_t *results = json_object_get(whole, "results"), *row;
    const char *program = json_string_value(json_array_get(json_object_get(whole, "args"), 0));
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    size_t index;
    if (!read_devices(r, json_object_get(whole, "config")))
        return false;
    program = slash != NULL ? slash + 1 : program;
    r->op = r->given_op;
    if (program != NULL && strstr(program, "_perf") != NULL && !nccl_tests_take_op(r, program))
        return false;
    if (r->op == NULL && (r->op = guess_op(r, results)) == NULL)
        return nccl_tests_question(r);
    r->out->table_count++;
    json_array_foreach(results, index, row)
    {
        for (unsigned h = 0; h < 2; h++) {
            const json_t *times = json_object_get(row, halves[h]);
            if (json_is_object(times) && !keep(r, row, times, names))
                return false;
        }
    }
    return true;
}

static bool read_document(struct nccl_reading *r, const json_t *json)
{
    size_t index;
    const json_t *item;
    if (json_is_object(json))
        return json_object_get(json, "results") != NULL ? read_nccl(r, json) : read_rccl(r, json);
    json_array_foreach(json, index, item)
    {
        if (!read_document(r, item))
            return false;
    }
    return json_is_array(json) || import_text_bad(&r->text, "no object of rccl-tests");
}

bool nccl_tests_json(struct nccl_reading *r)
{
    struct import_text *text = &r->text;
    for (text->line = 1;;) {
        json_error_t fault;
        for (; text->at < text->end && strchr(" \t\r\n,", *text->at) != NULL; text->at++)
            text->line += *text->at == '\n';
        if (text->at >= text->end)
            return true;
        json_t *json = json_loadb(text->at, (size_t)(text->end - text->at),
                                  JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &fault);
        if (json == NULL) {
            text->line += fault.line > 0 ? (unsigned)fault.line - 1 : 0;
            return import_text_bad(text, "not JSON: %s", import_text_quote(text, fault.text));
        }
        const bool good = read_document(r, json);
        json_decref(json);
        if (!good)
            return false;
        for (const char *end = text->at + fault.position; text->at < end; text->at++)
            text->line += *text->at == '\n';
    }
}
