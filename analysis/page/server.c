/* Invariants:
 * 1. `held` is the sum of the sizes of all answers that wait to be sent, at most held_max.
 * 2. An answer belongs to one connection and is freed when it was sent or the connection ends.
 * 3. At most one job runs, beside the loop; its connection may end before it does, and is then NULL
 *    in it. `runs` is changed by the loop alone.
 * 4. `idle` holds, oldest first, the connections from which no request is at hand: none has come
 *    since they opened or since they were answered. They are at most IDLE_MAX, which is less
 *    than DESCRIPTORS_MAX: whoever comes then takes the place of the oldest, and whoever asks is
 *    heard. */
#include "analysis/page/server.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "analysis/page/document.h"
#include "analysis/page/request.h"
#include "analysis/page/what_if.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    DESCRIPTORS_MAX = 256, /* of connections and the listener; one more is closed unseen */
    IDLE_MAX = 64,
    CHUNK_BYTES = 1 << 14,
    HEADER_BYTES = 4096,
    TEXT_BYTES = 640,
    SEND_SECONDS = 60,   /* for a whole answer: who takes longer is left */
    HEADER_SECONDS = 10, /* for its body */
    FIRST_SECONDS = 2,   /* for its head, of a connection that is new */
    KEEP_SECONDS = 15,   /* for the next head */
    QUERY_SECONDS = 5,
    SERVICE_BYTES = 1 << 15,
    BODY_MAX = 1 << 18,
    JOB_SECONDS = 120, /* a connection waits so long for its simulation */
    RUNS_MAX = 10,
    NAME_BYTES = 16
};
static const uint64_t held_max = 1 << 28;

struct server {
    uv_loop_t loop;
    struct page_run runs[RUNS_MAX]; /* those of the command line, then what was simulated */
    char names[RUNS_MAX][NAME_BYTES];
    unsigned count, asked, port; /* `asked`: of the command line */
    struct lws *idle[IDLE_MAX];
    unsigned idle_count;
    uint64_t held;
    struct server_job *job; /* NULL: none runs */
    char policy[1024];
};
struct answer { /* one for each connection */
    struct request request;
    enum request_status status;
    const char *type;
    char *body, *posted;
    size_t size, sent, posted_size, posted_room;
    bool ready, head_sent;
};
struct server_job {
    uv_work_t work;
    struct server *server;
    struct lws *connection; /* NULL: it has ended */
    struct what_if_ask ask;
    struct what_if result;
    char *body;
    bool good;
};

static void forget(struct server *server, struct answer *answer)
{
    CHECK(server->held >= answer->size); /* 1 */
    server->held -= answer->size;
    free(answer->body);
    free(answer->posted);
    *answer = (struct answer){.body = NULL};
}

static void leave_idle(struct server *server, const struct lws *wsi)
{
    unsigned left = 0;
    for (unsigned i = 0; i < server->idle_count; i++)
        if (server->idle[i] != wsi)
            server->idle[left++] = server->idle[i];
    server->idle_count = left;
}

static void enter_idle(struct server *server, struct lws *wsi, int seconds)
{
    leave_idle(server, wsi);
    if (server->idle_count == IDLE_MAX) {
        struct lws *oldest = server->idle[0];
        leave_idle(server, oldest);
        lws_set_timeout(oldest, PENDING_TIMEOUT_HTTP_CONTENT, LWS_TO_KILL_ASYNC);
    }
    server->idle[server->idle_count++] = wsi;
    lws_set_timer_usecs(wsi, seconds * (lws_usec_t)LWS_USEC_PER_SEC);
}

static bool is_idle(const struct server *server, const struct lws *wsi)
{
    for (unsigned i = 0; i < server->idle_count; i++)
        if (server->idle[i] == wsi)
            return true;
    return false;
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
    case REQUEST_FULL:
        return "this server has simulated as many runs as it holds: end it and start it again\n";
    case REQUEST_BUSY:
        return "the server is busy: a simulation runs, or too much waits to be sent; try again\n";
    }
    return "the answer could not be made\n";
}

/* The text of an answer, to be freed. */
static enum request_status make(struct server *server, const struct request *request, char **text,
                                size_t *size)
{
    const struct page_run *run = &server->runs[request->run];
    struct error error = {""};
    bool good = true;
    FILE *out = open_memstream(text, size);
    if (out == NULL)
        return REQUEST_BUSY;
    if (request->kind == REQUEST_PAGE) {
        page_write(server->asked, out);
    } else {
        query_limit(run->query, QUERY_SECONDS);
        good = page_document(run, &request->ask, out, &error);
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

static int send_head(struct lws *wsi, const struct server *server, struct answer *answer)
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
    if (lws_add_http_common_headers(wsi, (unsigned)answer->status, answer->type, answer->size, &p,
                                    end) != 0)
        return -1;
    for (unsigned i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (lws_add_http_header_by_name(wsi, (const unsigned char *)headers[i].name,
                                        (const unsigned char *)headers[i].value,
                                        (int)strlen(headers[i].value), &p, end) != 0)
            return -1;
    answer->head_sent = true;
    if (lws_finalize_write_http_header(wsi, start, &p, end) != 0)
        return -1;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, SEND_SECONDS);
    return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

/* Takes over `text`; NULL: the usual words for the status. */
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
    *answer =
        (struct answer){.status = status, .type = type, .body = text, .size = size, .ready = true};
    server->held += size;
    return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
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

/* "another": neither. `bytes`: of its path, as libwebsockets holds it. */
static const char *method_of(struct lws *wsi, size_t *bytes)
{
    const int get = lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI),
              post = lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI);
    *bytes = (size_t)(get > 0 ? get : post);
    return get > 0 ? "GET" : post > 0 ? "POST" : "another";
}

