/* Invariants:
 * 1. `held` is the sum of the sizes of all answers that wait to be sent, at most held_max.
 * 2. An answer belongs to one connection and is freed when it was sent or the connection ends. */
#include "analysis/replay/server.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "analysis/replay/document.h"
#include "analysis/replay/request.h"
#include "sim/check.h"

enum {
    DESCRIPTORS_MAX = 48, /* of connections and the listener; one more is closed unseen */
    CHUNK_BYTES = 1 << 14,
    HEADER_BYTES = 4096,
    TEXT_BYTES = 640,
    SEND_SECONDS = 60,   /* for a whole answer: who takes longer is left */
    HEADER_SECONDS = 10, /* for a whole request */
    KEEP_SECONDS = 15,
    QUERY_SECONDS = 5,
    SERVICE_BYTES = 1 << 15
};
static const uint64_t held_max = 1 << 28;

struct server {
    const struct server_ask *ask;
    unsigned port;
    uint64_t held;
    char policy[1024];
};
struct answer { /* one for each connection */
    char *body;
    size_t size, sent;
};

static void forget(struct server *server, struct answer *answer)
{
    CHECK(server->held >= answer->size); /* 1 */
    server->held -= answer->size;
    free(answer->body);
    answer->body = NULL;
    answer->size = answer->sent = 0;
}

static const char *reason(enum request_status status)
{
    switch (status) {
    case REQUEST_GOOD:
    case REQUEST_FAILED:
        break;
    case REQUEST_BAD:
        return "the arguments of this request are not understood\n";
    case REQUEST_FORBIDDEN:
        return "only the page of this server may ask it\n";
    case REQUEST_UNKNOWN:
        return "there is nothing here\n";
    case REQUEST_METHOD:
        return "this is not done so\n";
    case REQUEST_LARGE:
        return "the request is too large\n";
    case REQUEST_BUSY:
        return "too much waits to be sent; try again\n";
    }
    return "the answer could not be made\n";
}

/* The text of an answer, to be freed. */
static enum request_status make(struct server *server, const struct request *request, char **text,
                                size_t *size)
{
    const struct page_run *run = &server->ask->runs[request->run];
    struct error error = {""};
    bool good = true;
    FILE *out = open_memstream(text, size);
    if (out == NULL)
        return REQUEST_BUSY;
    if (request->kind == REQUEST_PAGE) {
        page_write(server->ask->count, out);
    } else {
        query_limit(run->query, QUERY_SECONDS);
        good = document_write(run->query, run->name, &request->ask, out, &error);
    }
    good = fclose(out) == 0 && good;
    if (good)
        return REQUEST_GOOD;
    free(*text);
    *text = strdup(error.text);
    *size = *text != NULL ? strlen(*text) : 0;
    return REQUEST_FAILED;
}

struct header {
    const char *name, *value;
};

static int send_head(struct lws *wsi, const struct server *server, enum request_status status,
                     const struct answer *answer, const char *type)
{
    unsigned char buffer[LWS_PRE + HEADER_BYTES];
    unsigned char *start = buffer + LWS_PRE, *p = start, *end = buffer + sizeof buffer - 1;
    const struct header headers[] = {
        {"content-security-policy:", server->policy},
        {"x-content-type-options:", "nosniff"},
        {"referrer-policy:", "no-referrer"},
        {"cross-origin-resource-policy:", "same-origin"},
        {"cross-origin-opener-policy:", "same-origin"},
        {"x-frame-options:", "DENY"},
        {"cache-control:", "no-store"},
    };
    if (lws_add_http_common_headers(wsi, (unsigned)status, type, answer->size, &p, end) != 0)
        return -1;
    for (unsigned i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (lws_add_http_header_by_name(wsi, (const unsigned char *)headers[i].name,
                                        (const unsigned char *)headers[i].value,
                                        (int)strlen(headers[i].value), &p, end) != 0)
            return -1;
    if (lws_finalize_write_http_header(wsi, start, &p, end) != 0)
        return -1;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, SEND_SECONDS);
    return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

/* Takes over `text`. */
static int answer_with(struct lws *wsi, struct server *server, enum request_status status,
                       char *text, size_t size, const char *type)
{
    struct answer *answer = lws_wsi_user(wsi);
    forget(server, answer);
    if (server->held + size > held_max) {
        free(text);
        text = NULL;
        status = REQUEST_BUSY;
    }
    if (text == NULL) {
        text = strdup(reason(status));
        size = text != NULL ? strlen(text) : 0;
        type = "text/plain";
    }
    answer->body = text;
    answer->size = size;
    server->held += size;
    return send_head(wsi, server, status, answer, type);
}

/* A header or the arguments, NULL when there is none; false when it is too long. */
static bool copy_token(struct lws *wsi, enum lws_token_indexes token, char *out, const char **text)
{
    const int length = lws_hdr_total_length(wsi, token);
    *text = NULL;
    if (length <= 0)
        return true;
    *text = out;
    return lws_hdr_copy(wsi, out, TEXT_BYTES, token) == length;
}

/* libwebsockets keeps them apart where an & stood. */
static bool copy_arguments(struct lws *wsi, char *out, const char **text)
{
    int used = 0;
    *text = out;
    out[0] = '\0';
    for (int i = 0; lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, i) > 0; i++) {
        if (used > 0)
            out[used++] = '&';
        if (lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, i) + used + 2 > TEXT_BYTES)
            return false;
        used +=
            lws_hdr_copy_fragment(wsi, out + used, TEXT_BYTES - used, WSI_TOKEN_HTTP_URI_ARGS, i);
    }
    return true;
}

