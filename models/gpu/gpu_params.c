/* gpu_params.c - how the fields of a GPU are spelt, checked and explained. Figures live in
 * scenarios/catalogue/gpus.yaml with their sources; a default here is stated with its reason. */
#include "models/gpu/gpu.h"
#include "sim/units.h"

#define AT(field) offsetof(struct gpu_spec, field)

/* A rate is at most an exaflop/s, a memory a petabyte: beyond that a prefix was mistyped. */
#define RATE_MAX (1000.0 * PETA)
#define SIZE_MAX_BYTES PETA

const char *const attention_kernel_names[] = {"math", "flash1", "flash2", "flash3", "cudnn", NULL};

/* The curve of one kernel in one direction under one mask. */
#define CURVE(key, says, curve, half)                                                              \
    {"attention_" key "_rate",                                                                     \
     PARAM_FLOP_RATE,                                                                              \
     AT(curve.ceiling_flops_per_s),                                                                \
     0,                                                                                            \
     RATE_MAX,                                                                                     \
     "0TFLOP/s",                                                                                   \
     NULL,                                                                                         \
     says ": rate at long sequences, head size 128; 0: the GPU has no such kernel."},              \
    {                                                                                              \
        "attention_" key "_half", PARAM_RATIO, AT(curve.half_length), 0, 1e6, half, NULL,          \
            says ": tokens at which the rate is half of that."                                     \
    }
#define CURVES(name, kernel)                                                                       \
    CURVE(name "_causal_forward", "Forward of " name " attention, causal",                         \
          attention.forward[kernel][1], "500"),                                                    \
        CURVE(name "_causal_backward", "Backward of " name " attention, causal",                   \
              attention.backward[kernel][1], "500"),                                               \
        CURVE(name "_full_forward", "Forward of " name " attention, no mask",                      \
              attention.forward[kernel][0], "250"),                                                \
        CURVE(name "_full_backward", "Backward of " name " attention, no mask",                    \
              attention.backward[kernel][0], "250")
#define HEADS(name, kernel, small, large)                                                          \
    {"attention_" name "_head64",                                                                  \
     PARAM_RATIO,                                                                                  \
     AT(attention.small_head_ratio[kernel]),                                                       \
     0.8,                                                                                          \
     10,                                                                                           \
     small,                                                                                        \
     NULL,                                                                                         \
     "Time of " name " attention at head size 64 over that at 128, for the same FLOPs; the "       \
     "FlashAttention figures."},                                                                   \
    {                                                                                              \
        "attention_" name "_head256", PARAM_RATIO, AT(attention.large_head_ratio[kernel]), 0.6,    \
            10, large, NULL, "The same ratio at head size 256."                                    \
    }

