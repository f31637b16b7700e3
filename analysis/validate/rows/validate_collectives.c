/* Collectives by size (collectives.csv), played on the cluster of the row as nccl-tests runs them.
 * In-switch reduction is what the row says, or else what the node can do. */
#include "analysis/validate/rows/validate_run.h"

#include <stdio.h>
#include <string.h>

#include "models/step/simulate/collective_run.h"

static const char *const metrics[] = {"time", NULL};
static const char *const columns[] = {"row_id", "op",         "gpu",    "gpus",
                                      "fabric", "size_bytes", "time_s", NULL};

/* Data sets have their own names for messages between pairs of GPUs. In a sendrecv all ranks send
 * and receive at once; ports carry both directions, so each pair takes as long as one message. */
static bool find_op(const char *name, enum comm_op *out)
{
    static const char *const messages[] = {"p2p", "sendrecv", "send_recv", "send_receive"};
    for (unsigned i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (strcmp(name, messages[i]) == 0)
            name = comm_op_names[COMM_SEND];
    for (unsigned i = 0; comm_op_names[i] != NULL; i++) {
        if (strcmp(comm_op_names[i], name) == 0) {
            *out = (enum comm_op)i;
            return true;
        }
    }
    return false;
}

/* The cluster with the smallest of runs on it, which is never played. */
static struct scenario *cluster_of(const struct validation *v, const struct validate_run *run,
                                   struct validate_row *row)
{
    struct validate_text text = {.length = 0};
    if (row->refused || !validate_cluster(v, run, &text, row))
        return NULL;
    validate_text_add(&text,
                      "model: {layers: 1, hidden: 64, heads: 1, vocabulary: 64}\n"
                      "training: {sequence: 64, global_batch: %llu, attention: math}\n",
                      (unsigned long long)run->gpus);
    return validate_scenario(v, text.s, row);
}

static void measure(struct scenario *s, const struct validate_run *run, enum comm_op op,
                    double bytes, int nvls, struct validate_row *row)
{
    struct collective_result result;
    struct error error = {""};
    if (nvls >= 0)
        s->configuration.cluster.node.nvlink.nvls = nvls > 0;
    if (!collective_run(&s->configuration, op, run->gpus, bytes, &result, &error)) {
        validate_row_refuse(row, REFUSAL_LAYOUT, "%.200s", error.text);
        return;
    }
    row->values[0].has_predicted = true;
    row->values[0].predicted = result.time_s;
    snprintf(row->note, sizeof row->note, "%s %s", result.algorithm, result.protocol);
}

static void predict(const struct validation *v, struct validate_row *row)
{
    struct cells c = {v->csv, row->record, row};
    struct validate_run run;
    enum comm_op op = COMM_ALL_REDUCE;
    validate_run_read(&c, &run);
    const char *name = validate_cells_word(&c, "op");
    double bytes = validate_cells_number(&c, "size_bytes", 0.0);
    int nvls =
        *validate_cells_word(&c, "nvls") != '\0' ? validate_cells_count(&c, "nvls", 0) > 0 : -1;
    validate_cells_measured(&c, "time_s", 1.0, &row->values[0]);
    if (!row->refused && !find_op(name, &op))
        validate_row_refuse(row, REFUSAL_OPERATION, "the operation %s is not known", name);
    if (!row->refused && (run.gpus < 2 || (op == COMM_SEND && run.gpus % 2 != 0)))
        validate_row_refuse(row, REFUSAL_CELLS, "%s takes two GPUs or more", name);
    if (row->refused)
        return;
    if (!(bytes > 0.0)) {
        snprintf(row->note, sizeof row->note, "without a size there is no time to predict");
        return;
    }
    struct scenario *s = cluster_of(v, &run, row);
    if (s != NULL)
        measure(s, &run, op, bytes, nvls, row);
    scenario_destroy(s);
}

const struct validate_kind validate_collectives = {
    .head = {.name = "collectives", .doc = "collective communication by size"},
    .columns = columns,
    .metrics = metrics,
    .predict = predict,
    .explained = "no scenario: one collective is played alone on the GPUs of the row; `orrery "
                 "collective` does so on whole nodes of the usual kind",
};
