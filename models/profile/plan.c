#include "models/profile/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"
#include "sim/list.h"

#define HEADS_WIDTH                                                                                \
    4096.0 /* heads x head size of the grid of attention: a usual share of a card                  \
            */
#define GRID_STEP 4.0

struct calibrate_plan plan_begin(struct arena *arena)
{
    return (struct calibrate_plan){.arena = arena};
}

unsigned plan_add(struct calibrate_plan *plan, const struct calibrate_point *point, double weight_s)
{
    CHECK(point_problem(point) == NULL && weight_s >= 0.0);
    for (unsigned i = 0; i < plan->count; i++) {
        if (point_same(&plan->rows[i].point, point)) {
            plan->rows[i].weight_s += weight_s;
            return i;
        }
    }
    LIST_ROOM(plan->arena, plan->rows, plan->count, 1, plan->room);
    plan->rows[plan->count] = (struct planned_point){*point, weight_s};
    return plan->count++;
}

static bool read_line(struct calibrate_plan *plan, char *line, struct error *error)
{
    struct calibrate_point point;
    char *end, *comment = strchr(line, '#');
    if (comment != NULL)
        *comment = '\0';
    if (line[strspn(line, " \t\r")] == '\0')
        return true;
    double weight_s = strtod(line, &end);
    if (end == line || !(weight_s >= 0.0) || !isfinite(weight_s))
        return error_set(error, "a line begins with the seconds of a step that rest on the shape");
    if (!point_parse(end, &point, error))
        return false;
    if (plan->count >= PLAN_POINTS_MAX)
        return error_set(error, "more than %d shapes", PLAN_POINTS_MAX);
    plan_add(plan, &point, weight_s);
    return true;
}

bool plan_read(struct calibrate_plan *plan, const char *path, const char *text, struct error *error)
{
    unsigned number = 1;
    char line[2 * POINT_LINE_BYTES];
    for (const char *at = text; *at != '\0'; number++) {
        size_t length = strcspn(at, "\n");
        struct error why = {""};
        if (length >= sizeof line)
            return error_set(error, "%s:%u: a line of %zu bytes is no shape", path, number, length);
        memcpy(line, at, length);
        line[length] = '\0';
        if (!read_line(plan, line, &why))
            return error_set(error, "%s:%u: %s", path, number, why.text);
        at += length + (at[length] == '\n');
    }
    return plan->count > 0 || error_set(error, "%s: no shape in it", path);
}

struct plan_grid {
    struct calibrate_plan *plan;
    double most_bytes;
};

static void add(const struct plan_grid *grid, struct calibrate_point point)
{
    if (point_bytes(&point) <= grid->most_bytes)
        plan_add(grid->plan, &point, 0.0);
}

static struct calibrate_point named(enum calibrate_kind kind, const char *name, const char *type)
{
    struct calibrate_point point = {.kind = kind};
    snprintf(point.name, sizeof point.name, "%s", name);
    snprintf(point.type, sizeof point.type, "%s", type);
    return point;
}

/* Of the same sizes with and without a kept result: weight gradients add into one. */
static void add_products_of(const struct plan_grid *grid, const char *type, bool accumulate)
{
    for (double m = 256.0; m <= 16384.0; m *= GRID_STEP) {
        for (double n = 512.0; n <= 32768.0; n *= GRID_STEP) {
            for (double k = 512.0; k <= 32768.0; k *= GRID_STEP) {
                struct calibrate_point p = named(POINT_GEMM, "-", type);
                p.accumulate = accumulate;
                memcpy(p.size, (double[]){m, n, k, 1.0}, 4 * sizeof *p.size);
                add(grid, p);
            }
        }
    }
}

static void add_products(const struct plan_grid *grid)
{
    static const char *const types[] = {"bf16", "fp16", "fp8", "tf32"};
    for (unsigned t = 0; t < sizeof types / sizeof types[0]; t++)
        add_products_of(grid, types[t], false);
    add_products_of(grid, "bf16", true);
    for (double m = 64.0; m <= 4096.0; m *= GRID_STEP) {
        struct calibrate_point p = named(POINT_GROUPED, "-", "bf16");
        memcpy(p.size, (double[]){m, 2048.0, 4096.0, 16.0}, 4 * sizeof *p.size);
        add(grid, p);
    }
}

static void add_attention(const struct plan_grid *grid)
{
    for (double tokens = 512.0; tokens <= 32768.0; tokens *= 2.0) {
        for (unsigned variant = 0; variant < 8; variant++) {
            struct calibrate_point p = named(POINT_ATTENTION, "cudnn", "bf16");
            double head = variant & 4u ? 64.0 : 128.0, heads = HEADS_WIDTH / head;
            double batch = fmax(16384.0 / tokens, 1.0);
            p.causal = variant & 1u;
            p.backward = variant & 2u;
            memcpy(p.size, (double[]){batch, tokens, tokens, heads, heads, head, head},
                   sizeof p.size);
            add(grid, p);
        }
    }
}

static void add_streams(const struct plan_grid *grid)
{
    static const char *const copies[] = {"to-device-pinned", "to-device", "from-device-pinned",
                                         "from-device", "to-peer"};
    for (unsigned i = 0; point_operators[i] != NULL; i++) {
        for (double bytes = 1048576.0; bytes <= 4294967296.0; bytes *= GRID_STEP) {
            struct calibrate_point p = named(POINT_MEMORY, point_operators[i], "bf16");
            p.size[0] = bytes;
            add(grid, p);
        }
    }
    for (unsigned i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        for (double bytes = 65536.0; bytes <= 268435456.0; bytes *= GRID_STEP * GRID_STEP) {
            struct calibrate_point p = named(POINT_COPY, copies[i], "fp32");
            p.size[0] = bytes;
            add(grid, p);
        }
    }
}

static void add_launches(const struct plan_grid *grid)
{
    for (unsigned graph = 0; graph < 2; graph++) {
        for (double count = 1.0; count <= 256.0; count *= GRID_STEP * GRID_STEP) {
            struct calibrate_point p = named(POINT_LAUNCH, graph ? "graph" : "stream", "fp32");
            p.size[0] = count;
            add(grid, p);
        }
    }
}

static void add_collectives(const struct plan_grid *grid, double cards)
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                      "send"};
    for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        for (double ranks = 2.0; ranks <= cards; ranks *= 2.0) {
            for (double bytes = 65536.0; bytes <= 1073741824.0; bytes *= GRID_STEP) {
                struct calibrate_point p = named(POINT_COLLECTIVE, ops[i], "bf16");
                p.size[0] = ranks;
                p.size[1] = bytes;
                add(grid, p);
            }
        }
    }
}

void plan_add_grid(struct calibrate_plan *plan, double memory_bytes, double cards)
{
    struct plan_grid grid = {plan, memory_bytes / 4.0};
    add_products(&grid);
    add_attention(&grid);
    add_streams(&grid);
    add_launches(&grid);
    if (cards >= 2.0)
        add_collectives(&grid, cards);
}
