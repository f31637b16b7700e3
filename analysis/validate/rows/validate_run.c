#include "analysis/validate/rows/validate_run.h"

#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "topology/topology_kind.h"

static void read_model(struct cells *c, struct validate_run *r)
{
    r->model.layers = validate_cells_count(c, "layers", 0);
    r->model.hidden = validate_cells_count(c, "hidden", 0);
    r->model.heads = validate_cells_count(c, "heads", 0);
    r->model.kv_heads = validate_cells_count(c, "kv_heads", 0);
    r->model.head_size = validate_cells_count(c, "head_dim", 0);
    r->model.ffn_hidden = validate_cells_count(c, "ffn_hidden", 0);
    r->model.vocabulary = validate_cells_count(c, "vocab", 0);
    r->model.ffn = validate_cells_word(c, "ffn");
    r->model.positions = validate_cells_word(c, "positions");
    r->model.tied_embeddings = validate_cells_flag(c, "tied_embeddings");
    r->model.experts = validate_cells_count(c, "experts", 0);
    r->model.experts_per_token = validate_cells_count(c, "experts_per_token", 0);
    r->model.moe_ffn_hidden = validate_cells_count(c, "moe_ffn_hidden", 0);
    r->model.shared_experts = validate_cells_count(c, "shared_experts", 0);
    r->model.dense_layers = validate_cells_count(c, "dense_layers", 0);
}

/* Does the row's name hold this word, between dashes, dots or ends? */
static bool says(const struct cells *c, const char *word)
{
    const char *id = csv_cell(c->csv, c->record, "row_id");
    const size_t length = strlen(word);
    for (const char *at = strstr(id, word); at != NULL; at = strstr(at + 1, word)) {
        const bool begins = at == id || at[-1] == '-' || at[-1] == '.';
        if (begins && (at[length] == '\0' || at[length] == '-' || at[length] == '.'))
            return true;
    }
    return false;
}

static void read_words(struct cells *c, struct validate_run *r)
{
    r->says.eager = says(c, "eager");
    r->says.compile = says(c, "compile");
    r->says.layer = says(c, "selective-layer");
    r->says.async = says(c, "async");
    r->says.native = says(c, "ddp") || says(c, "fsdp");
}

/* Of a column by its number; "" where the table lacks it (-1). */
static const char *cell_of(const struct csv *csv, size_t row, int column)
{
    return column < 0 ? "" : csv->cells[row * csv->column_count + (size_t)column];
}

/* Each row of a table asks: columns are looked up once. */
static struct validate_run_peers peers_of(const struct cells *c)
{
    const struct csv *csv = c->csv;
    const int same[] = {csv_column(csv, "source"), csv_column(csv, "software"),
                        csv_column(csv, "released")};
    const int sequence_parallel = csv_column(csv, "sequence_parallel"),
              recompute = csv_column(csv, "recompute"), attention = csv_column(csv, "attention");
    struct validate_run_peers peers = {false, false, false};
    for (size_t row = 0; row < csv->row_count; row++) {
        bool peer = true;
        for (unsigned i = 0; i < sizeof same / sizeof same[0]; i++)
            peer =
                peer && strcmp(cell_of(csv, row, same[i]), cell_of(csv, c->record, same[i])) == 0;
        if (!peer)
            continue;
        peers.sequence_parallel |= strcmp(cell_of(csv, row, sequence_parallel), "1") == 0;
        peers.selective |= validate_run_selective(cell_of(csv, row, recompute));
        peers.fused |= validate_run_fused(cell_of(csv, row, attention));
    }
    return peers;
}

