#include "analysis/command/plan/plan_diary.h"

#include <string.h>
#include <unistd.h>

#include "analysis/command/shared/study_tell.h"
#include "analysis/output/text/format.h"
#include "analysis/output/text/shell.h"
#include "analysis/output/text/version.h"
#include "analysis/plan/search/search_store.h"
#include "models/layout/announced.h"
#include "scenarios/language/inputs.h"
#include "sim/list.h"

enum {
    PLAN_WORDS_MAX = 2048,
    PLAN_PATH_BYTES = 4096 + 16
};

/* Options on which the result does not depend: how it is told, and how it is worked out. */
static const char *const aside[] = {"--json",    "--why",    "--launch", "--pareto",
                                    "--threads", "--db",     "--max-db", "--resume",
                                    "--shard",   "--shards", "--emit",   NULL};

struct plan_diary {
    const struct plan_arguments *a;
    struct session *session;
    struct plan_work work;
    struct arena *arena;
    struct store *store; /* NULL: nothing is written */
    struct plan_held asked;
    const char *const *read; /* databases */
    unsigned read_count;
    bool resumed; /* the one that is read is the one that is written */
    size_t machine;
    const char *label;
    struct search_diary diary;
};

static int trouble(const struct plan_diary *d, const char *text, int code)
{
    return study_trouble(&d->a->line, d->session, text, code);
}

struct held_reading {
    struct plan_held *held;
    const char **words;
    bool any, damaged;
};

static const char *text_at(struct arena *arena, const struct query_row *row, unsigned column,
                           unsigned *bytes)
{
    const char *text = query_text(row, column, bytes);
    char *copy = arena_alloc(arena, (size_t)*bytes + 1, 1);
    if (text != NULL)
        memcpy(copy, text, *bytes);
    copy[text != NULL ? *bytes : 0] = '\0';
    return copy;
}

/* Columns: key, value. */
static bool take_meta(void *context, const struct query_row *row, struct error *error)
{
    struct plan_held *held = ((struct held_reading *)context)->held;
    unsigned bytes;
    const char *key = text_at(held->arena, row, 0, &bytes);
    const char *value = text_at(held->arena, row, 1, &bytes);
    if (strcmp(key, "version") == 0)
        held->ours = strcmp(value, ORRERY_VERSION) == 0;
    else if (strcmp(key, "text") == 0) {
        held->text = value;
        held->text_bytes = bytes;
    } else if (strcmp(key, "shard") == 0)
        return shard_read_stated(value, &held->shard, error);
    return true;
}

/* Columns: word. */
static bool take_word(void *context, const struct query_row *row, struct error *error)
{
    struct held_reading *r = context;
    unsigned bytes;
    if (r->held->word_count == PLAN_WORDS_MAX)
        return error_set(error, "the table plan_option is damaged");
    r->words[r->held->word_count++] = text_at(r->held->arena, row, 0, &bytes);
    return true;
}

static bool read_held(struct query *query, struct plan_held *out, struct error *error)
{
    struct held_reading r = {.held = out,
                             .words = ARENA_ARRAY(out->arena, const char *, PLAN_WORDS_MAX)};
    out->words = r.words;
    out->complete = query_complete(query);
    return query_run(query, "select key, value from meta", NULL, take_meta, &r, error) &&
           query_run(query, "select word from plan_option order by place", NULL, take_word, &r,
                     error) &&
           (out->word_count > 0 || error_set(error, "the file holds no plan"));
}

bool plan_diary_read(const char *path, struct arena *arena, struct plan_held *out,
                     struct error *error)
{
    struct query *query;
    struct error inner = {""};
    *out = (struct plan_held){.arena = arena, .text = ""};
    if (!query_open(path, &query, error))
        return false;
    const bool good = read_held(query, out, &inner);
    query_close(query);
    return good || error_set(error, "%s: %.800s", format_shown(path).s, inner.text);
}

const char *plan_diary_differs(const struct plan_held *a, const struct plan_held *b)
{
    if (a->text_bytes != b->text_bytes || memcmp(a->text, b->text, a->text_bytes) != 0)
        return "the scenario";
    for (unsigned i = 0; i < a->word_count && i < b->word_count; i++)
        if (strcmp(a->words[i], b->words[i]) != 0)
            return a->words[i][0] == '-' ? a->words[i] : i > 0 ? a->words[i - 1] : "the line";
    return a->word_count == b->word_count ? NULL : "the line";
}

static void write_meta(struct store *store, const char *key, const char *value)
{
    struct store_value row[] = {store_text(key), store_text(value)};
    store_row(store, STORE_meta, row, 2);
}

