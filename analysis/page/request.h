/* request.h - what a request to the local server means, or why it is refused: pure, knows no
 * socket.
 *
 * Any page that a browser shows can send requests to 127.0.0.1, so every request must name this
 * server in Host (else a foreign name was bound to this address: DNS rebinding) and, where it has
 * an Origin, come from this server's own page; what changes something must have one. Paths are
 * compared whole, arguments are whole numbers or words of a list: nothing reaches a file name or
 * an SQL text. Host: RFC 9110, 7.2; Origin: RFC 6454, 7. */
#ifndef ORRERY_ANALYSIS_PAGE_REQUEST_H
#define ORRERY_ANALYSIS_PAGE_REQUEST_H

#include <stdint.h>

#include "analysis/page/document.h"

enum request_kind {
    REQUEST_PAGE,
    REQUEST_DOCUMENT,
    REQUEST_SCHEMA, /* the keys of scenarios */
    REQUEST_CHECK,  /* a scenario in the body: its problems */
    REQUEST_RUN     /* the same: simulate it; it becomes another database */
};
struct request_text { /* as it came; NULL: not there */
    const char *method, *path, *arguments, *host, *origin;
};
struct request_server {
    unsigned port, runs;
};
struct request {
    enum request_kind kind;
    unsigned run; /* which database; below server.runs */
    struct document_ask ask;
};
enum request_status {
    REQUEST_GOOD = 200,
    REQUEST_BAD = 400,
    REQUEST_FORBIDDEN = 403,
    REQUEST_UNKNOWN = 404,
    REQUEST_METHOD = 405,
    REQUEST_LARGE = 413,
    REQUEST_FAILED = 500,
    REQUEST_BUSY = 503,
    REQUEST_FULL = 507
};
enum request_status request_read(const struct request_text *text,
                                 const struct request_server *server, struct request *out);

#endif
