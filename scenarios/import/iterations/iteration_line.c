/* iteration_line.c - what stands around the words of a format in a line. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_row.h"
#include "scenarios/import/reader/time_stamp.h"

enum {
    STAMP_WITHIN = 96, /* bytes of a line's beginning in which it stands */
    STAMP_BYTES = 48,
    DIGITS_MAX = 24,
    RANK_DIGITS_MAX = 9
};

/* "17" and `end` behind it: the number; -1: it does not stand there. */
static int64_t rank_between(const char *at, const char *end)
{
    const size_t digits = strspn(at, "0123456789");
    if (digits == 0 || digits > RANK_DIGITS_MAX || strncmp(at + digits, end, strlen(end)) != 0)
        return ITERATION_NO_RANK;
    return strtoll(at, NULL, 10);
}

/* "[rank3]:" (torchrun), "[default3]:" (torchrun --tee), "3: " (srun --label), "[1,3]<stdout>:"
 * (mpirun --tag-output). */
static int64_t rank_of(const char *text)
{
    static const struct {
        const char *before, *behind;
    } forms[] = {{"[rank", "]:"}, {"[default", "]:"}, {"[1,", "]<stdout>"}, {"", ": "}};
    text += strspn(text, " \t");
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const size_t length = strlen(forms[i].before);
        if (strncmp(text, forms[i].before, length) == 0 &&
            rank_between(text + length, forms[i].behind) >= 0)
            return rank_between(text + length, forms[i].behind);
    }
    return ITERATION_NO_RANK;
}

/* Does "2026-11-03T04:05:06" stand there, by its form? */
static bool stamp_stands(const char *at)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    for (unsigned i = 0; form[i] != '\0'; i++) {
        const char c = at[i];
        const bool good = form[i] == 'd'   ? isdigit((unsigned char)c) != 0
                          : form[i] == ' ' ? c == ' ' || c == 'T'
                                           : c == form[i];
        if (!good)
            return false;
    }
    return true;
}

/* With a fraction, and a zone that stands right behind it. */
static double stamp_read(const char *at)
{
    char word[STAMP_BYTES];
    double seconds;
    size_t length = 19;
    if (at[length] == '.' || at[length] == ',')
        length += 1 + strspn(at + length + 1, "0123456789");
    if (at[length] == 'Z')
        length++;
    else if ((at[length] == '+' || at[length] == '-') && isdigit((unsigned char)at[length + 1]))
        length += 1 + strspn(at + length + 1, "0123456789:");
    if (length >= sizeof word)
        return NAN;
    memcpy(word, at, length);
    word[length] = '\0';
    return time_stamp_read(word, &seconds) ? seconds : NAN;
}

static double stamp_of(const char *text)
{
    for (unsigned i = 0; i < STAMP_WITHIN && text[i] != '\0'; i++)
        if (isdigit((unsigned char)text[i]) && (i == 0 || !isdigit((unsigned char)text[i - 1])) &&
            stamp_stands(text + i))
            return stamp_read(text + i);
    return NAN;
}

struct iteration_line iteration_line_of(const char *text)
{
    return (struct iteration_line){text, rank_of(text), stamp_of(text), true};
}

const char *iteration_line_after(const char *text, const char *key)
{
    for (const char *at = strstr(text, key); at != NULL; at = strstr(at + 1, key)) {
        const char *behind = at + strlen(key);
        behind += strspn(behind, " \t");
        if (*behind == ':' || *behind == '=')
            return behind + 1 + strspn(behind + 1, " \t");
    }
    return NULL;
}

double iteration_line_number(const char *at)
{
    char digits[DIGITS_MAX + 1];
    unsigned count = 0;
    if (at == NULL)
        return NAN;
    at += strspn(at, " \t");
    if (!isdigit((unsigned char)*at) && (*at != '.' || !isdigit((unsigned char)at[1])))
        return NAN;
    for (; *at != '\0' && strchr("0123456789.,eE+-", *at) != NULL && count < DIGITS_MAX; at++)
        if (*at != ',')
            digits[count++] = *at;
        else if (!isdigit((unsigned char)at[1]))
            break;
    digits[count] = '\0';
    return strtod(digits, NULL); /* what of it is a number */
}
