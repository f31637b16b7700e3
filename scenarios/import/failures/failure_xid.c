/* failure_xid.c - NVIDIA's driver: Xid and SXid lines of the kernel's log.
 *
 * What a number stands for: docs.nvidia.com/deploy/xid-errors (catalog and its resolutions); fatal
 * and other SXids: NVIDIA Fabric Manager User Guide, appendix on NVSwitch errors. */
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/failures/failure_log_state.h"
#include "scenarios/import/reader/time_stamp.h"

enum {
    WORDS_MAX = 8
};

bool failure_xid_cause(struct failure_reading *r, unsigned xid, const char **cause, int *unit_kind)
{
    static const struct {
        unsigned short xid;
        const char *cause; /* NULL: tells of another one, or of what was mended */
    } known[] = {
        {13, "application"},
        {31, "application"},
        {43, "application"},
        {45, NULL}, /* clean-up behind another */
        {48, "GPU memory"},
        {61, "GPU microcontroller"},
        {62, "GPU microcontroller"},
        {63, NULL}, /* a row was remapped */
        {64, "GPU memory"},
        {74, "NVLink"},
        {79, "GPU off the bus"},
        {92, NULL}, /* many corrected errors */
        {94, "GPU memory"},
        {95, "GPU memory"},
        {119, "GPU system processor"},
        {120, "GPU system processor"},
        {140, "GPU memory"},
        {154, NULL}, /* what to do about another */
    };
    *unit_kind = UNIT_GPU;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].xid != xid)
            continue;
        *cause = known[i].cause;
        if (*cause != NULL && strcmp(*cause, "application") == 0)
            *unit_kind = UNIT_JOB;
        return *cause != NULL;
    }
    *cause = arena_format(r->arena, "Xid %u", xid);
    return true;
}

/* Moment and host at the head of a line of a system log. */
static bool read_head(struct failure_reading *r, char **words, unsigned count, double *at_s,
                      const char **host)
{
    *host = NULL;
    if (count >= 2 && time_stamp_read(words[0], at_s)) {
        const char *clock = arena_format(r->arena, "%s %s", words[0], words[1]);
        const bool apart = strlen(words[0]) == 10 && time_stamp_read(clock, at_s);
        *host = apart ? (count >= 3 ? words[2] : NULL) : words[1];
    } else if (count >= 5 && words[0][0] == '[' && strchr(words[4], ']') != NULL) {
        *strchr(words[4], ']') = '\0';
        if (!time_stamp_syslog_of(words[1], words[2], words[3], words[4], at_s))
            return import_text_bad(&r->text,
                                   "no moment before it, as in [Wed Jun 12 04:12:31 2024]");
        *host = r->rules->host;
        return *host != NULL ||
               import_text_bad(&r->text, "dmesg -T names no host: say of which node this log is "
                                         "with --host NAME");
    } else if (count >= 4 && strlen(words[0]) == 3 && strchr(words[2], ':') != NULL) {
        *host = words[3];
        if (!failure_year_find(r, words, *host, at_s))
            return false;
    }
    if (*host == NULL)
        return import_text_bad(&r->text, "no moment and host before it; write the log with "
                                         "journalctl -k -o short-iso");
    failure_year_note(r, *host, *at_s);
    return true;
}

/* "(PCI:0000:3b:00): 79, pid=...": behind "Xid ". */
static bool read_number(struct failure_reading *r, const char *at, const char **part, unsigned *xid)
{
    const char *close = strchr(at, ')');
    char *end;
    if (close == NULL || close == at + 1 || close[1] != ':')
        return import_text_bad(&r->text, "an Xid without its address and number: the line is cut");
    at += strncmp(at, "(PCI:", 5) == 0 ? 5 : 1;
    *part = arena_format(r->arena, "%.*s", (int)(close - at), at);
    const long number = strtol(close + 2, &end, 10);
    if (end == close + 2 || number < 1 || number > 99999)
        return import_text_bad(&r->text, "an Xid without its number: the line is cut");
    *xid = (unsigned)number;
    return true;
}

static bool read_xid(struct failure_reading *r, char *line, char *found, bool of_switch)
{
    char *words[WORDS_MAX];
    struct failure_sight sight = {.repair_s = -1.0};
    const char *rest = arena_text(r->arena, found + (of_switch ? 5 : 4));
    unsigned xid = 0;
    *found = '\0';
    const unsigned count = import_text_words(line, words, WORDS_MAX);
    if (!read_head(r, words, count < WORDS_MAX ? count : WORDS_MAX, &sight.at_s, &sight.host) ||
        !read_number(r, rest, &sight.part, &xid))
        return false;
    failure_log_moment(r, sight.at_s);
    if (of_switch) {
        const bool fatal = strstr(rest, "Fatal") != NULL && strstr(rest, "Non-Fatal") == NULL &&
                           strstr(rest, "Non-fatal") == NULL;
        sight.unit_kind = UNIT_NODE;
        sight.part = NULL;
        sight.cause = "NVSwitch";
        r->out->passed += !fatal;
        return !fatal || failure_log_see(r, &sight);
    }
    if (xid > FAILURE_XID_MAX)
        return import_text_bad(&r->text, "there is no Xid %u", xid);
    if (!failure_xid_cause(r, xid, &sight.cause, &sight.unit_kind)) {
        r->out->passed++;
        return true;
    }
    return failure_log_see(r, &sight);
}

static bool read_log(struct failure_reading *r)
{
    for (char *line = import_text_line(&r->text); line != NULL; line = import_text_line(&r->text)) {
        char *of_switch = strstr(line, "SXid ("), *of_gpu = strstr(line, "NVRM: Xid (");
        char *found = of_switch != NULL ? of_switch : of_gpu != NULL ? of_gpu + 6 : NULL;
        r->out->passed += found == NULL;
        if (found != NULL && !read_xid(r, line, found, of_switch != NULL))
            return false;
    }
    return true;
}

const struct failure_format_kind failure_format_xid = {
    .head = {.name = "xid", .doc = "the same from the kernel's log: NVIDIA's Xid and SXid"},
    .read = read_log,
    .merge_s = FAILURE_BURST_S,
    .chains = true,
    .hostless = true,
};
