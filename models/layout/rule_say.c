#include <stdarg.h>
#include <stdio.h>

#include "models/layout/configuration_parts.h"

void rule_say(struct rule_report *r, bool warning, const char *key, const char *format, ...)
{
    if (r->count < r->capacity) {
        struct rule_break *b = &r->out[r->count];
        b->key = key;
        b->warning = warning;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(b->text, sizeof b->text, format, arguments);
        va_end(arguments);
    }
    r->count++;
}
