#include "analysis/exchange/launch/launch_facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "key=value" of `bytes` bytes: the option that says it; NULL: none. */
static const struct launch_fact *find(const char *word, size_t bytes,
                                      const struct launch_fact *options)
{
    for (const struct launch_fact *o = options; o->fact != NULL; o++) {
        const size_t length = strlen(o->fact);
        if (length <= bytes && strncmp(o->fact, word, length) == 0 &&
            (length == bytes || o->fact[length - 1] == '='))
            return o;
    }
    return NULL;
}

static const char *clean(struct launch_text *text, const char *word, size_t bytes)
{
    return bytes == 0
               ? ""
               : launch_clean(text->arena, arena_format(text->arena, "%.*s", (int)bytes, word));
}

static void refuse(struct launch_text *text, const char *word, size_t bytes)
{
    const size_t key = strcspn(word, "= ");
    const size_t value = key < bytes ? key + 1 : bytes;
    launch_say(text, LAUNCH_REFUSED,
               "the model has %s %s (model.facts), which is not written here: this would train "
               "something else",
               clean(text, word, key), clean(text, word + value, bytes - value));
}

/* Both that write it are Megatron-LM's: "no_rope_freq should be divisible by num_layers", which
 * means the other way round. */
static bool divides_layers(const struct launch_job *job, struct launch_text *text,
                           const struct launch_fact *option, const char *value)
{
    const uint64_t each = strtoull(value, NULL, 10), layers = job->c->model.layers;
    if (strcmp(option->fact, "no_rope_layer_interval=") != 0 || (each > 0 && layers % each == 0))
        return true;
    launch_say(text, LAUNCH_REFUSED,
               "%s%" PRIu64 " (model.facts) does not divide the %" PRIu64
               " layers, as Megatron-LM asks for",
               option->fact, each, layers);
    return false;
}

void launch_facts(const struct launch_job *job, struct launch_text *text,
                  const struct launch_fact *options)
{
    const char *word = job->c->model.usual.facts;
    while (word != NULL && *(word += strspn(word, " ")) != '\0') {
        const size_t bytes = strcspn(word, " ");
        const struct launch_fact *option = find(word, bytes, options);
        const size_t value = option != NULL ? strlen(option->fact) : bytes;
        if (option == NULL)
            refuse(text, word, bytes);
        else if (divides_layers(job, text, option, word + value))
            launch_option(text, "%s%s", option->option, clean(text, word + value, bytes - value));
        word += bytes;
    }
}

bool launch_has_fact(const struct launch_job *job, const char *fact)
{
    const char *word = job->c->model.usual.facts;
    while (word != NULL && *(word += strspn(word, " ")) != '\0') {
        const size_t bytes = strcspn(word, " ");
        if (bytes == strlen(fact) && strncmp(word, fact, bytes) == 0)
            return true;
        word += bytes;
    }
    return false;
}
