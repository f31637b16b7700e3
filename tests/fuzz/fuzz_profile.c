/* A profile that somebody changed, and a list of shapes, under libFuzzer: either is read, and then
 * every value is sound and every look-up positive, or refused with a sentence.
 *
 * Up to the first zero byte the input is a list of shapes and, line by line, the shapes of a small
 * profile's rows; after it come patches of the file: four bytes of place, one of value. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "models/profile/profile_time.h"
#include "sim/check.h"

enum {
    TEXT_MAX = 4096,
    FILE_MAX = 1 << 18,
    PATCH_BYTES = 5
};
static const char path[] = "fuzzed_profile.db";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_rows(struct arena *arena, const struct calibrate_plan *plan)
{
    struct profile_head head = {.facts = {.device = "fuzzed"}};
    struct measured_profile resumed;
    struct error error = {""};
    remove(path);
    struct profile_writer *writer = profile_write(arena, path, &head, &resumed, &error);
    CHECK(writer != NULL);
    for (unsigned i = 0; i < plan->count && i < 8; i++) {
        struct measured_point row = {plan->rows[i].point,
                                     {plan->rows[i].weight_s, 0.01, 1, 0, true, 0, 0, 0}};
        CHECK(profile_keep(writer, &row, &error));
    }
    CHECK(profile_close(writer, true, &error));
}

static void patch(const uint8_t *data, size_t left)
{
    static uint8_t bytes[FILE_MAX];
    FILE *file = fopen(path, "r+b");
    CHECK(file != NULL);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    for (; left >= PATCH_BYTES; data += PATCH_BYTES, left -= PATCH_BYTES) {
        size_t place =
            (size_t)data[0] << 24 | (size_t)data[1] << 16 | (size_t)data[2] << 8 | data[3];
        bytes[place % size] = data[4];
    }
    rewind(file);
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static void look_up(struct arena *arena, const struct measured_profile *profile)
{
    struct gpu_spec gpu = {.peak_flops_per_s = {1e14, 1e14, 1e15, 1e15, 2e15},
                           .hbm.bytes_per_s = 3e12,
                           .hbm.efficiency_ratio = 0.9,
                           .l2_bytes = 5e7,
                           .sm_count = 132,
                           .clock_hz = 1.7e9,
                           .power.cap_w = 700,
                           .gemm.efficiency_ratio = 0.7,
                           .gemm.operand_passes = 3,
                           .gemm.k_half = 200,
                           .kernel_start_s = 4e-6};
    const struct kernel_profile *ready = profile_time_open(arena, profile, &gpu);
    for (unsigned i = 0; i < 5; i++) {
        struct gemm_shape shape = {128.0 * (1 << 2 * i), 4096, 1024, 1};
        struct kernel kernels[] = {gpu_kernel_gemm("up", PEAK_BF16, shape, 2.0),
                                   gpu_kernel_memory("norm", 1e4 * (1 << 4 * i), 1.0)};
        for (unsigned k = 0; k < 2; k++) {
            struct kernel_time time = {0.0, KERNEL_MODELLED, 0};
            CHECK(!profile_time_lookup(ready, &gpu, &kernels[k], &time) || time.s > 0.0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX];
    struct error error = {""};
    struct measured_profile profile;
    struct arena *arena = arena_create();
    struct calibrate_plan plan = plan_begin(arena);
    size_t length = strnlen((const char *)data, size < TEXT_MAX - 1 ? size : TEXT_MAX - 1);
    memcpy(text, data, length);
    text[length] = '\0';
    CHECK(plan_read(&plan, "input", text, &error) || error.text[0] != '\0');
    write_rows(arena, &plan);
    if (size > length)
        patch(data + length + 1, size - length - 1);
    error.text[0] = '\0';
    if (profile_read(arena, path, &profile, &error))
        look_up(arena, &profile);
    else
        CHECK(error.text[0] != '\0');
    arena_destroy(arena);
    return 0;
}
