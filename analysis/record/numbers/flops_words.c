#include "analysis/record/numbers/flops_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/output/text/format.h"

static const char *formula_text(struct arena *arena, const struct formula *f)
{
    char text[FORMULA_TEXT_MAX];
    transformer_formula_text(f, text);
    return arena_text(arena, text);
}

static struct text number(double value)
{
    struct text out;
    if (value == floor(value) && value < 1e15)
        return format_count((uint64_t)value);
    snprintf(out.s, sizeof out.s, "%.6g", value);
    return out;
}

/* Each letter once, in the order of the terms, but those that were told. */
static const char *letters_text(struct arena *arena, const struct formula *f,
                                bool told[FORMULA_LETTER_MAX])
{
    const char *all = NULL;
    for (unsigned i = 0; i < f->term_count; i++)
        for (const char *at = f->terms[i].letters; *at != '\0'; at++) {
            const struct formula_letter letter = transformer_formula_letter(f, *at);
            if (told[*at - 'A'])
                continue;
            told[*at - 'A'] = true;
            all = arena_format(arena, "%s%s%c = %s %s", all != NULL ? all : "",
                               all != NULL ? ", " : "", *at, number(letter.value).s, letter.what);
        }
    return all;
}

struct flops_words flops_words_of(struct arena *arena, const struct configuration *c)
{
    struct formula mfu, causal;
    bool told[FORMULA_LETTER_MAX] = {false};
    configuration_formula(c, false, &mfu);
    configuration_formula(c, c->training.causal, &causal);
    struct flops_words out = {.formula = formula_text(arena, &mfu),
                              .causal_formula = formula_text(arena, &causal)};
    out.letters = letters_text(arena, &mfu, told);
    const char *more = letters_text(arena, &causal, told);
    if (more != NULL)
        out.letters = arena_format(arena, "%s; of causal MFU alone: %s", out.letters, more);
    return out;
}
