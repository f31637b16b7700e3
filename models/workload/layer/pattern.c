#include "models/workload/layer/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ATTENTION "attention"

/* What a letter stands for; false: for nothing. */
static bool letter_code(char letter, struct layer_code *out, const struct layer_kind **kind)
{
    static const struct {
        char letter;
        struct layer_code code;
    } letters[] = {{'*', {LAYER_ATTENTION, FEED_AS_MODEL}},
                   {'-', {LAYER_FFN, FEED_DENSE}},
                   {'E', {LAYER_FFN, FEED_EXPERTS}}};
    *kind = NULL;
    for (unsigned i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].letter == letter) {
            *out = letters[i].code;
            return true;
        }
    for (unsigned i = 0; i < layer_kind_count; i++)
        if (layer_kinds[i]->letter == letter && letter != '\0') {
            *out = (struct layer_code){LAYER_MIXER, FEED_AS_MODEL};
            *kind = layer_kinds[i];
            return true;
        }
    return false;
}

static bool all_letters(const char *text)
{
    struct layer_code ignored;
    const struct layer_kind *kind;
    for (; *text != '\0'; text++)
        if (!letter_code(*text, &ignored, &kind))
            return false;
    return true;
}

static bool add(struct layer_pattern *out, struct layer_code code, const struct layer_kind *kind,
                unsigned long times, struct error *error)
{
    if (kind != NULL && out->kind != NULL && out->kind != kind) {
        error_set(error, "a model has one kind of recurrent layer, and this has %s and %s",
                  out->kind->head.name, kind->head.name);
        return false;
    }
    out->kind = kind != NULL ? kind : out->kind;
    if (times == 0 || times > PATTERN_LAYERS_MAX - out->count) {
        error_set(error, "a pattern repeats 1 to %d layers", PATTERN_LAYERS_MAX);
        return false;
    }
    while (times-- > 0)
        out->layers[out->count++] = code;
    return true;
}

/* "3*gdn" or "gdn", of so many characters. */
static bool read_word(const char *word, size_t length, struct layer_pattern *out,
                      struct error *error)
{
    unsigned long times = 1;
    const char *name = word;
    if (isdigit((unsigned char)*word)) {
        char *end;
        times = strtoul(word, &end, 10);
        name = *end == '*' ? end + 1 : word;
    }
    length -= (size_t)(name - word);
    if (length == strlen(ATTENTION) && strncmp(name, ATTENTION, length) == 0)
        return add(out, (struct layer_code){LAYER_WHOLE, FEED_AS_MODEL}, NULL, times, error);
    for (unsigned i = 0; i < layer_kind_count; i++) {
        const struct layer_kind *kind = layer_kinds[i];
        if (length == strlen(kind->head.name) && strncmp(name, kind->head.name, length) == 0)
            return add(out, (struct layer_code){LAYER_MIXED, FEED_AS_MODEL}, kind, times, error);
    }
    error_set(error,
              "'%.*s' is no layer: give attention, or a kind of `orrery list layers`, as in "
              "3*gdn,attention; or letters of M, G, *, - and E alone, as in MEM*-E",
              (int)(length < 40 ? length : 40), name);
    return false;
}

static bool read_words(const char *text, struct layer_pattern *out, struct error *error)
{
    while (true) {
        text += strspn(text, " ");
        const size_t whole = strcspn(text, ",");
        size_t length = whole;
        while (length > 0 && text[length - 1] == ' ')
            length--;
        if (!read_word(text, length, out, error))
            return false;
        if (text[whole] == '\0')
            return true;
        text += whole + 1;
    }
}

bool pattern_read(const char *text, struct layer_pattern *out, struct error *error)
{
    out->kind = NULL;
    out->count = 0;
    if (text == NULL || *text == '\0')
        return true;
    if (!all_letters(text))
        return read_words(text, out, error);
    for (; *text != '\0'; text++) {
        struct layer_code code;
        const struct layer_kind *kind;
        if (!letter_code(*text, &code, &kind) || !add(out, code, kind, 1, error))
            return false;
    }
    return true;
}

struct layer_code pattern_at(const struct layer_pattern *pattern, uint64_t layer)
{
    if (pattern->count == 0)
        return (struct layer_code){LAYER_WHOLE, FEED_AS_MODEL};
    return pattern->layers[layer % pattern->count];
}

bool layer_form_attends(enum layer_form form)
{
    return form == LAYER_WHOLE || form == LAYER_ATTENTION;
}

bool layer_form_mixes(enum layer_form form)
{
    return form == LAYER_MIXED || form == LAYER_MIXER;
}

bool layer_form_feeds(enum layer_form form)
{
    return form == LAYER_WHOLE || form == LAYER_MIXED || form == LAYER_FFN;
}

unsigned layer_form_blocks(enum layer_form form)
{
    return form == LAYER_WHOLE || form == LAYER_MIXED ? 2 : 1;
}