static void write_question(struct plan_diary *d)
{
    const struct plan_arguments *a = d->a;
    const struct plan_held *asked = &d->asked;
    char shard[32];
    snprintf(shard, sizeof shard, "%u/%u", asked->shard.index, asked->shard.count);
    write_meta(d->store, "schema", "orrery.db/2");
    write_meta(d->store, "version", ORRERY_VERSION);
    write_meta(d->store, "scenario",
               a->line.positional_count > 0 ? a->line.positional[0] : a->stated.model);
    write_meta(d->store, "text", asked->text);
    if (asked->shard.count > 0)
        write_meta(d->store, "shard", shard);
    for (unsigned i = 0; i < asked->word_count; i++) {
        struct store_value row[] = {store_integer(i), store_text(asked->words[i])};
        store_row(d->store, STORE_plan_option, row, 2);
    }
    store_commit(d->store);
}

/* May what stands there be gone on from? */
static bool holds_ours(const struct plan_diary *d, const char *path, struct error *error)
{
    struct plan_held held;
    if (!plan_diary_read(path, d->arena, &held, error))
        return false;
    const char *what = held.ours ? plan_diary_differs(&d->asked, &held) : "the version of orrery";
    if (what == NULL &&
        (held.shard.index != d->asked.shard.index || held.shard.count != d->asked.shard.count))
        what = "--shard";
    return what == NULL || error_set(error,
                                     "%s cannot be resumed: it holds another plan (%s "
                                     "differs)",
                                     format_shown(path).s, what);
}

static void read_one(struct plan_diary *d, const char *path)
{
    const char **paths = ARENA_ARRAY(d->arena, const char *, 1);
    paths[0] = arena_text(d->arena, path);
    d->read = paths;
    d->read_count = 1;
}

static int begin_store(struct plan_diary *d, bool go_on)
{
    const struct plan_arguments *a = d->a;
    struct error error = {""};
    session_hold(d->session);
    const enum store_outcome outcome = store_share(
        a->output.database.path, a->output.database.max_bytes, go_on, &d->store, &error);
    session_keep(d->session, outcome == STORE_GOOD ? store_partial_path(d->store) : NULL);
    if (outcome != STORE_GOOD)
        return trouble(d, error.text, study_outcome_code(outcome));
    if (store_dropped(d->store) > 0 && !d->work.rank)
        fprintf(d->session->notes,
                "%s held %lld layouts of an unfinished plan: it begins anew (--resume goes on)\n",
                store_partial_path(d->store), (long long)store_dropped(d->store));
    d->resumed = store_resumed(d->store);
    if (d->resumed)
        read_one(d, store_partial_path(d->store));
    else
        write_question(d);
    return EXIT_OK;
}

/* Goes on where an unfinished one was stopped; of a finished one all is known. */
static int open_store(struct plan_diary *d)
{
    char partial[PLAN_PATH_BYTES];
    struct error error = {""};
    snprintf(partial, sizeof partial, "%s.partial", d->a->output.database.path);
    const bool begun = access(partial, F_OK) == 0;
    const bool unfinished = begun && !query_holds_nothing(partial);
    const char *there = unfinished                                      ? partial
                        : access(d->a->output.database.path, F_OK) == 0 ? d->a->output.database.path
                                                                        : NULL;
    if (!d->a->output.database.resume || there == NULL) {
        if (d->a->output.database.resume && !d->work.rank)
            fprintf(d->session->notes, "%s: nothing to resume; the search begins at its start\n",
                    partial);
        return begin_store(d, false);
    }
    const bool ours = holds_ours(d, there, &error);
    if (!ours && !d->work.rank)
        return trouble(d, error.text, EXIT_REJECTED);
    if (!ours || unfinished)
        return begin_store(d, ours);
    read_one(d, there);
    if (!d->work.rank)
        fprintf(d->session->notes, "%s is complete: nothing is left to search\n",
                d->a->output.database.path);
    return EXIT_OK;
}

static const char *files_key(const struct plan_diary *d)
{
    return arena_format(d->arena, "files.%zu", d->machine);
}

/* What of this machine's hardware is announced, for pictures of the search. */
static void write_announced(const struct plan_diary *d, const struct configuration *c)
{
    char words[ANNOUNCED_WORDS_MAX];
    if (announced_words(c, words, sizeof words) != NULL)
        write_meta(d->store, arena_format(d->arena, "announced.%zu", d->machine), words);
}

static bool take_files(void *context, const struct query_row *row, struct error *error)
{
    struct plan_held *held = context;
    unsigned bytes;
    (void)error;
    held->files = text_at(held->arena, row, 0, &bytes);
    return true;
}

/* What is known was found out with the files of then. */
static bool same_files(const struct plan_diary *d, struct query *query, const char *now,
                       struct error *error)
{
    struct plan_held held = {.arena = d->arena, .files = ""};
    const char *sql =
        arena_format(d->arena, "select value from meta where key = '%s'", files_key(d));
    if (!query_run(query, sql, NULL, take_files, &held, error))
        return false;
    const char *changed = inputs_changed(d->arena, held.files, now);
    return changed == NULL ||
           error_set(error, "the file of %s has changed since: put it back, or search anew",
                     format_shown(changed).s);
}

