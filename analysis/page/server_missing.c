/* For builds without libwebsockets. */
#include "analysis/page/server.h"

bool server_run(const struct server_ask *ask, struct error *error)
{
    (void)ask;
    return error_set(error, "this orrery was built without libwebsockets and cannot serve; write "
                            "the page as a file with --html FILE");
}
