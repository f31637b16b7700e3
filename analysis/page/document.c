#include "analysis/page/document.h"

#include <string.h>

#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "analysis/output/text/version.h"
#include "analysis/page/curves.h"
#include "analysis/page/grid.h"
#include "analysis/page/saves.h"
#include "analysis/page/words.h"

enum {
    WHOLE_ROOM = 12000, /* spans of ops in a file that has no server behind it: half a megabyte */
    IDLE_ROOM = 4000
};

struct document_section {
    const char *name, *sql;
    bool runs; /* grid_write_runs */
};

static const struct document_section run_sections[] = {
    {"meta", "select key, value from meta order by key", false},
    {"run", "select * from run order by id limit 1", false},
    {"units", "select \"column\", unit, text from doc where object = 'run' and \"column\" <> ''",
     false},
    {"breakdown", "select part, seconds, percent, meaning from breakdown", false},
    {"classes", "select * from rank_class order by id", false},
    {"tracks", "select id, rank_class, kind, name, slices, busy_s, hidden_s, waited_s from track",
     false},
    {"strings", "select id, text from string order by id", false},
    {"links",
     "select kind, \"from\", \"to\", link_count, bytes_per_s, moved_bytes, busy_s from link "
     "order by id",
     false},
    {"wire_loads",
     "select v.track_id as track, v.ts, v.value from counter_raw v join track t "
     "on t.id = v.track_id where t.kind = 'wire' order by v.track_id, v.rowid",
     false},
    {"node_wires", /* nodes that follow each other in one row */
     "select kind, min(node) as first, max(node) as last, track_id as track from (select kind, "
     "node, track_id, node - row_number() over (partition by kind, track_id order by node) as "
     "island from node_wire) group by kind, track_id, island order by kind desc, first",
     false},
    {"gpus_of_node", "select count(*) as gpus from gpu where node = 0", false},
    {"stage_classes", "select rank_class, role from stage_class order by stage, rank_class", false},
    {"causes", "select text from string where id in (select cause from idle_raw) order by id",
     false},
    {"title", /* and what is announced, which no figure of the page may be read without */
     "select title || case when announced then ' (' || substr(announced_words, 1, "
     "instr(announced_words, ':') - 1) || ')' else '' end from run order by id limit 1",
     false},
    {"nodes", "select name from node where id = 0", false},
    {"seats",
     "select max(class) from (select run, gpu as id, rank_class as class from rank union all "
     "select run, id, 0 from gpu) where id is not null group by run, id order by run, id",
     true},
    {"notes", "select ts, text from note order by ts, id", false},
    {"messages",
     "select severity, key, text, doc from message where severity <> 'default' order by id", false},
    {"out_of_memory", "select * from out_of_memory order by id", false},
    {"stage_memory", "select * from stage_memory order by id", false},
    {"neighbours", "select * from neighbour order by id", false},
    {"kinds",
     "select k.track_id as track, n.text as name, p.text as phase, k.ops, k.flops, "
     "k.hbm_bytes, k.message_bytes, k.how from op_kind k join string n on n.id = k.name "
     "join string p on p.id = k.phase order by k.track_id, k.name, k.phase",
     false},
    {"lesson", "select * from lesson order by id", false},
    {"lesson_runs", "select * from lesson_run order by id", false},
    {"recipes", "select * from memory_recipe order by id", false},
    {"questions", "select * from question order by id", false},
    {"constants",
     "select name, value, text, unit, error_ratio, origin, source from constant order by name",
     false},
};
static const struct document_section weeks_sections[] = {
    {"failures",
     "select ts, cause, unit, unit_id, node, repair_s, exposed_s from failure order by ts, id",
     false},
    {"interruptions", "select * from interruption order by ts, id", false},
    {"badput", "select class, link, seconds from badput order by id", false},
    {"causes", "select name, unit, interruptions from failure_cause order by id", false},
    {"levels", "select * from checkpoint_level order by id", false},
    {"notes", "select key, text from message where severity = 'note' order by id", false},
};

static void write_name(FILE *out, const char *name)
{
    fputs(",\n\"", out);
    fputs(name, out);
    fputs("\":", out);
}

static bool write_sections(struct query *query, const struct document_section *sections,
                           unsigned count, FILE *out, struct error *error)
{
    bool good = true;
    for (unsigned i = 0; good && i < count; i++) {
        write_name(out, sections[i].name);
        good = sections[i].runs ? grid_write_runs(query, sections[i].sql, out, error)
                                : grid_write(query, sections[i].sql, NULL, out, error);
    }
    return good;
}

