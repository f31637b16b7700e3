#include "analysis/command/import/import_kind.h"

#include <string.h>

const struct import_kind *const import_kinds[] = {
#define X(name) &import_##name,
#include "analysis/command/import/import_list.h"
#undef X
};
const unsigned import_kind_count = sizeof import_kinds / sizeof import_kinds[0];

enum {
    HELP_COLUMN = 18
};

bool import_name_at(unsigned index, struct import_name *out)
{
    for (unsigned k = 0; k < import_kind_count; k++) {
        const struct import_kind *kind = import_kinds[k];
        unsigned forms = kind->forms == NULL;
        while (kind->forms != NULL && kind->forms(forms) != NULL)
            forms++;
        if (index >= forms) {
            index -= forms;
            continue;
        }
        const struct kind *form = kind->forms != NULL ? kind->forms(index) : NULL;
        *out = (struct import_name){kind, form, form != NULL ? form : &kind->head};
        return true;
    }
    return false;
}

bool import_name_takes(const struct import_name *name, const char *option)
{
    for (const char *const *takes = name->kind->takes; *takes != NULL; takes++)
        if (strcmp(*takes, option) == 0)
            return true;
    return name->kind->form_takes != NULL && name->kind->form_takes(name->form, option);
}

void import_print_names(FILE *out)
{
    struct import_name name;
    for (unsigned i = 0; import_name_at(i, &name); i++) {
        const int used = fprintf(out, "%s %s", name.head->name, name.kind->file);
        fprintf(out, "%*s", used < HELP_COLUMN ? HELP_COLUMN - used : 1, "");
        for (const char *c = name.head->doc; *c != '\0'; c++) {
            fputc(*c, out);
            if (*c == '\n')
                fprintf(out, "%*s", HELP_COLUMN, "");
        }
        fputc('\n', out);
    }
}