void validate_run_read(struct cells *c, struct validate_run *r)
{
    *r = (struct validate_run){.cells = *c};
    read_model(c, r);
    read_words(c, r);
    validate_stated_read(c, &r->stated);
    r->sequence = validate_cells_count(c, "seq_len", 0);
    r->global_batch = validate_cells_count(c, "global_batch", 0);
    r->gpu = validate_cells_word(c, "gpu");
    r->gpus = validate_cells_count(c, "gpus", 0);
    r->gpus_per_node = validate_cells_count(c, "gpus_per_node", 0);
    r->fabric = validate_cells_word(c, "fabric");
    r->layout.tp = validate_cells_count(c, "tp", 1);
    r->layout.pp = validate_cells_count(c, "pp", 1);
    r->layout.dp = validate_cells_count(c, "dp", 0);
    r->layout.cp = validate_cells_count(c, "cp", 1);
    r->layout.ep = validate_cells_count(c, "ep", 0);
    r->layout.vpp = validate_cells_count(c, "vpp", 0);
    r->layout.zero = validate_cells_count(c, "zero", ZERO_UNKNOWN);
    r->layout.sequence_parallel = validate_cells_flag(c, "sequence_parallel");
    r->layout.microbatch = validate_cells_count(c, "microbatch", 0);
    r->recompute = validate_cells_word(c, "recompute");
    r->attention = validate_cells_word(c, "attention");
    r->says.attention_assumed =
        validate_text_lists(csv_cell(c->csv, c->record, "assumed"), "attention");
    r->precision = validate_cells_word(c, "precision");
    r->gradient_bytes = validate_cells_number(c, "grad_bytes", 0.0);
    r->schedule = validate_cells_word(c, "schedule");
    r->software = validate_cells_word(c, "software");
    r->released = validate_cells_word(c, "released");
    r->peers = peers_of(c);
}

/* Does line `number` (from 1) of the text stand in this section? */
static bool in_section(const char *text, unsigned number, const char *section)
{
    bool inside = false;
    for (unsigned line = 1; line <= number && text != NULL && *text != '\0'; line++) {
        if (*text != ' ')
            inside = strncmp(text, section, strlen(section)) == 0;
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return inside;
}

/* The word for a problem of the scenario: by the key that it stands at, else by the section. */
static enum refusal refusal_of(const char *text, const struct problem *problem)
{
    static const struct {
        const char *key;
        enum refusal why;
    } known[] = {{"ep:", REFUSAL_EXPERTS},          {"experts", REFUSAL_EXPERTS},
                 {"moe_", REFUSAL_EXPERTS},         {"shared_experts", REFUSAL_EXPERTS},
                 {"dense_layers", REFUSAL_EXPERTS}, {"schedule", REFUSAL_SCHEDULE}};
    const char *line = problem->source != NULL ? problem->source : "";
    const char *at = problem->column <= strlen(line) ? line + problem->column - 1 : line;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(at, known[i].key, strlen(known[i].key)) == 0)
            return known[i].why;
    if (in_section(text, problem->line, "cluster"))
        return REFUSAL_HARDWARE;
    return in_section(text, problem->line, "software") ? REFUSAL_SOFTWARE : REFUSAL_LAYOUT;
}

static const struct problem *first_error(const struct scenario *s)
{
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++)
        if (!s->diagnostics.problems[i].warning)
            return &s->diagnostics.problems[i];
    return NULL;
}

struct scenario *validate_scenario(const struct validation *v, const char *text,
                                   struct validate_row *row)
{
    struct scenario_options how = {.catalogue = v->catalogue};
    struct error error = {""};
    struct scenario *s = scenario_read("the row", text, strlen(text), &how, &error);
    if (s == NULL) {
        validate_row_refuse(row, REFUSAL_LAYOUT, "%.200s", error.text);
        return NULL;
    }
    if (s->diagnostics.error_count > 0) {
        const struct problem *problem = first_error(s);
        validate_row_refuse(row, refusal_of(text, problem), "%.200s", problem->text);
        scenario_destroy(s);
        return NULL;
    }
    announced_words(&s->configuration, row->announced, sizeof row->announced);
    return s;
}

struct scenario *validate_run_scenario(const struct validation *v, struct validate_run *run,
                                       struct validate_row *row)
{
    if (row->refused)
        return NULL;
    struct validate_text text = {.length = 0};
    if (!validate_run_write(v, run, &text, row))
        return NULL;
    return validate_scenario(v, text.s, row);
}
