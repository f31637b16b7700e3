/* orrery-calibrate - measures kernels, copies and collectives on this machine and writes a profile.
 *
 * Links neither GSL nor anything of the analysis. Data goes to the profile, everything else is a
 * note on stderr. Exit: 0 done, as far as the minutes went; 1 trouble; 2 usage; 5 no card to be had
 * or the card was lost; 130 interrupted. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/calibrate/calibration_report.h"
#include "analysis/calibrate/cuda/cuda_device.h"
#include "analysis/calibrate/simulated.h"
#include "models/profile/profile.h"
#include "sim/check.h"
#include "sim/units.h"

enum exits {
    EXIT_DONE = 0,
    EXIT_TROUBLE = 1,
    EXIT_USAGE = 2,
    EXIT_NO_CARD = 5,
    EXIT_INTERRUPTED = 130
};
enum {
    LISTS_MAX = 64,
    LIST_BYTES_MAX = 4 << 20
};
#define NOTE_EACH_S 30.0
#define TERMINAL_EACH_S 0.1
#define PERCENT 100.0
#define MINUTES_MOST (7.0 * 24.0 * 60.0)

struct wishes {
    const char *lists[LISTS_MAX];
    unsigned list_count;
    const char *output, *gpu;
    double minutes;
    bool simulated, no_grid, help;
};
struct teller {
    struct profile_writer *writer;
    double told_s;
    bool terminal, weighed; /* by lists of shapes */
    double budget_s;
};

/* Ctrl-C, and what a batch system sends at its limit, are held back and looked for between points:
 * what was measured is kept either way. */
static void hold_interrupts(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool is_interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

static void print_help(FILE *out)
{
    fprintf(out,
            "usage: orrery-calibrate [--for LIST]... [--minutes N] [--output FILE]\n\n"
            "Measures the kernels of this machine's first GPU and writes a profile, which\n"
            "`cluster: {profile: FILE}` of a scenario stands on. A file that is there is gone\n"
            "on with.\n\n"
            "  --for LIST     shapes to measure first, by weight: orrery profile shapes SCENARIO\n"
            "                 --output LIST; may be repeated\n"
            "  --no-grid      those alone, not the grid that serves other scenarios\n"
            "  --minutes N    budget (3)\n"
            "  --output FILE  the profile (profile.db)\n"
            "  --gpu NAME     the card's name in the catalogue (orrery list gpus), kept in it\n"
            "  --device NAME  cuda, or simulated: a card that is not there, to try this out\n"
            "  --help         this\n\n"
            "built with %s\n"
            "example: orrery-calibrate --for shapes.txt --minutes 3 --gpu h200-141gb-sxm --output "
            "h200.db\n",
            cuda_device_libraries());
}

static bool read_minutes(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return *text != '\0' && strspn(text, "0123456789.") == strlen(text) && *end == '\0' &&
           *out > 0.0 && *out <= MINUTES_MOST;
}

/* What is expected in place of the value; NULL: it was taken. `known`: there is such an option. */
static const char *take_value(struct wishes *w, const char *name, const char *value, bool *known)
{
    *known = true;
    if (strcmp(name, "--for") == 0) {
        if (w->list_count == LISTS_MAX)
            return "at most 64 lists";
        w->lists[w->list_count++] = value;
    } else if (strcmp(name, "--minutes") == 0) {
        if (!read_minutes(value, &w->minutes))
            return "a number of minutes above 0, of a week at most, as in --minutes 3";
    } else if (strcmp(name, "--output") == 0) {
        if (*value == '\0')
            return "the name of a file";
        w->output = value;
    } else if (strcmp(name, "--gpu") == 0) {
        if (*value == '\0' || strlen(value) >= DEVICE_TEXT_BYTES)
            return "a name of the catalogue, as `orrery list gpus` prints them";
        w->gpu = value;
    } else if (strcmp(name, "--device") == 0) {
        w->simulated = strcmp(value, "simulated") == 0;
        if (!w->simulated && strcmp(value, "cuda") != 0)
            return "cuda or simulated";
    } else {
        *known = false;
    }
    return NULL;
}

static bool read_option(struct wishes *w, const char *name, const char *value)
{
    bool known;
    const char *expected = take_value(w, name, value != NULL ? value : "", &known);
    if (!known)
        fprintf(stderr, "orrery-calibrate: %s makes no sense here; see --help\n", name);
    else if (value == NULL)
        fprintf(stderr, "orrery-calibrate: %s needs a value; see --help\n", name);
    else if (expected != NULL)
        fprintf(stderr, "orrery-calibrate: %s '%s': expected %s\n", name, value, expected);
    return known && value != NULL && expected == NULL;
}

static bool read_wishes(int count, char **words, struct wishes *w)
{
    *w = (struct wishes){.output = "profile.db", .gpu = "", .minutes = 3.0};
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            w->help = true;
        } else if (strcmp(words[i], "--no-grid") == 0) {
            w->no_grid = true;
        } else {
            if (!read_option(w, words[i], i + 1 < count ? words[i + 1] : NULL))
                return false;
            i++;
        }
    }
    if (w->no_grid && w->list_count == 0) {
        fputs("orrery-calibrate: --no-grid measures nothing without --for LIST\n", stderr);
        return false;
    }
    return true;
}