static bool recall(void *context, const struct search_question *question, struct search_book *book,
                   struct error *error)
{
    struct plan_diary *d = context;
    for (unsigned i = 0; i < d->read_count; i++) {
        struct query *query;
        struct error inner = {""};
        if (!query_open(d->read[i], &query, error))
            return false;
        const bool good = same_files(d, query, question->files, &inner) &&
                          search_store_recall(query, (int64_t)d->machine, d->resumed, book, &inner);
        query_close(query);
        if (!good)
            return error_set(error, "%s: %.800s", format_shown(d->read[i]).s, inner.text);
    }
    if (d->store == NULL)
        return true;
    search_store_machine(d->store, (int64_t)d->machine, d->label, book);
    if (!book->kept) {
        write_meta(d->store, files_key(d), question->files);
        write_announced(d, question->base);
    }
    return true;
}

static void keep(void *context, struct search_book *book)
{
    struct plan_diary *d = context;
    if (d->store != NULL)
        search_store_keep(d->store, (int64_t)d->machine, book);
}

int plan_diary_open(const struct plan_arguments *a, struct session *session,
                    const struct plan_work *work, struct plan_diary **out)
{
    *out = NULL;
    if (a->output.database.path == NULL && work->database_count == 0)
        return EXIT_OK;
    struct arena *arena = arena_create();
    struct plan_diary *d = ARENA_NEW(arena, struct plan_diary);
    *d = (struct plan_diary){.a = a,
                             .session = session,
                             .work = *work,
                             .arena = arena,
                             .asked = {.arena = arena,
                                       .text = a->text != NULL ? a->text : "",
                                       .text_bytes = a->text_bytes,
                                       .shard = work->shard},
                             .read = work->databases,
                             .read_count = work->database_count};
    d->asked.word_count = arguments_words(&a->line, aside, false, arena, &d->asked.words);
    d->diary = (struct search_diary){recall, keep, d};
    int code = a->output.database.path == NULL ? EXIT_OK
               : work->database_count > 0      ? begin_store(d, false)
                                               : open_store(d);
    if (code != EXIT_OK)
        return plan_diary_close(d, true, code);
    *out = d;
    return EXIT_OK;
}

bool plan_diary_machine(struct plan_diary *diary, size_t machine, size_t count, const char *label,
                        struct search_question *question)
{
    if (diary == NULL)
        return true;
    const struct shard s = diary->work.shard;
    diary->machine = machine;
    diary->label = label;
    question->diary = &diary->diary;
    question->part = (struct search_part){0, 0};
    if (s.count == 0)
        return true;
    if (machine < count - count % s.count)
        return machine % s.count == s.index - 1;
    question->part = (struct search_part){s.index, s.count};
    return true;
}

bool plan_diary_partial(const struct plan_diary *diary)
{
    return diary != NULL && diary->work.shard.count > 0;
}

/* How to go on: the line as it was given, and --resume. */
static void print_resume_line(const struct plan_diary *d)
{
    FILE *notes = d->session->notes;
    const struct shard s = d->work.shard;
    if (d->work.rank) {
        fputs("to go on: the same line under mpirun, with as many ranks\n", notes);
        return;
    }
    fputs("to go on: orrery plan --resume --db ", notes);
    fputs(shell_word(d->arena, d->a->output.database.path), notes);
    if (s.count > 0)
        fprintf(notes, " --shard %u/%u", s.index, s.count);
    for (unsigned i = 0; i < d->asked.word_count; i++)
        fprintf(notes, " %s", shell_word(d->arena, d->asked.words[i]));
    fputc('\n', notes);
}

static int end_store(struct plan_diary *d, bool stopped, int code)
{
    struct error error = {""};
    const bool done = !stopped && (code == EXIT_OK || code == EXIT_NOTHING_FITS);
    char replaced[256];
    snprintf(replaced, sizeof replaced, "%s", store_replaced(d->store));
    const enum store_outcome outcome =
        done ? store_finish(d->store, &error) : store_leave(d->store, &error);
    session_keep(d->session, NULL);
    if (outcome != STORE_GOOD)
        return trouble(d, error.text, study_outcome_code(outcome));
    if (!done && stopped)
        print_resume_line(d);
    if (!done || d->work.rank)
        return code;
    if (replaced[0] != '\0')
        fprintf(d->session->notes, "replaced %s, which held %s\n", d->a->output.database.path,
                format_shown(replaced).s);
    fprintf(d->session->notes,
            "%s: try: sqlite3 -box %s \"select * from plan_candidate limit 20\"\n",
            d->a->output.database.path, d->a->output.database.path);
    return code;
}

int plan_diary_close(struct plan_diary *diary, bool stopped, int code)
{
    if (diary == NULL)
        return code;
    if (diary->store != NULL)
        code = end_store(diary, stopped, code);
    arena_destroy(diary->arena);
    return code;
}
