/* server.h - the page and its documents on 127.0.0.1, until the process is ended.
 *
 * One thread and one loop (libwebsockets on libuv; the types of both stay in server.c). It reads
 * databases alone: no request names a file. Each answer is made whole before it is sent, a query
 * ends after a few seconds, connections, bodies, headers and what waits to be sent are bounded, and
 * a reader who takes no data is left. Who may ask: request.h. Where simulations are allowed a
 * request runs this program as a child (what_if.h), with limits, beside the loop. */
#ifndef ORRERY_ANALYSIS_PAGE_SERVER_H
#define ORRERY_ANALYSIS_PAGE_SERVER_H

#include "analysis/page/page.h"

struct server_ask {
    const struct page_run *runs;
    unsigned count;
    unsigned port; /* 0: one that is free */
    FILE *told;    /* the address is written here once it listens */
};
/* Returns only when it cannot serve: false with a sentence. */
bool server_run(const struct server_ask *ask, struct error *error);

#endif