const struct param gpu_params[] = {
    {"peak_fp32", PARAM_FLOP_RATE, AT(peak_flops_per_s[PEAK_FP32]), 0, RATE_MAX, "0TFLOP/s", NULL,
     "Dense peak rate in fp32, without sparsity; 0: not supported."},
    {"peak_tf32", PARAM_FLOP_RATE, AT(peak_flops_per_s[PEAK_TF32]), 0, RATE_MAX, "0TFLOP/s", NULL,
     "Dense peak rate in tf32, without sparsity; 0: not supported."},
    {"peak_bf16", PARAM_FLOP_RATE, AT(peak_flops_per_s[PEAK_BF16]), 0, RATE_MAX, NULL, NULL,
     "Dense peak rate in bf16, without sparsity; 0: not supported."},
    {"peak_fp16", PARAM_FLOP_RATE, AT(peak_flops_per_s[PEAK_FP16]), 0, RATE_MAX, "0TFLOP/s", NULL,
     "Dense peak rate in fp16, without sparsity; 0: not supported."},
    {"peak_fp8", PARAM_FLOP_RATE, AT(peak_flops_per_s[PEAK_FP8]), 0, RATE_MAX, "0TFLOP/s", NULL,
     "Dense peak rate in fp8, without sparsity; 0: not supported."},
    {"peak_fp4", PARAM_FLOP_RATE, AT(peak_flops_per_s[PEAK_FP4]), 0, RATE_MAX, "0TFLOP/s", NULL,
     "Dense peak rate in NVFP4, without sparsity; 0: not supported."},
    {"hbm", PARAM_BYTES, AT(hbm.bytes), MIB, SIZE_MAX_BYTES, NULL, NULL,
     "Memory of the card, as the driver reports it."},
    {"nominal_hbm", PARAM_BYTES, AT(hbm.nominal_bytes), 0, SIZE_MAX_BYTES, "0B", NULL,
     "Memory that the card is sold with, in GB, by which the rule of thumb counts cards; 0: as "
     "hbm."},
    {"usable_hbm", PARAM_BYTES, AT(hbm.usable_bytes), MIB, SIZE_MAX_BYTES, NULL, NULL,
     "Memory that one process can allocate on an empty card, its CUDA context included."},
    {"context", PARAM_BYTES, AT(hbm.context_bytes), 0, SIZE_MAX_BYTES, "500MB", NULL,
     "CUDA context and memory reserved by loaded kernels; about half a gigabyte on data-centre "
     "cards."},
    {"hbm_bandwidth", PARAM_BANDWIDTH, AT(hbm.bytes_per_s), GIGA, SIZE_MAX_BYTES, NULL, NULL,
     "Memory bandwidth according to the data sheet."},
    {"hbm_efficiency", PARAM_RATIO, AT(hbm.efficiency_ratio), 0.01, 1, "85%", NULL,
     "Share of the bandwidth that a streaming kernel reaches; BabelStream reads 79 to 95 % of it "
     "on A100 and H100."},
    {"l2", PARAM_BYTES, AT(l2_bytes), 0, SIZE_MAX_BYTES, "40MiB", NULL,
     "Size of the second-level cache; 40 MiB: A100."},
    {"sm_count", PARAM_COUNT, AT(sm_count), 1, 100000, NULL, NULL,
     "Number of enabled streaming multiprocessors."},
    {"release", PARAM_COUNT, AT(release), 0, 3000, "0", NULL,
     "Release year of the card; a run that names no software version uses none that was superseded "
     "before that year. 0: not specified."},
    {"maker", PARAM_TEXT, AT(maker), 0, 0, "", NULL,
     "Who makes the chip: NVIDIA, AMD, ...; one of whose cards no step was measured has wider "
     "intervals."},
    {"generation", PARAM_TEXT, AT(generation), 0, 0, "", NULL,
     "Generation of the chip by its maker's name: Hopper, CDNA 4, ...; one of which no step was "
     "measured has wider intervals."},
    {"clock", PARAM_FREQUENCY, AT(clock_hz), MEGA, 100.0 * GIGA, NULL, NULL,
     "Boost clock at which the peak rates are quoted."},
    {"power", PARAM_POWER, AT(power.cap_w), 1, MEGA, NULL, NULL,
     "Power cap of the card; below tdp it lowers the sustained clock of GEMMs and attention, above "
     "tdp it has no effect."},
    {"tdp", PARAM_POWER, AT(power.tdp_w), 0, MEGA, "0W", NULL,
     "Power cap at which gemm_efficiency and the rates of attention hold; 0: at power."},
    {"static_power", PARAM_RATIO, AT(power.static_ratio), 0, 0.9, "20%", NULL,
     "Share of tdp that a running card draws without any arithmetic: idle, leakage of a hot card, "
     "clocks; twice the idle power of data-centre cards is 15 to 30 %."},
    {"memory_power", PARAM_RATIO, AT(power.memory_ratio), 0, 0.9, "15%", NULL,
     "Share of tdp that HBM draws at its full bandwidth; 3.9 pJ a bit (HBM2, O'Connor et al., "
     "MICRO 2017) is 15 % of an H100."},
    {"voltage_floor", PARAM_RATIO, AT(power.voltage_floor_ratio), 0.01, 1, "76%", NULL,
     "Share of the boost clock below which the voltage is constant: there power is proportional to "
     "the clock, above to its cube."},
    {"power_window", PARAM_TIME, AT(power.window_s), 0, 60, "11ms", NULL,
     "Time for which a rested card exceeds its cap before the clock falls; it affects short "
     "benchmarks, not training."},
    {"idle_power", PARAM_POWER, AT(power.idle_w), 0, MEGA, "70W", NULL,
     "Power drawn by an idle card; nvidia-smi shows about 70 W on an H100."},
    {"gemm_efficiency", PARAM_RATIO, AT(gemm.efficiency_ratio), 0.01, 1, "75%", NULL,
     "Share of the peak that a large aligned GEMM reaches at the sustained clock, before tile and "
     "wave losses."},
    {"gemm_burst_efficiency", PARAM_RATIO, AT(gemm.burst_ratio), 0, 1, "0%", NULL,
     "The same in short runs, before the power cap lowers the clock; 0: as gemm_efficiency. It "
     "applies only to benchmarks that search for the best shape."},
    {"gemm_operand_passes", PARAM_RATIO, AT(gemm.operand_passes), 0, 100, "3", NULL,
     "Times that a tile's operands pass through shared memory: written once and read by two rows "
     "or columns of warps; fewer where the tensor cores read shared memory themselves."},
    {"gemm_k_half", PARAM_RATIO, AT(gemm.k_half), 0, 100000, "200", NULL,
     "Length of k at which filling and draining the GEMM main loop takes as long as the loop "
     "itself."},
    {"gemm_split_cost", PARAM_RATIO, AT(gemm.split_cost_ratio), 0, 2, "0", NULL,
     "Relative extra time of an 8-bit GEMM whose partial sums are promoted to fp32 (split "
     "accumulation); 0 where tensor cores accumulate in fp32 themselves."},
    {"gemm_block_cost", PARAM_RATIO, AT(gemm.block_cost_ratio), 0, 2, "0", NULL,
     "Relative extra time of an 8-bit GEMM whose operands have a scale for each block."},
    {"gemm_fp4_cost", PARAM_RATIO, AT(gemm.fp4_cost_ratio), 0, 4, "0", NULL,
     "Relative extra time of a 4-bit GEMM over what its peak and the sustained clock give."},
    {"block_scaling", PARAM_FLAG, AT(gemm.block_scaling), 0, 0, "false", NULL,
     "Tensor cores support a scale for each block of 32 elements (MXFP8)."},
    {"transposed_copies", PARAM_FLAG, AT(gemm.transposed_copies), 0, 0, "false", NULL,
     "8-bit GEMMs need both operands contiguous along k, so a tensor used by rows and by columns "
     "is stored twice."},
    {"persistent_products", PARAM_FLAG, AT(gemm.persistent), 0, 0, "false", NULL,
     "A GEMM runs as one block on each SM until all its tiles are done. Beside a collective of "
     "NCCL, whose channels hold SMs, the blocks without an SM run after the others: tensor "
     "parallelism gains nothing by running both at once, unless tp_pipelines."},
    {"kernel_start", PARAM_TIME, AT(kernel_start_s), 0, 1, "4us", NULL,
     "Fixed time of a kernel on the GPU: start, first loads and tail."},
    {"speed_spread", PARAM_RATIO, AT(speed_spread_ratio), 0, 0.5, "1.25%", NULL,
     "Standard deviation of the speed of GPUs of one model. Those of five computing centres vary "
     "by 8 % from end to end (arXiv:2208.11035), about 5 deviations: 1.6 %; weak scaling from 64 "
     "to 2,048 H100 loses 1.6 to 1.8 % (tests/validation/steps.csv, dgxc): 1 to 1.4 % if nothing "
     "else grew. Between the two."},
    CURVES("flash1", ATTENTION_FLASH1),
    CURVES("flash2", ATTENTION_FLASH2),
    CURVES("flash3", ATTENTION_FLASH3),
    CURVES("cudnn", ATTENTION_CUDNN),
    HEADS("flash1", ATTENTION_FLASH1, "89%", "108%"),
    HEADS("flash2", ATTENTION_FLASH2, "113%", "108%"),
    HEADS("flash3", ATTENTION_FLASH3, "134%", "85%"),
    HEADS("cudnn", ATTENTION_CUDNN, "142%", "104%"),
    {"attention_rows", PARAM_RATIO, AT(attention.rows), 1, 65536, "128", NULL,
     "Query rows per thread block of a forward attention kernel: 128 up to Hopper "
     "(arXiv:2307.08691), two tiles of 128 on Blackwell (arXiv:2603.05451)."},
    {"price_per_hour", PARAM_MONEY, AT(price_per_hour_usd), 0, 1e6, "0USD", NULL,
     "Price of one card for an hour."},
    {"announced_error", PARAM_RATIO, AT(announced_error_ratio), 0, 1, "0%", NULL,
     "Relative standard error that every prediction on this card has in addition, as its vendor "
     "has announced it and nobody has measured it; 0: it is sold."},
    {"socket", PARAM_TEXT, AT(socket), 0, 0, "", NULL,
     "Socket of the card: sxm5, pcie, ...; a node with a different socket causes a warning."},
    {"node", PARAM_TEXT, AT(node), 0, 0, "", NULL,
     "Node of the catalogue in which this card usually comes; the default of cluster.node."},
};
const unsigned gpu_param_count = sizeof gpu_params / sizeof gpu_params[0];
