/* failure_slurm.c - Slurm: what sacct -P prints, the file of jobcomp/filetxt, slurmctld's log.
 *
 * Which one it is, is seen from the line. A job that ends NODE_FAIL lost a node: each that
 * `FailedNode` names, or its only one; of several it is one that nobody names: one failure, on the
 * first of them, since a failure of each would be a rate too high by their number. Without names of
 * nodes it counts for the job. A job that ends FAILED or OUT_OF_MEMORY failed by itself. Jobs on
 * other nodes (where none is named: of another number) do not repeat each other. The rest ended as
 * somebody wished.
 * (slurm.schedmd.com/sacct.html, job state codes; slurmctld: src/slurmctld/ping_nodes.c.) */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/failures/failure_log_state.h"
#include "scenarios/import/reader/time_stamp.h"
#include "sim/plural.h"

enum {
    FIELDS_MAX = 256,
    HOSTS_MAX = 1 << 14,
    DIGITS_MAX = 9
};
struct slurm_job {
    const char *number, *state, *end, *nodes, *failed_node;
};
struct slurm_table {
    unsigned width, state, end, nodes, failed_node, job; /* index + 1; 0: no such column */
};

static bool see_host(struct failure_reading *r, const struct failure_sight *like, const char *host)
{
    struct failure_sight sight = *like;
    sight.host = host;
    return failure_log_see(r, &sight);
}

/* One range of "n[01-03,7]": every number with its zeros. */
static bool each_number(struct failure_reading *r, const struct failure_sight *like,
                        const char *head, const char *from, const char *to)
{
    const int width = (int)strspn(from, "0123456789");
    if (width == 0 || width > DIGITS_MAX || to == from || strspn(to, "0123456789") > DIGITS_MAX ||
        !isdigit((unsigned char)*to))
        return import_text_bad(&r->text, "these names of nodes cannot be read");
    const long first = strtol(from, NULL, 10), last = strtol(to, NULL, 10);
    if (last < first || last - first >= HOSTS_MAX)
        return import_text_bad(&r->text, "these names of nodes run backwards, or are too many");
    for (long i = first; i <= last; i++)
        if (!see_host(r, like, arena_format(r->arena, "%s%0*ld", head, width, i)))
            return false;
    return true;
}

/* What stands between brackets. */
static bool each_range(struct failure_reading *r, const struct failure_sight *like,
                       const char *head, char *ranges)
{
    for (char *next; ranges != NULL; ranges = next) {
        next = strchr(ranges, ',');
        if (next != NULL)
            *next++ = '\0';
        char *dash = strchr(ranges, '-');
        const char *to = dash != NULL ? dash + 1 : arena_text(r->arena, ranges);
        if (dash != NULL)
            *dash = '\0';
        if (!each_number(r, like, head, ranges, to))
            return false;
    }
    return true;
}

/* "n[1-3,7],m2": each node. */
static bool each_host(struct failure_reading *r, const struct failure_sight *like, const char *list)
{
    char *at = arena_text(r->arena, list);
    while (*at != '\0') {
        char *open = strchr(at, '['), *comma = strchr(at, ',');
        if (open != NULL && (comma == NULL || open < comma)) {
            char *close = strchr(open, ']');
            if (close == NULL || (close[1] != '\0' && close[1] != ','))
                return import_text_bad(&r->text, "these names of nodes cannot be read");
            *open = *close = '\0';
            if (!each_range(r, like, at, open + 1))
                return false;
            at = close + 1 + (close[1] == ',');
            continue;
        }
        if (comma != NULL)
            *comma = '\0';
        if (*at == '\0')
            return import_text_bad(&r->text, "these names of nodes cannot be read");
        if (!see_host(r, like, at))
            return false;
        at = comma != NULL ? comma + 1 : at + strlen(at);
    }
    return true;
}

