/* nesting FILE: exit 0 when the Chrome trace in FILE is valid; see nesting.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/analysis/exchange/nesting.h"

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return 2;
    long size = ftell(file);
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    rewind(file);
    if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size)
        return 2;
    text[size] = '\0';
    char why[256];
    long spans = nesting_check(text, why, sizeof why);
    printf("%ld spans %s\n", spans, why);
    free(text);
    fclose(file);
    return spans > 0 ? 0 : 1;
}
