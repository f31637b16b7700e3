/* The constants that matter for a step and that no document gives: which figures of the catalogue
 * move together, and what is known of them without steps.csv: a document, a count of passes, or
 * where nothing is known what does nothing, or the middle of what is possible. */
#include "fit_rows.h"

const struct fit_parameter fit_parameters[] = {
    /* kernels.csv: cuBLASLt sweep .85, what boxes of 2021 sustained unknown */
    {"sustained GEMM, A100", {"gpu.a100-80gb-sxm.gemm_efficiency"}, 0.83, 0.04},
    /* kernels.csv: .70 in an fp8 sweep, .80 in short bursts */
    {"sustained GEMM, H100", {"gpu.h100-80gb-sxm.gemm_efficiency"}, 0.68, 0.06},
    /* kernels.csv, by curve within 3 %; a training step is longer than a sweep */
    {"flash attention 2, H100",
     {"gpu.h100-80gb-sxm.attention_flash2_causal_forward_rate",
      "gpu.h100-80gb-sxm.attention_flash2_causal_backward_rate",
      "gpu.h100-80gb-sxm.attention_flash2_full_forward_rate",
      "gpu.h100-80gb-sxm.attention_flash2_full_backward_rate"},
     372e12,
     0.05},
    /* an eager operator costs 5 to 15 us, with its modules and autograd two or three times that */
    {"launch, Megatron of 2021 and 2022",
     {"software.megatron-2021.launch", "software.megatron-2022.launch",
      "software.deepspeed-2021.launch"},
     25e-6,
     0.6},
    {"launch, nanotron", {"software.nanotron.launch"}, 25e-6, 0.6},
    /* a call into NCCL through torch.distributed */
    {"host time of a tp collective, nanotron", {"software.nanotron.tp_exposed_host"}, 0.05e-3, 1.0},
    /* latencies of small messages and of a copy to the host */
    {"exchange of a pipeline, nanotron", {"software.nanotron.p2p_sync"}, 0.1e-3, 1.0},
    /* passes over memory counted in the source, each 15 % */
    {"memory-bound bytes, Megatron of 2021 and 2022",
     {"software.megatron-2021.norm*", "software.megatron-2021.residual*",
      "software.megatron-2021.activation_f*", "software.megatron-2021.activation_b*",
      "software.megatron-2022.norm*", "software.megatron-2022.residual*",
      "software.megatron-2022.activation_f*", "software.megatron-2022.activation_b*"},
     4.0,
     0.15},
    /* passes of eager operators counted for the profile fsdp */
    {"unfused bytes, nanotron and llm-foundry",
     {"software.mosaic.norm*", "software.mosaic.residual*", "software.mosaic.activation_f*",
      "software.mosaic.activation_b*", "software.nanotron.norm*", "software.nanotron.residual*",
      "software.nanotron.activation_f*", "software.nanotron.activation_b*",
      "software.nanotron.rope*"},
     8.0,
     0.4},
    /* public tests across the sockets of A100 servers read 15 to 20 GB/s */
    {"between sockets, A100 nodes",
     {"node.dgx-a100.host_bandwidth", "node.hgx-a100-4nic.host_bandwidth"},
     18e9,
     0.25},
    /* nothing is known but that it lies between none and all */
    {"all-reduce beside products, Megatron of 2022",
     {"software.megatron-2022.tp_overlap_cost"},
     0.5,
     0.4},
    {"passes beside the update, Megatron of 2021 and 2022",
     {"software.megatron-2021.optimizer_extra_bytes",
      "software.megatron-2022.optimizer_extra_bytes"},
     28.0,
     0.2},
    {"bytes of a score, math attention",
     {"software.megatron-2021.math*", "software.megatron-2022.math*",
      "software.deepspeed-2021.math*"},
     13.0,
     0.1},
    /* half of the share of SMs that NCCL takes to all of what it moves */
    {"interference, FSDP",
     {"software.mosaic.interference", "software.fsdp.interference"},
     0.4,
     0.5},
    /* four passes over HBM each way: flattened, joined, split, copied back */
    {"buffers of dp, nanotron", {"software.nanotron.dp_copy_bandwidth"}, 340e9, 1.0},
    /* the same four passes, A100 */
    {"buffers of dp, DeepSpeed", {"software.deepspeed-2021.dp_copy_bandwidth"}, 200e9, 1.0},
    /* public nccl-tests on p5 lose about .3 ms at 128 MB */
    {"transport of a large collective, EFA", {"fabric.efa-3200g.bulk_latency"}, 0.3e-3, 0.5},
};
const size_t fit_parameter_count = sizeof fit_parameters / sizeof fit_parameters[0];
