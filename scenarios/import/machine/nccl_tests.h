/* nccl_tests.h - the output of NVIDIA's nccl-tests as points of a profile.
 *
 * One text holds one output or several after each other. Columns go by the names of each table's
 * header, so old and new versions, and other columns between them, are read alike; ranks and nodes
 * are counted from the `Rank` lines; the operation is that of the line "Collective test starting",
 * or the one given, or what busbw over algbw tells where it can be one alone. Each line may begin
 * with what a launcher writes before it (srun -l, mpirun --tag-output, kubectl logs --prefix). JSON
 * of nccl-tests -J and of rccl-tests -Z json is read, too. What the tables say must agree: algbw
 * with size and time, busbw with algbw, operation and ranks; else the units, the operation or the
 * ranks are not what they seem, and the text is refused with its line. Times out of place and in
 * place, and of repeated tables, are samples of one point. (Format: NVIDIA/nccl-tests src/common.cu
 * and src/util.cu; PERFORMANCE.md for algbw and busbw.) */
#ifndef ORRERY_SCENARIOS_IMPORT_MACHINE_NCCL_TESTS_H
#define ORRERY_SCENARIOS_IMPORT_MACHINE_NCCL_TESTS_H

#include "models/profile/profile.h"
#include "scenarios/import/reader/import_text.h"

enum {
    NCCL_TESTS_ROWS_MAX = 1 << 14
};
struct nccl_tests {
    struct measured_point *points;
    unsigned point_count;
    unsigned table_count;
    unsigned left_out;              /* rows: of no bytes, or of integers, which no step sends */
    char device[DEVICE_TEXT_BYTES]; /* of all ranks, as its driver names it */
};
/* Reads a text. `op`: the collective where the text does not say, as a step or a program calls it;
 * NULL: the text must. False with a sentence. */
bool nccl_tests_read(struct arena *arena, struct import_file file, const char *op,
                     struct nccl_tests *out, struct error *error);

#endif
