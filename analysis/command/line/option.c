#include "analysis/command/line/option.h"

#include <stdio.h>
#include <string.h>

const struct option *option_find(const struct option *options, const char *name, size_t length)
{
    for (; options->name != NULL; options++)
        if (strlen(options->name) == length && memcmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

enum option_member option_member_of(enum option_type type)
{
    static const enum option_member members[] = {
        [OPTION_FLAG] = MEMBER_FLAG,     [OPTION_COUNT] = MEMBER_COUNT,
        [OPTION_SOME] = MEMBER_COUNT,    [OPTION_MAYBE] = MEMBER_COUNT,
        [OPTION_FACTOR] = MEMBER_REAL,   [OPTION_SIZE] = MEMBER_REAL,
        [OPTION_LIMIT] = MEMBER_REAL,    [OPTION_TEXT] = MEMBER_TEXT,
        [OPTION_INPUT] = MEMBER_TEXT,    [OPTION_FOLDER] = MEMBER_TEXT,
        [OPTION_PICTURE] = MEMBER_TEXT,  [OPTION_PAGE] = MEMBER_TEXT,
        [OPTION_OUTPUT] = MEMBER_TEXT,   [OPTION_DATABASE] = MEMBER_DATABASE,
        [OPTION_CHOICE] = MEMBER_CHOICE, [OPTION_RATIO] = MEMBER_REAL,
        [OPTION_SHARE] = MEMBER_REAL,    [OPTION_TIME] = MEMBER_REAL,
        [OPTION_MONEY] = MEMBER_REAL,    [OPTION_POWER] = MEMBER_REAL,
        [OPTION_SET] = MEMBER_LIST,      [OPTION_VARY] = MEMBER_LIST,
        [OPTION_STEP] = MEMBER_LIST};
    return members[type];
}

const char *option_doc(const struct option *option, char out[OPTION_DOC_BYTES])
{
    if (option->usual == NULL)
        return option->doc;
    snprintf(out, OPTION_DOC_BYTES, "%s (%s)", option->doc, option->usual);
    return out;
}
