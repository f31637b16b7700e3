#include "analysis/command/import/importing.h"

#include "analysis/command/line/card_agrees.h"

int importing_trouble(const struct importing *i, const struct error *error, int code)
{
    fprintf(i->session->notes, "orrery import: %s\n", error->text);
    return code;
}

bool importing_agrees(const struct importing *i, struct card_told told)
{
    const struct import_card *card = &i->a->card;
    const struct card_arguments how = {card->catalogue, card->other_card};
    return card->gpu == NULL ||
           card_agrees(&i->a->line, how, i->session, i->file.path, card->gpu, &told);
}