/* The first of "n[01-3,7]m[2-4],k": "n01m2". False: it has none. */
static bool first_host(struct failure_reading *r, const char *list, const char **out)
{
    char *name = arena_text(r->arena, list);
    size_t used = 0;
    while (*list != '\0' && *list != ',') {
        const size_t digits = strspn(list + 1, "0123456789");
        const char *close = *list == '[' ? strchr(list, ']') : NULL;
        if (*list == '[' && (close == NULL || digits == 0))
            return false;
        if (close == NULL) {
            name[used++] = *list++;
            continue;
        }
        memcpy(name + used, list + 1, digits);
        used += digits;
        list = close + 1;
    }
    name[used] = '\0';
    *out = name;
    return used > 0;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_name(const char *text)
{
    return text != NULL && *text != '\0' && strcmp(text, "None") != 0 &&
           strcmp(text, "None assigned") != 0 && strcmp(text, "(null)") != 0 &&
           strcmp(text, "Unknown") != 0;
}

/* The nodes of a job that lost one, or some. */
static bool read_lost_node(struct failure_reading *r, const struct slurm_job *job,
                           struct failure_sight *sight)
{
    const bool told = is_name(job->failed_node), named = is_name(job->nodes);
    sight->cause = "node, not told which";
    if (!told && !named)
        return failure_log_see(r, sight);
    sight->unit_kind = UNIT_NODE;
    if (!told && strpbrk(job->nodes, "[,") != NULL) {
        sight->among = true;
        return (first_host(r, job->nodes, &sight->host) ||
                import_text_bad(&r->text, "these names of nodes cannot be read")) &&
               failure_log_see(r, sight);
    }
    sight->cause = "node";
    sight->apart = NULL;
    return each_host(r, sight, told ? job->failed_node : job->nodes);
}

static bool read_job(struct failure_reading *r, const struct slurm_job *job)
{
    static const char *const ended[] = {"COMPLETED", "CANCELLED", "TIMEOUT", "PREEMPTED",
                                        "DEADLINE",  "RUNNING",   "PENDING", "SUSPENDED",
                                        "REQUEUED",  "RESIZING",  "REVOKED", "COMPLETING"};
    struct failure_sight sight = {.unit_kind = UNIT_JOB, .cause = "job", .repair_s = -1.0};
    bool failed = begins(job->state, "FAILED") || begins(job->state, "OUT_OF_ME");
    const bool node = begins(job->state, "NODE_FAIL") || begins(job->state, "BOOT_FAIL");
    bool known = failed || node;
    for (unsigned i = 0; i < sizeof ended / sizeof ended[0]; i++)
        known = known || begins(job->state, ended[i]);
    if (!known)
        return import_text_bad(&r->text, "'%s' is no state of a job",
                               import_text_quote(&r->text, job->state));
    if (time_stamp_read(job->end, &sight.at_s)) {
        failure_log_moment(r, sight.at_s);
    } else if ((failed || node) && strcmp(job->end, "Unknown") == 0) {
        r->out->endless++;
        return true;
    } else if (failed || node) {
        return import_text_bad(&r->text, "end: '%s' is no moment, as 2026-11-03T04:05:06",
                               import_text_quote(&r->text, job->end));
    }
    if (!failed && !node) {
        r->out->passed++;
        return true;
    }
    sight.apart = is_name(job->nodes) ? job->nodes : job->number;
    return node ? read_lost_node(r, job, &sight) : failure_log_see(r, &sight);
}

static unsigned cut_fields(char *line, char **fields)
{
    unsigned count = 0;
    for (char *at = line; at != NULL; count++) {
        char *bar = strchr(at, '|');
        if (count < FIELDS_MAX)
            fields[count] = at;
        if (bar != NULL)
            *bar++ = '\0';
        at = bar;
    }
    return count;
}

static bool read_table_head(struct failure_reading *r, char *line, struct slurm_table *table)
{
    char *fields[FIELDS_MAX];
    *table = (struct slurm_table){.width = cut_fields(line, fields)};
    const struct {
        const char *name;
        unsigned *place;
    } wanted[] = {{"JobID", &table->job},
                  {"State", &table->state},
                  {"End", &table->end},
                  {"NodeList", &table->nodes},
                  {"FailedNode", &table->failed_node}};
    if (table->width > FIELDS_MAX)
        return import_text_bad(&r->text, "more than %d columns", FIELDS_MAX);
    for (unsigned i = 0; i < table->width; i++) {
        for (unsigned w = 0; w < sizeof wanted / sizeof wanted[0]; w++) {
            if (strcmp(wanted[w].name, fields[i]) != 0)
                continue;
            if (*wanted[w].place != 0)
                return import_text_bad(&r->text, "the column '%s' stands twice", fields[i]);
            *wanted[w].place = i + 1;
        }
    }
    if (table->job == 0 || table->state == 0 || table->end == 0)
        return import_text_bad(&r->text, "sacct must print JobID, State and End, better NodeList "
                                         "and FailedNode, too: sacct -P --format="
                                         "JobID,State,End,NodeList,FailedNode");
    return true;
}

static bool read_table_row(struct failure_reading *r, char *line, const struct slurm_table *table)
{
    char *fields[FIELDS_MAX];
    const unsigned count = cut_fields(line, fields);
    if (count != table->width)
        return import_text_bad(&r->text, "%u field%s, but the header has %u", count,
                               plural_s(count), table->width);
    if (strchr(fields[table->job - 1], '.') != NULL)
        return true; /* a step of a job */
    return read_job(
        r, &(struct slurm_job){
               .number = fields[table->job - 1],
               .state = fields[table->state - 1],
               .end = fields[table->end - 1],
               .nodes = table->nodes != 0 ? fields[table->nodes - 1] : NULL,
               .failed_node = table->failed_node != 0 ? fields[table->failed_node - 1] : NULL,
           });
}

/* "JobId=3 JobState=FAILED EndTime=... NodeList=n7 ...". */
static bool read_completed(struct failure_reading *r, char *line)
{
    struct slurm_job job = {"", "", "", NULL, NULL};
    char *words[FIELDS_MAX];
    const unsigned count = import_text_words(line, words, FIELDS_MAX);
    for (unsigned i = 0; i < count && i < FIELDS_MAX; i++)
        if (begins(words[i], "JobId="))
            job.number = words[i] + strlen("JobId=");
        else if (begins(words[i], "JobState="))
            job.state = words[i] + strlen("JobState=");
        else if (begins(words[i], "EndTime="))
            job.end = words[i] + strlen("EndTime=");
        else if (begins(words[i], "NodeList="))
            job.nodes = words[i] + strlen("NodeList=");
    return read_job(r, &job);
}

/* "[2026-11-03T04:05:06.123] error: Nodes n[1-3] not responding, setting DOWN". */
static bool read_controller(struct failure_reading *r, char *line)
{
    static const char down[] = " not responding, setting DOWN", boot[] = " unexpectedly rebooted";
    struct failure_sight sight = {.unit_kind = UNIT_NODE, .repair_s = -1.0};
    char *close = strchr(line, ']');
    if (close == NULL)
        return import_text_bad(&r->text, "a line of slurmctld without its moment: it is cut");
    *close = '\0';
    if (!time_stamp_read(line + 1, &sight.at_s))
        return import_text_bad(&r->text, "'%s' is no moment, as 2026-11-03T04:05:06.123",
                               import_text_quote(&r->text, line + 1));
    failure_log_moment(r, sight.at_s);
    char *names = strstr(close + 1, "Nodes "), *end = strstr(close + 1, down);
    sight.cause = "node not responding";
    if (names == NULL || end == NULL) {
        names = strstr(close + 1, "Node ");
        end = strstr(close + 1, boot);
        sight.cause = "node rebooted";
    }
    if (names == NULL || end == NULL || names > end) {
        r->out->passed++;
        return true;
    }
    *end = '\0';
    return each_host(r, &sight, strchr(names, ' ') + 1);
}

static bool read_log(struct failure_reading *r)
{
    struct slurm_table table = {.width = 0};
    for (char *line = import_text_line(&r->text); line != NULL; line = import_text_line(&r->text)) {
        bool good = true;
        if (*line == '\0')
            continue;
        if (table.width > 0)
            good = read_table_row(r, line, &table);
        else if (*line == '[')
            good = read_controller(r, line);
        else if (begins(line, "JobId="))
            good = read_completed(r, line);
        else if (begins(line, "JobID|") || strstr(line, "|JobID") != NULL)
            good = read_table_head(r, line, &table);
        else
            good = import_text_bad(&r->text, "neither a table of sacct -P, nor a line of "
                                             "jobcomp/filetxt, nor one of slurmctld");
        if (!good)
            return false;
    }
    return true;
}

const struct failure_format_kind failure_format_slurm = {
    .head = {.name = "slurm", .doc = "the same from sacct -P, jobcomp/filetxt or slurmctld's log"},
    .read = read_log,
    .merge_s = FAILURE_BURST_S,
};
