/* cuda_device.h - the card of this machine as a calibrate_device: the first that CUDA shows
 * (CUDA_VISIBLE_DEVICES chooses). */
#ifndef ORRERY_ANALYSIS_CALIBRATE_CUDA_CUDA_DEVICE_H
#define ORRERY_ANALYSIS_CALIBRATE_CUDA_CUDA_DEVICE_H

#include "models/profile/device.h"

/* False with a sentence when there is no card, no driver for it, or no CUDA in this program. */
bool cuda_device_open(struct calibrate_device *out, struct error *error);
void cuda_device_close(struct calibrate_device *device);
/* What this program was built with, for --help: "cublasLt, cuDNN, NCCL". */
const char *cuda_device_libraries(void);

#endif
