#include "scenarios/catalogue/card.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/language/quantity.h"
#include "sim/units.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
/* GB, GiB and what a driver leaves of one card's memory differ by up to 7 % (B200 is sold with 180
 * and with 192 GB, A100 with 80 GB shows 79.15 GiB); two cards of one chip by 14 % and more (H100
 * with 80 and 94). */
#define MEMORY_SAME_RATIO 0.1

enum {
    WORD_BYTES = 32,
    TEXTS_MAX = 18 /* that describe an entry: its name, its socket, names of its identity */
};
enum word_class {
    WORD_SIZE,    /* 80GB */
    WORD_MEMORY,  /* HBM3 */
    WORD_FORM,    /* SXM5 */
    WORD_VARIANT, /* a part of a card, or another card of nearly its name */
    WORD_PLAIN
};
struct card_word {
    char text[WORD_BYTES]; /* small letters and digits */
    enum word_class class;
    double size; /* of WORD_SIZE */
};
/* An entry of the catalogue as far as it tells who it is. */
struct card {
    const char *name;
    const char *texts[TEXTS_MAX];
    unsigned text_count;
    bool identified;                          /* it has an `identity` */
    double hbm_bytes;                         /* 0: not said */
    double sm_count, nvlinks, capability_x10; /* -1: not said */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool in_word(char c)
{
    return is_digit(c) || (small(c) >= 'a' && small(c) <= 'z');
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Sizes count in GB; SXM2 to SXM6 are one form factor, as a chip has one of them. */
static void classify(struct card_word *w)
{
    static const char *const forms[] = {"sxm", "pcie", "nvl", "oam", "dgxs"};
    static const char *const variants[] = {"mig", "laptop", "mobile", "d", "max"};
    char *end;
    w->class = WORD_PLAIN;
    w->size = strtod(w->text, &end);
    if (is_digit(w->text[0]) && (strcmp(end, "gb") == 0 || strcmp(end, "g") == 0))
        w->class = WORD_SIZE;
    if (begins(w->text, "hbm") || begins(w->text, "gddr"))
        w->class = WORD_MEMORY;
    if (strcmp(w->text, "3e") == 0) { /* "H20-3e" */
        snprintf(w->text, sizeof w->text, "hbm3e");
        w->class = WORD_MEMORY;
    }
    for (unsigned i = 0; i < COUNT(forms); i++) {
        const size_t length = strlen(forms[i]);
        if (begins(w->text, forms[i]) &&
            w->text[length + strspn(w->text + length, "0123456789")] == '\0') {
            w->class = WORD_FORM;
            w->text[length] = '\0';
        }
    }
    for (unsigned i = 0; i < COUNT(variants); i++)
        if (strcmp(w->text, variants[i]) == 0)
            w->class = WORD_VARIANT;
}

/* The next run of letters and digits at *at; false: there is none. */
static bool next_word(const char **at, struct card_word *out)
{
    size_t length = 0;
    while (**at != '\0' && !in_word(**at))
        (*at)++;
    for (; in_word(**at); (*at)++)
        if (length + 1 < WORD_BYTES)
            out->text[length++] = small(**at);
    out->text[length] = '\0';
    classify(out);
    return length > 0;
}

/* Does the name hold the chip, from where a word begins to where one ends? Its digits may be a word
 * of their own: "RTX 4090" is rtx4090. */
static bool names_chip(const char *name, const char *entry)
{
    const size_t length = strcspn(entry, "-");
    for (const char *from = name; *from != '\0'; from++) {
        size_t used = 0;
        const char *at = from;
        if (!in_word(*from) || (from > name && in_word(from[-1])))
            continue;
        while (used < length && small(*at) == small(entry[used])) {
            at++;
            used++;
            if (used < length && is_digit(entry[used]) && !is_digit(entry[used - 1]))
                at += strspn(at, " -_");
        }
        if (used == length && !in_word(*at))
            return true;
    }
    return false;
}

static bool same_text(const char *a, const char *b)
{
    while (*a != '\0' && small(*a) == small(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* By its chip, or by one of the names in full. */
static bool is_called(const struct card *card, const char *name)
{
    bool called = names_chip(name, card->name);
    for (unsigned i = 0; i < card->text_count && !called; i++)
        called = same_text(card->texts[i], name);
    return called;
}

/* Does a word tell cards apart, as A800, L4 and 3090 do? "Graphics Device" has none. */
static bool has_designation(const char *name)
{
    struct card_word word;
    for (const char *at = name; next_word(&at, &word);) {
        unsigned digits = 0, letters = 0;
        for (const char *c = word.text; *c != '\0'; c++) {
            digits += is_digit(*c);
            letters += !is_digit(*c);
        }
        if (word.class == WORD_PLAIN && digits > 0 && (letters > 0 || digits >= 4))
            return true;
    }
    return false;
}

static bool same_size(double a, double b)
{
    return fabs(a - b) <= MEMORY_SAME_RATIO * fmax(a, b);
}

/* A word that the card does not have, though it has another of that class. */
static bool contradicts(const struct card *card, const struct card_word *word)
{
    bool has = word->class == WORD_VARIANT;
    for (unsigned i = 0; i < card->text_count && word->class != WORD_PLAIN; i++) {
        struct card_word own;
        for (const char *at = card->texts[i]; next_word(&at, &own);) {
            if (own.class != word->class)
                continue;
            has = true;
            if (own.class == WORD_SIZE ? same_size(own.size, word->size)
                                       : strcmp(own.text, word->text) == 0)
                return false;
        }
    }
    return has && word->class != WORD_PLAIN;
}

static void add_text(struct card *card, const struct value *value)
{
    if (value != NULL && value->kind == VALUE_WORD && card->text_count < TEXTS_MAX)
        card->texts[card->text_count++] = value->text;
}

/* A number of an entry; -1: not said. False: it is none. */
static bool read_number(const struct value *value, enum param_type type, double *out)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    *out = -1.0;
    if (value == NULL)
        return true;
    if (value->kind != VALUE_WORD || !quantity_read(type, value->text, value->text, &quantity, why))
        return false;
    *out = quantity.number;
    return true;
}

static bool read_names(const struct value *names, struct card *out)
{
    if (names == NULL)
        return true;
    if (names->kind != VALUE_LIST || out->text_count + names->count > TEXTS_MAX)
        return false;
    for (const struct value *name = names->first; name != NULL; name = name->next) {
        if (name->kind != VALUE_WORD)
            return false;
        add_text(out, name);
    }
    return true;
}

/* False: it is not as card.h says. */
static bool read_identity(const struct value *identity, struct card *out)
{
    static const char *const keys[] = {"names", "nvlinks", "compute_capability"};
    double capability;
    out->nvlinks = out->capability_x10 = -1.0;
    if (identity == NULL)
        return true;
    if (identity->kind != VALUE_MAPPING)
        return false;
    for (const struct value *member = identity->first; member != NULL; member = member->next) {
        unsigned k = 0;
        while (k < COUNT(keys) && strcmp(keys[k], member->key) != 0)
            k++;
        if (k == COUNT(keys))
            return false;
    }
    if (!read_names(value_find(identity, "names"), out) ||
        !read_number(value_find(identity, "nvlinks"), PARAM_COUNT, &out->nvlinks) ||
        !read_number(value_find(identity, "compute_capability"), PARAM_RATIO, &capability))
        return false;
    out->capability_x10 = capability < 0.0 ? -1.0 : round(10.0 * capability);
    return true;
}

/* False: the catalogue has no such card. */
static bool read_card(struct catalogue *catalogue, const char *name, struct card *out)
{
    const struct value *entry = catalogue_find(catalogue, FAMILY_GPUS, name), *identity;
    *out = (struct card){.name = name, .texts = {name}, .text_count = 1};
    if (entry == NULL)
        return false;
    add_text(out, value_find(entry, "socket"));
    if (!read_number(value_find(entry, "hbm"), PARAM_BYTES, &out->hbm_bytes) ||
        out->hbm_bytes < 0.0)
        out->hbm_bytes = 0.0; /* reported where the card is built */
    if (!read_number(value_find(entry, "sm_count"), PARAM_COUNT, &out->sm_count))
        out->sm_count = -1.0;
    identity = value_find(entry, "identity");
    out->identified = identity != NULL;
    if (!read_identity(identity, out)) {
        problems_error(catalogue->problems, identity->mark,
                       "identity takes {names: [...], nvlinks: N, compute_capability: 9.0}");
        out->nvlinks = out->capability_x10 = -1.0;
    }
    return true;
}

/* What contradicts beside the name, as it goes on behind the card of the file; false: nothing does.
 */
static bool figures_differ(const struct card *card, const struct card_told *told, struct error *out)
{
    if (told->memory_bytes > 0.0 && card->hbm_bytes > 0.0 &&
        !same_size(told->memory_bytes, card->hbm_bytes))
        return !error_set(out, "with %.4g GB of memory is not %s, which has %.4g",
                          told->memory_bytes / GIGA, card->name, card->hbm_bytes / GIGA);
    if (told->sm_count > 0 && card->sm_count >= 0.0 && told->sm_count != card->sm_count)
        return !error_set(out, "with %u SMs is not %s, which has %g", told->sm_count, card->name,
                          card->sm_count);
    if (told->capability > 0 && card->capability_x10 >= 0.0 &&
        told->capability != card->capability_x10)
        return !error_set(out, "of compute capability %.1f is not %s, which has %.1f",
                          told->capability / 10.0, card->name, card->capability_x10 / 10.0);
    if (card->nvlinks >= 0.0 &&
        (told->nvlinks > card->nvlinks || (told->nvlinks_all && told->nvlinks < card->nvlinks)))
        return !error_set(out, "with %u NVLinks is not %s, which has %g", told->nvlinks, card->name,
                          card->nvlinks);
    return false;
}

static bool name_differs(const struct card *card, const char *name)
{
    struct card_word word;
    for (const char *at = name; next_word(&at, &word);)
        if (contradicts(card, &word))
            return true;
    return false;
}

/* The first card that the name fits, and the first whose chip it holds; NULL: none. */
static void find_named(struct catalogue *catalogue, const struct card_told *told,
                       const char **fitting, const char **chip)
{
    const struct name_list cards = catalogue_names(catalogue, FAMILY_GPUS);
    *fitting = *chip = NULL;
    for (unsigned i = 0; i < cards.count && *fitting == NULL; i++) {
        struct card card;
        struct error why;
        if (!read_card(catalogue, cards.names[i], &card) || !is_called(&card, told->name))
            continue;
        *chip = *chip != NULL ? *chip : cards.names[i];
        if (!name_differs(&card, told->name) && !figures_differ(&card, told, &why))
            *fitting = cards.names[i];
    }
}

enum card_match card_compare(struct catalogue *catalogue, const char *gpu,
                             const struct card_told *told, struct error *why)
{
    struct card card;
    struct error figures = {""};
    const char *fitting, *chip, *of = "a card";
    const bool known = read_card(catalogue, gpu, &card);
    const bool same = *told->name == '\0' || is_called(&card, told->name);
    const bool other = card.identified && has_designation(told->name);
    if (*told->name != '\0')
        of = arena_format(catalogue->arena, "'%s'", source_quote(catalogue->arena, told->name));
    if (!known)
        return error_set(why, "%s is no card of the catalogue, to compare %s with", gpu, of),
               *told->name == '\0' ? CARD_FITS : CARD_UNKNOWN;
    const bool differ = figures_differ(&card, told, &figures);
    if (same && !differ && !name_differs(&card, told->name))
        return CARD_FITS;
    find_named(catalogue, told, &fitting, &chip);
    if (fitting != NULL)
        error_set(why, "%s (%s in the catalogue) is not %s", of, fitting, gpu);
    else if (differ)
        error_set(why, "%s %s", of, figures.text);
    else if (chip != NULL)
        error_set(why, "%s is not %s, nor another card of the catalogue", of, gpu);
    else
        error_set(why, "%s is the name of no card of the catalogue%s %s", of,
                  other ? ", and not of" : "; it is taken for", gpu);
    return differ || chip != NULL || other ? CARD_DIFFERS : CARD_UNKNOWN;
}

/* How long the chip of this entry is, if it stands at the beginning of the text; 0: it does not. */
static size_t chip_at(const char *text, const char *entry)
{
    const size_t length = strcspn(entry, "-");
    size_t used = 0;
    while (used < length && small(text[used]) == small(entry[used]))
        used++;
    return used == length && !is_digit(text[used]) ? length : 0;
}

const char *card_chip_within(struct catalogue *catalogue, const char *text, const char *gpu)
{
    const struct name_list cards = catalogue_names(catalogue, FAMILY_GPUS);
    const char *found = NULL;
    for (const char *at = text; *at != '\0';) {
        size_t longest = 0;
        for (unsigned i = 0; i < cards.count; i++) {
            const size_t length = chip_at(at, cards.names[i]);
            longest = length > longest ? length : longest;
        }
        if (longest > 0 && (found == NULL || chip_at(at, gpu) == longest))
            found = arena_format(catalogue->arena, "%.*s", (int)longest, at);
        at += longest > 0 ? longest : 1;
    }
    return found;
}
