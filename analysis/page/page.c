#include "analysis/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/page/packed.h"
#include "analysis/page/page_html.h"
#include "sim/check.h"
#include "sim/memory.h"

static const char mark[] = "@ORRERY_DATA@";

const char *page_missing(void)
{
    return page_html[0] != '\0'
               ? NULL
               : "this orrery was built without its page, as node and npm were missing; install "
                 "them and build again, or draw pictures: orrery export FILE.db --svg gantt "
                 "(memory, map, waterfall)";
}

/* The page up to its data, and from there on. */
static const char *write_head(FILE *out)
{
    const char *data = strstr(page_html, mark);
    CHECK(data != NULL);
    fwrite(page_html, 1, (size_t)(data - page_html), out);
    return data + strlen(mark);
}

bool page_document(const struct page_run *run, const struct document_ask *ask, FILE *out,
                   struct error *error)
{
    if (run->many == NULL)
        return document_write(run->query, run->name, ask, out, error);
    if (ask->kind != DOCUMENT_RUN)
        return error_set(error, "this is no run: a search or a study has one document");
    fputs(run->many, out);
    return true;
}

static bool write_runs(const struct page_run *runs, unsigned count, FILE *out, struct error *error)
{
    bool good = true;
    fputs("{\"runs\":[", out);
    for (unsigned i = 0; good && i < count; i++) {
        if (i > 0)
            fputc(',', out);
        if (runs[i].many != NULL)
            fprintf(out, "{\"run\":%s}", runs[i].many);
        else
            good = document_write_whole(runs[i].query, runs[i].name, out, error);
    }
    fputs("]}", out);
    return good;
}

bool page_write_whole(const struct page_run *runs, unsigned count, FILE *out, struct error *error)
{
    const char *rest = write_head(out);
    char *text = NULL;
    size_t bytes = 0;
    FILE *documents = open_memstream(&text, &bytes);
    if (documents == NULL)
        memory_refused(0);
    const bool good = write_runs(runs, count, documents, error);
    if (fclose(documents) != 0)
        memory_refused(0);
    fputs("{\"packed\":\"", out);
    packed_write(text, bytes, out);
    fputs("\"}", out);
    fputs(rest, out);
    free(text);
    return good;
}

void page_write(unsigned count, FILE *out)
{
    const char *rest = write_head(out);
    fprintf(out, "{\"runs\":null,\"count\":%u}", count);
    fputs(rest, out);
}

void page_policy(char *out, unsigned size)
{
    static const char before[] = "Content-Security-Policy\" content=\"";
    const char *policy = strstr(page_html, before);
    CHECK(policy != NULL);
    policy += strlen(before);
    const int length =
        snprintf(out, size, "%.*s; frame-ancestors 'none'", (int)strcspn(policy, "\""), policy);
    CHECK(length > 0 && (unsigned)length < size);
}
