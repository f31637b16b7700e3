/* allocator.h - a model of PyTorch's caching allocator on one card: blocks, segments, two sums.
 *
 * Facts from pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp: requests are rounded to 512 B; up
 * to 1 MiB they come from 2 MiB segments, below 10 MiB from 20 MiB segments, above from segments
 * rounded to 2 MiB; the smallest free block that is large enough is taken (lowest address among
 * equals), and split when the rest is at least 512 B (small pool) or more than 1 MiB (large pool);
 * freed blocks merge with free neighbours; before it fails, segments that are wholly free are given
 * back. With expandable segments each pool is one range that grows at its end, by 2 MiB or 20 MiB
 * pages. Streams have pools of their own: there is that of compute, and one for all others; within
 * either a freed block is free at once. Workload: up to
 * millions of requests a step, hundreds of free blocks. It knows no tensors and no time. */
#ifndef ORRERY_MODELS_MEMORY_ALLOCATOR_H
#define ORRERY_MODELS_MEMORY_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"

#define ALLOCATOR_FAILED UINT32_MAX

struct allocator;
/* `limit_bytes` is what may be reserved in all; INFINITY never fails. */
struct allocator *allocator_create(struct arena *arena, double limit_bytes, bool expandable);
/* A block's number, or ALLOCATOR_FAILED. Zero bytes is a request like another (512 B). */
uint32_t allocator_take(struct allocator *allocator, double bytes);
/* The same, in the pools of another stream than that of compute when `side`. */
uint32_t allocator_take_on(struct allocator *allocator, double bytes, bool side);
void allocator_give(struct allocator *allocator, uint32_t block);
double allocator_block_bytes(const struct allocator *allocator, uint32_t block); /* rounded */
/* Names the place of a block: blocks in use at once have different ones. */
uint64_t allocator_block_address(const struct allocator *allocator, uint32_t block);
/* Grows whenever segments or pages are taken or given back. Between two moments with the same
 * number the blocks in use tell all: what is free is the rest of the same segments. */
uint64_t allocator_changes(const struct allocator *allocator);
/* Bytes that do not go through the pools (CUDA context, NCCL): lowers what may be reserved. */
bool allocator_take_outside(struct allocator *allocator, double bytes);
void allocator_give_outside(struct allocator *allocator, double bytes);
double allocator_allocated_bytes(const struct allocator *allocator); /* outside included */
double allocator_reserved_bytes(const struct allocator *allocator);  /* outside included */
/* After a failure: how many bytes the last request lacked, all cached segments given back. */
double allocator_short_bytes(const struct allocator *allocator);

#endif
