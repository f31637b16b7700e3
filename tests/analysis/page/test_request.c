/* Who may ask the local server, and for what: every refusal has its case. */
#include "analysis/page/request.h"
#include "tests/test.h"

static const struct request_server server = {.port = 8080, .runs = 2};

static enum request_status status_of(const char *method, const char *path, const char *arguments,
                                     const char *host, const char *origin)
{
    struct request request;
    const struct request_text text = {method, path, arguments, host, origin};
    return request_read(&text, &server, &request);
}

static void test_hosts_and_origins(void **state)
{
    static const char *const foreign[] = {"evil:8080",       "127.0.0.1",       "127.0.0.1:80",
                                          "127.0.0.1:8080x", "127.0.0.1:80801", "",
                                          "LOCALHOST:8080"};
    const char *here = "127.0.0.1:8080", *own = "http://127.0.0.1:8080";
    assert_int_equal(status_of("GET", "/", NULL, here, NULL), REQUEST_GOOD);
    assert_int_equal(status_of("GET", "/", NULL, here, own), REQUEST_GOOD);
    assert_int_equal(status_of("GET", "/", NULL, "localhost:8080", "http://localhost:8080"),
                     REQUEST_GOOD);
    assert_int_equal(status_of("GET", "/", NULL, NULL, NULL), REQUEST_FORBIDDEN);
    for (unsigned i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        assert_int_equal(status_of("GET", "/", NULL, foreign[i], NULL), REQUEST_FORBIDDEN);
    /* One name of this server is a foreign origin to the other. */
    assert_int_equal(status_of("GET", "/", NULL, here, "http://localhost:8080"), REQUEST_FORBIDDEN);
    assert_int_equal(status_of("GET", "/", NULL, here, "null"), REQUEST_FORBIDDEN);
    assert_int_equal(status_of("GET", "/", NULL, here, "https://127.0.0.1:8080"),
                     REQUEST_FORBIDDEN);
    /* What changes something has an origin. */
    assert_int_equal(status_of("POST", "/api/check", NULL, here, NULL), REQUEST_FORBIDDEN);
    assert_int_equal(status_of("POST", "/api/check", NULL, here, own), REQUEST_GOOD);
}

static void test_places_and_methods(void **state)
{
    const char *here = "127.0.0.1:8080", *own = "http://127.0.0.1:8080";
    assert_int_equal(status_of("GET", "/api/check", NULL, here, own), REQUEST_METHOD);
    assert_int_equal(status_of("POST", "/api/run", NULL, here, own), REQUEST_METHOD);
    assert_int_equal(status_of("another", "/", NULL, here, own), REQUEST_METHOD);
    assert_int_equal(status_of("GET", "/api", NULL, here, NULL), REQUEST_UNKNOWN);
    assert_int_equal(status_of("GET", "/api/run/", NULL, here, NULL), REQUEST_UNKNOWN);
    assert_int_equal(status_of("GET", "/api/run", "db=1", here, NULL), REQUEST_GOOD);
    assert_int_equal(status_of("GET", "/api/run", "db=2", here, NULL), REQUEST_UNKNOWN);
    assert_int_equal(status_of("GET", "/api/run", "db=4294967296", here, NULL), REQUEST_UNKNOWN);
}

static void test_arguments(void **state)
{
    static const char *const bad[] = {
        "db",     "=",   "db=",       "db=-1", "db=1.5", "db=0x1",     "db=1 ",
        "db=1;x", "x=1", "level=all", "db=1&", "&db=1",  "db=1&&db=1", "class=9999999999999999999"};
    struct request request;
    const struct request_text text = {"GET", "/api/slices", "db=1&level=pass&class=7&from=5&to=9",
                                      "127.0.0.1:8080", NULL};
    assert_int_equal(request_read(&text, &server, &request), REQUEST_GOOD);
    assert_int_equal(request.run, 1);
    assert_int_equal(request.ask.kind, DOCUMENT_SLICES);
    assert_int_equal(request.ask.slices.level, SLICES_PASSES);
    assert_int_equal(request.ask.slices.rank_class, 7);
    static const char *const levels[] = {"level=pass", "level=op", "level=idle"};
    static const enum slices_level expected[] = {SLICES_PASSES, SLICES_OPS, SLICES_IDLE};
    for (unsigned i = 0; i < 3; i++) {
        const struct request_text of_level = {"GET", "/api/slices", levels[i], "127.0.0.1:8080",
                                              NULL};
        struct request other;
        assert_int_equal(request_read(&of_level, &server, &other), REQUEST_GOOD);
        assert_int_equal(other.ask.slices.level, expected[i]);
    }
    assert_int_equal(request.ask.slices.from_ns, 5);
    assert_int_equal(request.ask.slices.to_ns, 9);
    assert_int_equal(request.ask.slices.room, SLICES_ROOM);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(status_of("GET", "/api/slices", bad[i], "127.0.0.1:8080", NULL),
                         REQUEST_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts_and_origins),
        cmocka_unit_test(test_places_and_methods),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