static bool read_list(struct arena *arena, struct calibrate_plan *plan, const char *path,
                      struct error *error)
{
    char *text = arena_alloc(arena, LIST_BYTES_MAX + 2u, 1);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_set(error, "%s cannot be read: %s", path, strerror(errno));
    size_t bytes = fread(text, 1, LIST_BYTES_MAX + 1u, file);
    fclose(file);
    if (bytes > LIST_BYTES_MAX)
        return error_set(error, "%s: a list of shapes has at most 4 MiB", path);
    for (size_t i = 0; i < bytes; i++) { /* a sentence may quote it on a terminal */
        const unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\n' && c != '\r' && c != '\t') || c > '~')
            return error_set(error, "%s: this is no list of shapes: a byte 0x%02x", path, c);
    }
    return plan_read(plan, path, text, error);
}

static void date_of_now(char out[DEVICE_TEXT_BYTES])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(out, DEVICE_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static bool keep(void *context, const struct measured_point *point, struct error *error)
{
    struct teller *t = context;
    return profile_keep(t->writer, point, error);
}

static void left_out(void *context, const struct calibrate_point *point, const char *why)
{
    char line[POINT_LINE_BYTES];
    struct teller *t = context;
    point_print(point, line);
    fprintf(stderr, "%sleft out: %s: %s\n", t->terminal ? "\r\033[K" : "", line, why);
}

static bool go_on(void *context, const struct campaign_progress *p)
{
    struct teller *t = context;
    double each_s = t->terminal ? TERMINAL_EACH_S : NOTE_EACH_S;
    if (is_interrupted())
        return false;
    if (t->told_s > 0.0 && p->elapsed_s - t->told_s < each_s)
        return true;
    t->told_s = fmax(p->elapsed_s, 1e-9);
    fprintf(stderr, "%s%u of %u points, %.0f of %.0f s", t->terminal ? "\r\033[K" : "", p->done,
            p->planned, p->elapsed_s, t->budget_s);
    if (t->weighed)
        fprintf(stderr, ", %.0f %% of the step", PERCENT * p->covered_ratio);
    if (!t->terminal)
        fputc('\n', stderr);
    fflush(stderr);
    return true;
}

static int code_of(enum campaign_end end, const struct error *error, const struct wishes *w)
{
    switch (end) {
    case CAMPAIGN_LOST:
        fprintf(stderr, "orrery-calibrate: the card does not answer any more: %s\n", error->text);
        return EXIT_NO_CARD;
    case CAMPAIGN_NOT_KEPT:
        fprintf(stderr, "orrery-calibrate: %s\n", error->text);
        return EXIT_TROUBLE;
    case CAMPAIGN_STOPPED:
        fprintf(stderr, "orrery-calibrate: interrupted; the same command goes on with %s\n",
                w->output);
        return EXIT_INTERRUPTED;
    case CAMPAIGN_COMPLETE:
    case CAMPAIGN_OUT_OF_TIME:
        return EXIT_DONE;
    }
    UNREACHABLE("end is an enum campaign_end");
}

static int trouble(const struct error *error, int code)
{
    fprintf(stderr, "orrery-calibrate: %s\n", error->text);
    return code;
}

static int measure(struct arena *arena, const struct wishes *w,
                   const struct calibrate_device *device)
{
    struct error error = {""};
    struct profile_head head = {.date = "simulated"};
    struct measured_profile before;
    struct campaign_report report;
    struct calibrate_plan plan = plan_begin(arena);
    struct teller teller = {.terminal = isatty(STDERR_FILENO),
                            .weighed = w->list_count > 0,
                            .budget_s = MINUTE * w->minutes};
    if (device->describe(device->state, &head.facts, &error) != DEVICE_DONE)
        return trouble(&error, EXIT_NO_CARD);
    for (unsigned i = 0; i < w->list_count; i++)
        if (!read_list(arena, &plan, w->lists[i], &error))
            return trouble(&error, EXIT_TROUBLE);
    if (!w->no_grid)
        plan_add_grid(&plan, head.facts.memory_bytes, head.facts.cards);
    snprintf(head.gpu, sizeof head.gpu, "%s", w->gpu);
    snprintf(head.method, sizeof head.method, "%s",
             w->simulated
                 ? "simulated: times of a formula, noise of 0.5 %; no card was measured"
                 : "orrery-calibrate: CUDA events, graphs, medians, inputs past L2, normal data");
    if (!w->simulated)
        date_of_now(head.date);
    teller.writer = profile_write(arena, w->output, &head, &before, &error);
    if (teller.writer == NULL)
        return trouble(&error, EXIT_TROUBLE);
    struct campaign campaign = {.device = device,
                                .plan = &plan,
                                .done = before.points,
                                .done_count = before.count,
                                .rules = campaign_usual,
                                .listener = {&teller, keep, left_out, go_on}};
    campaign.rules.budget_s = teller.budget_s;
    enum campaign_end end = campaign_run(arena, &campaign, &report, &error);
    if (teller.terminal)
        fputs("\r\033[K", stderr);
    calibration_print(stdout, w->output, &report, end, w->list_count > 0);
    int code = code_of(end, &error, w);
    if (!profile_close(teller.writer, end == CAMPAIGN_COMPLETE, &error) && code == EXIT_DONE)
        code = trouble(&error, EXIT_TROUBLE);
    return code;
}

static int measure_simulated(struct arena *arena, const struct wishes *w)
{
    struct simulated_state state;
    const struct simulated_card card = {
        .noise_ratio = 0.005, .power_capped = true, .prepare_s = 0.01, .seed = 1};
    struct calibrate_device device = simulated_device(&state, &card);
    return measure(arena, w, &device);
}

static int measure_card(struct arena *arena, const struct wishes *w)
{
    struct calibrate_device device;
    struct error error = {""};
    if (!cuda_device_open(&device, &error)) {
        trouble(&error, EXIT_NO_CARD);
        fputs("orrery-calibrate: --device simulated tries all of it on a card that is not there\n",
              stderr);
        return EXIT_NO_CARD;
    }
    int code = measure(arena, w, &device);
    cuda_device_close(&device);
    return code;
}

int main(int count, char **words)
{
    struct wishes wishes;
    if (!read_wishes(count, words, &wishes))
        return EXIT_USAGE;
    if (wishes.help) {
        print_help(stdout);
        return EXIT_DONE;
    }
    hold_interrupts();
    struct arena *arena = arena_create();
    int code = wishes.simulated ? measure_simulated(arena, &wishes) : measure_card(arena, &wishes);
    arena_destroy(arena);
    if (fflush(stdout) != 0 && code == EXIT_DONE) {
        fprintf(stderr, "orrery-calibrate: the report cannot be written: %s\n", strerror(errno));
        code = EXIT_TROUBLE;
    }
    return code;
}