/* What the page calls a colour, and the row of the palette of the figures that gives it. */
static const struct {
    const char *role, *group;
} palette[] = {
    {"forward", "phase"},     {"backward", "phase"},   {"gradients", "phase"},
    {"optimizer", "phase"},   {"parameters", "phase"}, {"communication", "tenant"},
    {"checkpoint", "badput"},
};

/* Every row of the palette: {"group": {"word": colour, or null: hatched}}. */
static void write_shades(FILE *out)
{
    const char *group = "";
    write_name(out, "shades");
    fputc('{', out);
    for (unsigned i = 0; i < palette_row_count; i++) {
        const struct palette_row *row = &palette_rows[i];
        const bool same = strcmp(row->group, group) == 0;
        if (same)
            fputc(',', out);
        else
            fprintf(out, "%s\"%s\":{", i > 0 ? "}," : "", row->group);
        if (row->colour != NULL)
            fprintf(out, "\"%s\":\"%s\"", row->word, row->colour);
        else
            fprintf(out, "\"%s\":null", row->word);
        group = row->group;
    }
    fputs("}}", out);
}

static void write_palette(FILE *out)
{
    write_name(out, "palette");
    for (unsigned i = 0; i < sizeof palette / sizeof palette[0]; i++)
        fprintf(out, "%s\"%s\":\"%s\"", i > 0 ? "," : "{", palette[i].role,
                palette_colour(palette[i].group, palette[i].role));
    fputc('}', out);
    write_shades(out);
    write_name(out, "colours");
    for (unsigned i = 0; i < PLOT_COLOUR_COUNT; i++)
        fprintf(out, "%s\"%s\"", i > 0 ? "," : "[", plot_colour(i));
    fputc(']', out);
}

#define COUNT(array) (unsigned)(sizeof(array) / sizeof(array)[0])

void document_head(FILE *out, const char *name, const char *kind, bool complete)
{
    fputs("{\"schema\":\"orrery.replay/1\",\"version\":\"" ORRERY_VERSION "\",\"file\":", out);
    words_text(out, name, (unsigned)strlen(name));
    if (kind != NULL)
        fprintf(out, ",\"kind\":\"%s\"", kind);
    fputs(complete ? ",\"complete\":true" : ",\"complete\":false", out);
    write_palette(out);
}

static bool write_run(struct query *query, const char *name, FILE *out, struct error *error)
{
    document_head(out, name, NULL, query_complete(query));
    const bool good = write_sections(query, run_sections, COUNT(run_sections), out, error);
    fputc('}', out);
    return good;
}

static bool write_weeks(struct query *query, FILE *out, struct error *error)
{
    fputs("{\"schema\":\"orrery.replay/1\"", out);
    bool good = write_sections(query, weeks_sections, COUNT(weeks_sections), out, error);
    write_name(out, "checkpoints");
    good = good && saves_write(query, 0, INT64_MAX, out, error);
    fputc('}', out);
    return good;
}

bool document_write(struct query *query, const char *name, const struct document_ask *ask,
                    FILE *out, struct error *error)
{
    switch (ask->kind) {
    case DOCUMENT_RUN:
        return write_run(query, name, out, error);
    case DOCUMENT_SLICES:
        return slices_write(query, &ask->slices, out, error);
    case DOCUMENT_MEMORY:
        return curves_write(query, out, error);
    case DOCUMENT_SAVES:
        return saves_write(query, ask->slices.from_ns, ask->slices.to_ns, out, error);
    case DOCUMENT_WEEKS:
    case DOCUMENT_KIND_COUNT:
        break;
    }
    return write_weeks(query, out, error);
}

bool document_write_whole(struct query *query, const char *name, FILE *out, struct error *error)
{
    const int64_t end = INT64_MAX / 4;
    const struct slices_ask passes = {SLICES_PASSES, 0, end, SLICES_ALL, SLICES_ROOM};
    const struct slices_ask ops = {SLICES_OPS, 0, end, SLICES_STAGES, WHOLE_ROOM};
    const struct slices_ask idle = {SLICES_IDLE, 0, end, SLICES_ALL, IDLE_ROOM};
    fputs("{\"run\":", out);
    bool good = write_run(query, name, out, error);
    write_name(out, "passes");
    good = good && slices_write(query, &passes, out, error);
    write_name(out, "ops");
    good = good && slices_write(query, &ops, out, error);
    write_name(out, "idle");
    good = good && slices_write(query, &idle, out, error);
    write_name(out, "memory");
    good = good && curves_write(query, out, error);
    write_name(out, "weeks");
    good = good && write_weeks(query, out, error);
    fputs("}\n", out);
    return good;
}
