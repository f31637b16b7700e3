/* A request to the server of the page, under libFuzzer: method, path, arguments, Host and Origin,
 * each up to a zero byte. What is let through names this server, has an Origin where it changes
 * something, and asks for a database and a window that can be. */
#include <stdint.h>
#include <string.h>

#include "analysis/page/request.h"
#include "sim/check.h"

enum {
    TEXTS = 5,
    TEXT_MAX = 1024
};

static bool is_ours(const char *text, const char *prefix)
{
    const size_t bytes = strlen(prefix);
    return text != NULL && strncmp(text, prefix, bytes) == 0 &&
           (strcmp(text + bytes, "127.0.0.1:8080") == 0 ||
            strcmp(text + bytes, "localhost:8080") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char texts[TEXTS][TEXT_MAX + 1];
    const char *given[TEXTS] = {NULL};
    for (unsigned i = 0; i < TEXTS && size > 0; i++) {
        const size_t length = strnlen((const char *)data, size < TEXT_MAX ? size : TEXT_MAX);
        memcpy(texts[i], data, length);
        texts[i][length] = '\0';
        given[i] = texts[i];
        data += length < size ? length + 1 : length;
        size -= length < size ? length + 1 : length;
    }
    const struct request_text text = {given[0] != NULL ? given[0] : "",
                                      given[1] != NULL ? given[1] : "", given[2], given[3],
                                      given[4]};
    const struct request_server server = {.port = 8080, .runs = 2};
    struct request request;
    const enum request_status status = request_read(&text, &server, &request);
    CHECK(status == REQUEST_GOOD || (status >= REQUEST_BAD && status <= REQUEST_METHOD));
    if (status != REQUEST_GOOD)
        return 0;
    CHECK(is_ours(text.host, "") && (text.origin == NULL || is_ours(text.origin, "http://")));
    CHECK(text.origin != NULL || (request.kind != REQUEST_CHECK && request.kind != REQUEST_RUN));
    CHECK(request.run < server.runs && request.ask.kind < DOCUMENT_KIND_COUNT);
    CHECK(request.ask.slices.from_ns >= 0 && request.ask.slices.to_ns >= 0);
    CHECK(request.ask.slices.rank_class >= SLICES_STAGES);
    return 0;
}
