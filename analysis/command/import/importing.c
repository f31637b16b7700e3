#include "analysis/command/import/importing.h"

#include "analysis/command/line/card_agrees.h"
#include "analysis/output/text/format.h"

int importing_trouble(const struct importing *i, const struct error *error, int code)
{
    fprintf(i->session->notes, "orrery import: %s\n", error->text);
    return code;
}

bool importing_agrees(const struct importing *i, struct card_told told)
{
    const struct import_card *card = &i->a->card;
    const struct card_arguments how = {card->catalogue, card->other_card};
    if (card->gpu == NULL)
        return true;
    if (!card_agrees(&i->a->line, how, i->session, i->file.path, card->gpu, &told))
        return false;
    if (*told.name == '\0' && told.sm_count == 0 && told.capability == 0)
        fprintf(i->session->notes, "orrery import: %s names no card: --gpu %s is believed\n",
                format_shown(i->file.path).s, format_shown(card->gpu).s);
    return true;
}
