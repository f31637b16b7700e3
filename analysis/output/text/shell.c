#include "analysis/output/text/shell.h"

#include <string.h>

const char *shell_word(struct arena *arena, const char *word)
{
    const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/%@";
    size_t bytes = strlen(word);
    if (bytes > 0 && strspn(word, plain) == bytes)
        return word;
    char *out = arena_alloc(arena, 4 * bytes + 3, 1), *to = out;
    *to++ = '\'';
    for (const char *c = word; *c != '\0'; c++) {
        *to++ = *c;
        if (*c == '\'') { /* leave the quotes, a quote by itself, and into them again */
            memcpy(to, "\\''", 3);
            to += 3;
        }
    }
    memcpy(to, "'", 2);
    return out;
}
