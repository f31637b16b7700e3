/* import_peers.c - the documents of another estimator of training steps as a scenario. */
#include "analysis/command/import/import_kind.h"
#include "analysis/command/import/import_launched.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "scenarios/import/peers/calculon.h"
#include "scenarios/import/peers/simumax.h"

typedef bool peer_read_fn(struct arena *arena, const struct peer_files *files, uint64_t gpus,
                          struct launched *out, struct error *error);

static int run_peer(struct importing *i, const char *what, peer_read_fn *read)
{
    struct import_file model = {.path = i->a->model}, system = {.path = i->a->system};
    const struct peer_files files = {.run = &i->file,
                                     .model = &model,
                                     .system = system.path != NULL ? &system : NULL,
                                     .card = i->a->card.gpu != NULL};
    struct launched l;
    struct error error = {""};
    if (model.path == NULL) {
        fprintf(i->session->notes, "orrery import %s: needs --model FILE, the JSON of the model\n",
                what);
        return EXIT_USAGE;
    }
    if (!import_open(i->arena, model.path, IMPORT_BYTES_MAX, &model, &error))
        return importing_trouble(i, &error, load_refused_code(model.path));
    if (system.path != NULL &&
        !import_open(i->arena, system.path, IMPORT_BYTES_MAX, &system, &error))
        return importing_trouble(i, &error, load_refused_code(system.path));
    if (!read(i->arena, &files, i->a->watch.gpus, &l, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    return import_launched_write(i, &l);
}

static const char *const takes[] = {"--output", "--gpu",       "--gpus", "--model",
                                    "--system", "--catalogue", NULL};

static int run_calculon(struct importing *i)
{
    return run_peer(i, "calculon", calculon_read);
}

const struct import_kind import_calculon = {
    .head = {.name = "calculon",
             .doc = "an execution of Calculon, with --model and --system: the scenario of it"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run_calculon,
};

static int run_simumax(struct importing *i)
{
    return run_peer(i, "simumax", simumax_read);
}

const struct import_kind import_simumax = {
    .head = {.name = "simumax",
             .doc = "a strategy of SimuMax, with --model and --system: the scenario of it"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run_simumax,
};
