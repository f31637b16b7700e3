/* arena.h - one region of memory for each simulation, freed whole.
 *
 * Allocation is a bump; nothing is freed alone. A mark can be taken and rewound to, for
 * temporaries. Memory comes zeroed, but for arena_room. A host that refuses memory ends the process
 * (sim/memory.h): the caller could repair nothing. The poison build (ORRERY_POISON) fills rewound
 * memory with 0xA5.
 *
 * One thread owns an arena: at first the one that creates it. Whoever allocates, marks, rewinds or
 * destroys CHECKs that the calling thread is the owner. To pass an arena on, the owner gives it up
 * and the next one claims it; that the two do not overlap (a lock, the start and the end of a
 * pool) is theirs to see to. Reading what an arena holds takes no ownership. */
#ifndef ORRERY_SIM_ARENA_H
#define ORRERY_SIM_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct arena_mark {
    void *block;
    size_t used;
};

struct arena *arena_create(void);        /* owned by the caller; arena_destroy frees it */
void arena_destroy(struct arena *arena); /* NULL is allowed */
void arena_give(struct arena *arena);    /* by its owner: nobody's from now on */
void arena_claim(struct arena *arena);   /* nobody's: the calling thread's from now on */
void *arena_alloc(struct arena *arena, size_t bytes, size_t alignment); /* zeroed, never NULL */
/* The same with whatever was there before: for what is large and written before it is read. */
void *arena_room(struct arena *arena, size_t bytes, size_t alignment);
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);
size_t arena_bytes(const struct arena *arena);           /* bytes taken from the host */
char *arena_text(struct arena *arena, const char *text); /* a copy */
__attribute__((format(printf, 2, 3))) char *arena_format(struct arena *arena, const char *format,
                                                         ...);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type), _Alignof(type)))
#define ARENA_ROOM(arena, type) ((type *)arena_room((arena), sizeof(type), _Alignof(type)))
/* `count` objects of `type`; the product is checked for overflow. */
#define ARENA_ARRAY(arena, type, count)                                                            \
    ((type *)arena_array((arena), sizeof(type), (size_t)(count), _Alignof(type)))
void *arena_array(struct arena *arena, size_t size, size_t count, size_t alignment);

#endif
