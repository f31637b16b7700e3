/* lower_alive.c - a walk over the modules of two layers in the order in which passes use them.
 *
 * Invariants
 * 1. What is alive is the sum of the modules that are there. */
#include "models/lower/plan/lower_alive.h"

#include <math.h>

#include "sim/check.h"

enum {
    MODULES_MAX = 2 * LAYER_MODULE_MAX,
    USES_MAX = 2 * MODULES_MAX
};

struct module_walk {
    unsigned use[USES_MAX], use_count; /* modules, as they are used */
    double size[MODULES_MAX];
    bool here[MODULES_MAX];
    double alive, live;
};

static void use_layer(struct module_walk *w, unsigned first, unsigned count, bool forward)
{
    for (unsigned i = 0; i < count; i++)
        w->use[w->use_count++] = first + (forward ? i : count - 1 - i);
}

/* Layers that are recomputed go forward and back each by itself; else both go forward first. */
static void plan(struct module_walk *w, const struct layer *layer, bool again)
{
    const unsigned n = layer->module_count;
    CHECK(n <= LAYER_MODULE_MAX);
    for (unsigned i = 0; i < 2 * n; i++)
        w->size[i] = layer->modules[i % n];
    use_layer(w, 0, n, true);
    use_layer(w, again ? 0 : n, n, !again);
    use_layer(w, n, n, again);
    use_layer(w, again ? n : 0, n, false);
}

static void fetch(struct module_walk *w, unsigned module)
{
    w->alive += w->here[module] ? 0.0 : w->size[module];
    w->here[module] = true;
}

/* The first module behind that is not there. */
static void fetch_ahead(struct module_walk *w, unsigned at)
{
    unsigned next = at + 1;
    while (next < w->use_count && w->here[w->use[next]])
        next++;
    if (next < w->use_count && w->alive < w->live)
        fetch(w, w->use[next]);
}

static bool is_used_soon(const struct module_walk *w, unsigned at)
{
    double passed = 0.0;
    for (unsigned i = at + 1; i < w->use_count && passed < w->live; i++) {
        if (w->use[i] == w->use[at])
            return true;
        passed += w->size[w->use[i]];
    }
    return false;
}

double lower_alive(const struct layer *layer, bool again, double live)
{
    struct module_walk w = {.live = live};
    double most = 0.0;
    if (live <= 0.0 || layer->parameters <= live || layer->module_count == 0)
        return layer->parameters;
    plan(&w, layer, again);
    for (unsigned at = 0; at < w.use_count; at++) {
        fetch(&w, w.use[at]);
        fetch_ahead(&w, at);
        most = fmax(most, w.alive);
        if (!is_used_soon(&w, at)) {
            w.here[w.use[at]] = false;
            w.alive -= w.size[w.use[at]]; /* 1 */
        }
    }
    return fmin(most, layer->parameters);
}
