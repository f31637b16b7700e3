/* peer.c - what the readers of other estimators have in common. */
#include "scenarios/import/peers/peer.h"

#include <inttypes.h>

#include "scenarios/language/source.h"

bool peer_take(struct arena *arena, const struct peer_files *files,
               const struct launched_table *table, struct launched *l, struct error *error)
{
    struct launched_words words = {.arena = arena, .path = files->run->path, .error = error};
    if (!launched_document(files->run, "", &words) ||
        !launched_document(files->model, "model.", &words) ||
        (files->system != NULL && !launched_document(files->system, "system.", &words)))
        return false;
    launched_take(&words, table, l);
    return true;
}

static double bounded(struct launched *l, int option, const char *word, double most)
{
    double number = 0.0;
    if (word == NULL || !import_text_number(word, &number) || number <= 0.0 || number > most)
        launched_bad(l, option, "wants a number above 0%s, not '%s'",
                     most > 1.0 ? "" : " and at most 1",
                     source_quote(l->arena, word != NULL ? word : "nothing"));
    return l->broken ? 1.0 : number;
}

double peer_efficiency(struct launched *l, int option, double usual)
{
    enum {
        WORDS_MAX = 512
    };
    const char *words[WORDS_MAX];
    double most = -1.0, size = 0.0, found = usual;
    const unsigned count = launched_list(l, option, words, WORDS_MAX);
    if (!launched_has(l, option) || l->broken)
        return usual;
    if (count == 0 || count % 2 != 0 || count > WORDS_MAX)
        launched_bad(l, option, "wants pairs of a size and an efficiency");
    for (unsigned i = 0; !l->broken && i < count; i += 2) {
        const double share = bounded(l, option, words[i + 1], 1.0);
        if (!import_text_number(words[i], &size))
            launched_bad(l, option, "'%s' is no size", source_quote(l->arena, words[i]));
        found = size > most ? share : found;
        most = size > most ? size : most;
    }
    return found;
}

double peer_figure(struct launched *l, int option, const char *name)
{
    if (!launched_has(l, option))
        launched_bad(l, LAUNCHED_NOTHING, "it has no %s, without which there is no machine", name);
    return l->broken ? 1.0 : bounded(l, option, launched_text(l, option, NULL), 1e15);
}

double peer_share(struct launched *l, int option, double usual)
{
    return launched_has(l, option) ? bounded(l, option, launched_text(l, option, NULL), 1.0)
                                   : usual;
}

void peer_gpus(struct launched *l, int option, uint64_t said, uint64_t gpus)
{
    if (gpus > 0 && gpus != said)
        launched_bad(l, option, "the run has %" PRIu64 " GPUs, not %" PRIu64 " (--gpus)", said,
                     gpus);
    l->gpus = said;
    launched_key(l, LAUNCHED_CLUSTER, option, "gpus: %" PRIu64, said);
}

void peer_card(struct launched *l, bool named)
{
    if (named)
        return;
    launched_key(l, LAUNCHED_GPU, LAUNCHED_NOTHING, "sm_count: 108");
    launched_key(l, LAUNCHED_GPU, LAUNCHED_NOTHING, "clock: 1410MHz");
    launched_key(l, LAUNCHED_GPU, LAUNCHED_NOTHING, "power: 400W");
    launched_warn(l, LAUNCHED_NOTHING,
                  "SMs, clock and power of the card are not said: those of an A100 stand in; --gpu "
                  "NAME takes those of a card");
}

void peer_network(struct launched *l, int option, uint64_t span, uint64_t first)
{
    const double said = launched_number(l, option, 0.0);
    const bool inside = span <= first;
    if (launched_has(l, option) && inside != (said < 1.0))
        launched_warn(l, option, "the order of ranks puts this group %s",
                      inside ? "into a node" : "across nodes");
}