static enum request_status understand(struct lws *wsi, const struct server *server,
                                      const char *path, struct request *out)
{
    char host[TEXT_BYTES], origin[TEXT_BYTES], arguments[TEXT_BYTES];
    size_t bytes;
    struct request_text text = {.method = method_of(wsi, &bytes), .path = path};
    if (bytes > strlen(path))
        return REQUEST_UNKNOWN; /* what stands behind %00 belongs to the path */
    if (!copy_token(wsi, WSI_TOKEN_HOST, host, &text.host) ||
        !copy_token(wsi, WSI_TOKEN_ORIGIN, origin, &text.origin))
        return REQUEST_FORBIDDEN;
    if (!copy_arguments(wsi, arguments, &text.arguments))
        return REQUEST_BAD;
    return request_read(&text, &(struct request_server){server->port, server->count}, out);
}

static void work(uv_work_t *request)
{
    struct server_job *job = request->data;
    job->good = what_if(&job->ask, &job->result);
}

/* A new run for the page: {"db": number}. */
static char *adopt(struct server *server, struct query *run)
{
    char text[NAME_BYTES * 2];
    const unsigned number = server->count++;
    snprintf(server->names[number], NAME_BYTES, "what-if %u", number);
    server->runs[number] = (struct page_run){.query = run, .name = server->names[number]};
    snprintf(text, sizeof text, "{\"db\":%u}", number);
    return strdup(text);
}

static void worked(uv_work_t *request, int status)
{
    struct server_job *job = request->data;
    struct server *server = job->server;
    struct what_if *result = &job->result;
    (void)status;
    server->job = NULL;
    if (job->good && job->ask.kind == WHAT_IF_RUN) {
        free(result->text);
        result->text = adopt(server, result->run);
        result->size = result->text != NULL ? strlen(result->text) : 0;
    }
    if (job->connection == NULL)
        free(result->text);
    else if (answer_with(job->connection, server, job->good ? REQUEST_GOOD : REQUEST_FAILED,
                         result->text, result->size,
                         job->good ? "application/json" : "text/plain; charset=utf-8") != 0)
        lws_set_timeout(job->connection, PENDING_TIMEOUT_HTTP_CONTENT, LWS_TO_KILL_ASYNC);
    free(job->body);
    free(job);
}

/* Hands what was asked to a thread; the answer comes when it has ended. */
static int begin_job(struct lws *wsi, struct server *server, struct answer *answer)
{
    static const enum what_if_kind kinds[] = {[REQUEST_SCHEMA] = WHAT_IF_SCHEMA,
                                              [REQUEST_CHECK] = WHAT_IF_CHECK,
                                              [REQUEST_RUN] = WHAT_IF_RUN};
    if (server->count == RUNS_MAX)
        return answer_with(wsi, server, REQUEST_FULL, NULL, 0, "text/plain");
    if (server->job != NULL)
        return answer_with(wsi, server, REQUEST_BUSY, NULL, 0, "text/plain");
    struct server_job *job = memory_take(sizeof *job);
    *job = (struct server_job){.server = server,
                               .connection = wsi,
                               .body = answer->posted,
                               .ask = {.kind = kinds[answer->request.kind],
                                       .body = answer->posted,
                                       .size = answer->posted_size,
                                       .path = server->runs[answer->request.run].path}};
    answer->posted = NULL;
    job->work.data = job;
    server->job = job;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, JOB_SECONDS);
    return uv_queue_work(&server->loop, &job->work, work, worked) != 0 ? -1 : 0;
}

/* A body is announced with its length, or there is none. */
static int expect_body(struct lws *wsi, struct server *server, struct answer *answer)
{
    char text[TEXT_BYTES];
    const char *length = NULL;
    if (!copy_token(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, text, &length) || length == NULL ||
        strtoull(length, NULL, 10) == 0 || strtoull(length, NULL, 10) > BODY_MAX)
        return answer_with(wsi, server, REQUEST_LARGE, NULL, 0, "text/plain");
    answer->posted_room = strtoull(length, NULL, 10);
    answer->posted = memory_take(answer->posted_room);
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, HEADER_SECONDS);
    return 0;
}

