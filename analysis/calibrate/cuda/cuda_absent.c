#include "analysis/calibrate/cuda/cuda_device.h"

bool cuda_device_open(struct calibrate_device *out, struct error *error)
{
    (void)out;
    return error_set(error, "this program was built without CUDA: build it where nvcc is, or try "
                            "--device simulated");
}

void cuda_device_close(struct calibrate_device *device)
{
    (void)device;
}

const char *cuda_device_libraries(void)
{
    return "no CUDA";
}
