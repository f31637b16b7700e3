#include "scenarios/build/cause_list.h"

#include <string.h>

void cause_list_add(struct builder *b, struct cause_list *list, const struct failure_cause *cause,
                    struct mark mark)
{
    if (list->count == list->capacity) {
        unsigned capacity = list->capacity ? 2 * list->capacity : 32;
        struct failure_cause *rows = ARENA_ARRAY(b->arena, struct failure_cause, capacity);
        struct mark *marks = ARENA_ARRAY(b->arena, struct mark, capacity);
        if (list->count) {
            memcpy(rows, list->rows, list->count * sizeof *rows);
            memcpy(marks, list->marks, list->count * sizeof *marks);
        }
        list->rows = rows;
        list->marks = marks;
        list->capacity = capacity;
    }
    list->rows[list->count] = *cause;
    list->marks[list->count++] = mark;
}
