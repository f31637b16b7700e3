#include "scenarios/build/cause_list.h"

#include "sim/list.h"

void cause_list_add(struct builder *b, struct cause_list *list, const struct failure_cause *cause,
                    struct mark mark)
{
    unsigned capacity = list->capacity;
    LIST_ROOM(b->arena, list->marks, list->count, 1, capacity);
    LIST_ROOM(b->arena, list->rows, list->count, 1, list->capacity);
    list->rows[list->count] = *cause;
    list->marks[list->count++] = mark;
}