static int on_body(struct lws *wsi, struct server *server, struct answer *answer, const void *in,
                   size_t length)
{
    if (answer->posted == NULL)
        return answer->ready ? 0 : -1; /* refused, or more than was announced */
    if (answer->posted_size + length > answer->posted_room)
        return answer_with(wsi, server, REQUEST_LARGE, NULL, 0, "text/plain");
    memcpy(answer->posted + answer->posted_size, in, length);
    answer->posted_size += length;
    return 0;
}

static int on_request(struct lws *wsi, struct server *server, const char *path)
{
    struct answer *answer = lws_wsi_user(wsi);
    struct request request;
    char *text = NULL;
    size_t size = 0;
    forget(server, answer);
    enum request_status status = understand(wsi, server, path, &request);
    if (status != REQUEST_GOOD)
        return answer_with(wsi, server, status, NULL, 0, "text/plain");
    answer->request = request;
    if (request.kind == REQUEST_SCHEMA)
        return begin_job(wsi, server, answer);
    if (request.kind == REQUEST_CHECK || request.kind == REQUEST_RUN)
        return expect_body(wsi, server, answer);
    status = make(server, &request, &text, &size);
    return answer_with(wsi, server, status, text, size,
                       status != REQUEST_GOOD         ? "text/plain; charset=utf-8"
                       : request.kind == REQUEST_PAGE ? "text/html; charset=utf-8"
                                                      : "application/json");
}

/* The job of a connection that ends goes on for nobody. */
static void on_close(struct lws *wsi, struct server *server, struct answer *answer)
{
    if (server->job != NULL && server->job->connection == wsi)
        server->job->connection = NULL; /* 3 */
    if (answer != NULL)
        forget(server, answer);
}

static int on_writable(struct lws *wsi, struct server *server, struct answer *answer)
{
    unsigned char buffer[LWS_PRE + CHUNK_BYTES];
    const size_t left = answer->size - answer->sent,
                 bytes = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    const bool last = bytes == left;
    if (!answer->ready)
        return 0;
    if (!answer->head_sent)
        return send_head(wsi, server, answer);
    memcpy(buffer + LWS_PRE, answer->body + answer->sent, bytes);
    if (lws_write(wsi, buffer + LWS_PRE, bytes, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
        (int)bytes)
        return -1;
    answer->sent += bytes;
    if (!last)
        return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
    forget(server, answer);
    if (lws_http_transaction_completed(wsi) != 0)
        return -1;
    enter_idle(server, wsi, KEEP_SECONDS);
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons event, void *user, void *in,
                    size_t length)
{
    struct server *server = lws_context_user(lws_get_context(wsi));
    struct answer *answer = user;
    switch ((int)event) { /* of libwebsockets: a hundred more are none of ours */
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        enter_idle(server, wsi, FIRST_SECONDS);
        return 0;
    case LWS_CALLBACK_TIMER:
        return is_idle(server, wsi) ? -1 : 0;
    case LWS_CALLBACK_WSI_DESTROY:
        leave_idle(server, wsi);
        return 0;
    case LWS_CALLBACK_HTTP:
        leave_idle(server, wsi);
        return on_request(wsi, server, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return on_writable(wsi, server, answer);
    case LWS_CALLBACK_HTTP_BODY:
        return on_body(wsi, server, answer, in, length);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return answer->posted != NULL ? begin_job(wsi, server, answer) : 0;
    case LWS_CALLBACK_CLOSED_HTTP:
        on_close(wsi, server, answer);
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

static struct lws_context *listen_at(struct server *server, unsigned port)
{
    void *loops[] = {&server->loop};
    struct lws_context_creation_info info = {
        .iface = "127.0.0.1",
        .port = (int)port,
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
    struct server server = {.count = ask->count, .asked = ask->count};
    CHECK(ask->count < RUNS_MAX);
    memcpy(server.runs, ask->runs, ask->count * sizeof *ask->runs);
    page_policy(server.policy, sizeof server.policy);
    if (uv_loop_init(&server.loop) != 0)
        return error_set(error, "the host has no descriptors left to wait with");
    struct lws_context *context = listen_at(&server, ask->port);
    if (context == NULL) {
        return error_set(error,
                         "cannot listen on 127.0.0.1:%u: is the port taken? (libwebsockets needs "
                         "its libuv plug-in, too: package libwebsockets-evlib-uv)",
                         ask->port);
    }
    server.port = (unsigned)lws_get_vhost_listen_port(lws_get_vhost_by_name(context, "orrery"));
    fprintf(ask->told, "http://127.0.0.1:%u/   (Ctrl-C ends it)\n", server.port);
    fflush(ask->told);
    uv_run(&server.loop, UV_RUN_DEFAULT);
    lws_context_destroy(context);
    return error_set(error, "the server ended: nothing listens any more");
}
