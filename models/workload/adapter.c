#include "models/workload/adapter.h"

#include <stddef.h>

const char *const adapter_names[] = {"none", "lora", "qlora", NULL};
const char *const adapter_target_names[] = {"all", "attention", NULL};

double adapter_frozen_bytes(const struct adapter_spec *adapter)
{
    return adapter->kind == ADAPTER_QLORA ? ADAPTER_NF4_BYTES : ADAPTER_WEIGHT_BYTES;
}

double adapter_parameters(const struct adapter_spec *adapter, double inputs, double outputs)
{
    return (double)adapter->rank * (inputs + outputs);
}