static const char *method_of(struct lws *wsi)
{
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0)
        return "GET";
    return lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI) > 0 ? "POST" : "another";
}

static enum request_status understand(struct lws *wsi, const struct server *server,
                                      const char *path, struct request *out)
{
    char host[TEXT_BYTES], origin[TEXT_BYTES], arguments[TEXT_BYTES];
    struct request_text text = {.method = method_of(wsi), .path = path};
    if (!copy_token(wsi, WSI_TOKEN_HOST, host, &text.host) ||
        !copy_token(wsi, WSI_TOKEN_ORIGIN, origin, &text.origin))
        return REQUEST_FORBIDDEN;
    if (!copy_arguments(wsi, arguments, &text.arguments))
        return REQUEST_BAD;
    return request_read(&text, &(struct request_server){server->port, server->ask->count}, out);
}

static int on_request(struct lws *wsi, struct server *server, const char *path)
{
    struct request request;
    char *text = NULL;
    size_t size = 0;
    enum request_status status = understand(wsi, server, path, &request);
    if (status != REQUEST_GOOD)
        return answer_with(wsi, server, status, NULL, 0, "text/plain");
    status = make(server, &request, &text, &size);
    return answer_with(wsi, server, status, text, size,
                       status != REQUEST_GOOD         ? "text/plain"
                       : request.kind == REQUEST_PAGE ? "text/html; charset=utf-8"
                                                      : "application/json");
}

static int on_writable(struct lws *wsi, struct server *server, struct answer *answer)
{
    unsigned char buffer[LWS_PRE + CHUNK_BYTES];
    const size_t left = answer->size - answer->sent,
                 bytes = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    const bool last = bytes == left;
    if (answer->body == NULL)
        return 0;
    memcpy(buffer + LWS_PRE, answer->body + answer->sent, bytes);
    if (lws_write(wsi, buffer + LWS_PRE, bytes, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
        (int)bytes)
        return -1;
    answer->sent += bytes;
    if (!last)
        return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
    forget(server, answer);
    return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons event, void *user, void *in,
                    size_t length)
{
    struct server *server = lws_context_user(lws_get_context(wsi));
    struct answer *answer = user;
    (void)length;
    switch (event) {
    case LWS_CALLBACK_HTTP:
        return on_request(wsi, server, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return on_writable(wsi, server, answer);
    case LWS_CALLBACK_CLOSED_HTTP:
        if (answer != NULL)
            forget(server, answer);
        return 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return -1; /* requests and answers, nothing else */
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "http",
     .callback = on_event,
     .per_session_data_size = sizeof(struct answer),
     .rx_buffer_size = CHUNK_BYTES},
    {.name = NULL},
};

static struct lws_context *listen_at(struct server *server, uv_loop_t *loop)
{
    void *loops[] = {loop};
    struct lws_context_creation_info info = {
        .iface = "127.0.0.1",
        .port = (int)server->ask->port,
        .protocols = protocols,
        .server_string = "orrery",
        .vhost_name = "orrery",
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_DISABLE_IPV6 |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
        .foreign_loops = loops,
        .fd_limit_per_thread = DESCRIPTORS_MAX,
        .max_http_header_data = HEADER_BYTES,
        .max_http_header_pool = DESCRIPTORS_MAX,
        .pt_serv_buf_size = SERVICE_BYTES,
        .keepalive_timeout = KEEP_SECONDS,
        .timeout_secs = HEADER_SECONDS,
        .timeout_secs_ah_idle = HEADER_SECONDS,
        .user = server,
    };
    lws_set_log_level(0, NULL);
    return lws_create_context(&info);
}

bool server_run(const struct server_ask *ask, struct error *error)
{
    struct server server = {.ask = ask};
    uv_loop_t loop;
    page_policy(server.policy, sizeof server.policy);
    if (uv_loop_init(&loop) != 0)
        return error_set(error, "the host has no descriptors left to wait with");
    struct lws_context *context = listen_at(&server, &loop);
    if (context == NULL) {
        return error_set(error,
                         "cannot listen on 127.0.0.1:%u: is the port taken? (libwebsockets needs "
                         "its libuv plug-in, too: package libwebsockets-evlib-uv)",
                         ask->port);
    }
    server.port = (unsigned)lws_get_vhost_listen_port(lws_get_vhost_by_name(context, "orrery"));
    fprintf(ask->told, "http://127.0.0.1:%u/   (Ctrl-C ends it)\n", server.port);
    fflush(ask->told);
    uv_run(&loop, UV_RUN_DEFAULT);
    lws_context_destroy(context);
    return error_set(error, "the server ended: nothing listens any more");
}
