/* metrics.h - THE list of numbers that a run yields: one row each, of the table `run`.
 *
 * From a row come the column of the database, its entry in `doc`, the key of the JSON document, the
 * member of struct run_row that reports print, and where studies measure it a metric of studies.
 * A new number is one row here: its last cell is the getter, an expression over `m`, a
 * const struct metric_source *.
 *
 * X(column, type, unit, key, when, study, more, doc, getter)
 *   type    INTEGER, FLAG (0 or 1), REAL (null: not finite) or TEXT (null: NULL)
 *   unit    SI; "1": a share; "": a count or a word
 *   key     of JSON and of studies; no_key: neither
 *   when    ALWAYS; TIMED: null where memory ended before a step was timed;
 *           WEEKS: null, and no key, without `run:`
 *   study   NO: no metric of studies; OF_WEEKS; OF_STEPS: in studies without weeks;
 *           OF_BOTH: of one step on the cluster as it should be, the same for all seeds;
 *           OF_EACH: of a step, or of the weeks where there are some
 *   more    1: the more the better, for studies; 0: the less
 *   doc     a sentence for the table `doc` */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_METRICS_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_METRICS_H

#define METRICS_OF_THE_SCENARIO(X)                                                                 \
    X(seed, INTEGER, "", seed, ALWAYS, NO, 0, "seed of the random streams", (int64_t)m->c->seed)   \
    X(scenario, TEXT, "", scenario, ALWAYS, NO, 0, "name of the scenario", m->scenario->name)      \
    X(title, TEXT, "", no_key, ALWAYS, NO, 0,                                                      \
      "the name, and the first two of what was said with --set", m->scenario->title)               \
    X(kind, TEXT, "", no_key, ALWAYS, NO, 0, "step: one training step; job: weeks of them",        \
      m->weeks != NULL ? "job" : "step")

#define METRICS_OF_THE_STEP(X)                                                                     \
    X(fits, FLAG, "", fits, ALWAYS, NO, 0, "1: every rank has enough memory", m->step->fits)       \
    X(step_s, REAL, "s", step_time_s, TIMED, OF_BOTH, 0,                                           \
      "one training step on the undisturbed cluster; null when memory runs out before a step is "  \
      "timed",                                                                                     \
      m->step_s)                                                                                   \
    X(tokens_per_s, REAL, "tokens/s", tokens_per_s, TIMED, OF_BOTH, 1,                             \
      "throughput without failures and saves: tokens of the global batch / step_s",                \
      configuration_tokens(m->c) / m->step_s)                                                      \
    X(tokens_per_s_per_gpu, REAL, "tokens/s", tokens_per_s_per_gpu, TIMED, NO, 1,                  \
      "tokens_per_s / rank_count", m->step->rates.tokens_per_s / (double)m->step->counts.ranks)    \
    X(mfu_ratio, REAL, "1", mfu, TIMED, OF_BOTH, 1,                                                \
      "model FLOPs utilisation of the step: the FLOPs of mfu_formula for each token, over step "   \
      "time x ranks x dense peak",                                                                 \
      step_peak_ratio(m->c, m->step->lowered.model_flops, m->step_s))                              \
    X(causal_mfu_ratio, REAL, "1", causal_mfu, TIMED, NO, 1,                                       \
      "MFU with only the scores of keys before a query under a causal mask: causal_mfu_formula",   \
      m->step->rates.causal_mfu_ratio)                                                             \
    X(mfu_formula, TEXT, "", mfu_formula, ALWAYS, NO, 0,                                           \
      "formula of the FLOPs of a token that mfu_ratio counts; model_flops / tokens of a step",     \
      m->flops.formula)                                                                            \
    X(causal_mfu_formula, TEXT, "", causal_mfu_formula, ALWAYS, NO, 0,                             \
      "the same of causal_mfu_ratio", m->flops.causal_formula)                                     \
    X(mfu_letters, TEXT, "", mfu_letters, ALWAYS, NO, 0,                                           \
      "number and meaning of each letter of these formulas", m->flops.letters)                     \
    X(hfu_ratio, REAL, "1", hfu, TIMED, NO, 1,                                                     \
      "FLOPs executed by kernels, with recomputation, without skipped scores, over the same",      \
      m->step->rates.hfu_ratio)                                                                    \
    X(model_flops, REAL, "FLOP", model_flops_per_step, ALWAYS, NO, 0,                              \
      "model FLOPs of a step of the whole job", m->step->lowered.model_flops)                      \
    X(peak_allocated_bytes, REAL, "B", peak_allocated_bytes, ALWAYS, NO, 0,                        \
      "largest sum of live blocks on the fullest rank; if it does not fit, what it would need",    \
      result_peak_bytes(m->result, false))                                                         \
    X(peak_reserved_bytes, REAL, "B", peak_reserved_bytes, ALWAYS, OF_BOTH, 0,                     \
      "memory that the fullest rank reserves, or would need", m->peak_reserved_bytes)              \
    X(bubble_ratio, REAL, "1", bubble_ratio, TIMED, NO, 0,                                         \
      "pipeline bubble of the mean rank over the step time", m->step->parts.bubble_ratio)          \
    X(class_count, INTEGER, "", class_count, ALWAYS, NO, 0, "rank classes simulated",              \
      (int64_t)m->step->counts.classes)                                                            \
    X(op_count, INTEGER, "", op_count, ALWAYS, NO, 0, "ops simulated",                             \
      (int64_t)m->step->counts.ops)                                                                \
    X(event_count, INTEGER, "", event_count, ALWAYS, NO, 0, "events processed",                    \
      (int64_t)m->step->counts.events)                                                             \
    X(digest, TEXT, "", digest, TIMED, NO, 0,                                                      \
      "hash of the unfolded timeline; equal digests mean equal timelines", m->digest)              \
    X(compute_s, REAL, "s", no_key, TIMED, NO, 0,                                                  \
      "time in the mean rank's step: forward and backward kernels",                                \
      m->step->parts.breakdown_s[PART_COMPUTE])                                                    \
    X(recompute_s, REAL, "s", no_key, TIMED, NO, 0,                                                \
      "mean rank: forward kernels repeated to save memory",                                        \
      m->step->parts.breakdown_s[PART_RECOMPUTE])                                                  \
    X(exposed_tp_s, REAL, "s", no_key, TIMED, NO, 0,                                               \
      "mean rank: waiting for tensor-parallel communication",                                      \
      m->step->parts.breakdown_s[PART_EXPOSED_TP])                                                 \
    X(exposed_cp_s, REAL, "s", no_key, TIMED, NO, 0,                                               \
      "mean rank: waiting for context-parallel communication",                                     \
      m->step->parts.breakdown_s[PART_EXPOSED_CP])                                                 \
    X(exposed_ep_s, REAL, "s", no_key, TIMED, NO, 0,                                               \
      "mean rank: waiting for expert-parallel communication",                                      \
      m->step->parts.breakdown_s[PART_EXPOSED_EP])                                                 \
    X(bubble_s, REAL, "s", no_key, TIMED, NO, 0,                                                   \
      "mean rank: the pipeline has no work for the stage",                                         \
      m->step->parts.breakdown_s[PART_BUBBLE])                                                     \
    X(exposed_pp_s, REAL, "s", no_key, TIMED, NO, 0,                                               \
      "mean rank: waiting for the transfer between stages",                                        \
      m->step->parts.breakdown_s[PART_EXPOSED_PP])                                                 \
    X(exposed_dp_s, REAL, "s", no_key, TIMED, NO, 0,                                               \
      "mean rank: waiting for communication of gradients or parameters among replicas",            \
      m->step->parts.breakdown_s[PART_EXPOSED_DP])                                                 \
    X(offload_s, REAL, "s", no_key, TIMED, NO, 0,                                                  \
      "mean rank: waiting for activations to move to the host or back",                            \
      m->step->parts.breakdown_s[PART_OFFLOAD])                                                    \
    X(optimizer_s, REAL, "s", no_key, TIMED, NO, 0, "mean rank: updating the weights",             \
      m->step->parts.breakdown_s[PART_OPTIMIZER])                                                  \
    X(host_s, REAL, "s", no_key, TIMED, NO, 0,                                                     \
      "mean rank: the CPU has not launched the next kernel",                                       \
      m->step->parts.breakdown_s[PART_HOST])                                                       \
    X(straggler_s, REAL, "s", no_key, TIMED, NO, 0,                                                \
      "mean rank: waiting for a peer whose GPU is slower at the same work",                        \
      m->step->parts.breakdown_s[PART_STRAGGLER])

#define METRICS_OF_THE_CHOICE(X)                                                                   \
    X(gpu, TEXT, "", no_key, ALWAYS, NO, 0, "name of the GPU in the catalogue", m->c->gpu.name)    \
    X(announced, FLAG, "", announced, ALWAYS, NO, 0,                                               \
      "1: the GPU or its node is announced, and nothing was measured on it",                       \
      *m->announced != '\0')                                                                       \
    X(announced_words, TEXT, "", announced_words, ALWAYS, NO, 0,                                   \
      "what of it is announced, and by how much it widens every prediction; empty: nothing is",    \
      m->announced)                                                                                \
    X(rank_count, INTEGER, "", rank_count, ALWAYS, NO, 0, "ranks (GPUs in use)",                   \
      (int64_t)configuration_ranks(m->c))                                                          \
    X(peak_flops_per_s, REAL, "FLOP/s", no_key, ALWAYS, NO, 0,                                     \
      "dense peak of the GPU at the training precision",                                           \
      m->c->gpu.peak_flops_per_s[m->c->training.precision->gemm_peak])                             \
    X(usable_hbm_bytes, REAL, "B", usable_hbm_bytes, ALWAYS, NO, 0,                                \
      "memory that a process can allocate on an empty card", m->c->gpu.hbm.usable_bytes)           \
    X(nodes, INTEGER, "", no_key, ALWAYS, NO, 0, "nodes of the cluster",                           \
      (int64_t)m->c->cluster.nodes)                                                                \
    X(node, TEXT, "", no_key, ALWAYS, NO, 0, "name of the node in the catalogue",                  \
      m->c->cluster.node.name)                                                                     \
    X(fabric, TEXT, "", no_key, ALWAYS, NO, 0, "name of the fabric in the catalogue",              \
      m->c->cluster.fabric.name)                                                                   \
    X(paths_drawn, FLAG, "", no_key, ALWAYS, NO, 0,                                                \
      "1: each flow keeps to one path, chosen by a hash with the seed",                            \
      topology_draws_paths(&m->c->cluster))                                                        \
    X(model, TEXT, "", no_key, ALWAYS, NO, 0, "name of the model", m->c->model.name)               \
    X(parameters, REAL, "", no_key, ALWAYS, NO, 0, "parameters of the model",                      \
      transformer_parameters(&m->c->model, m->c->training.sequence))                               \
    X(active_parameters, REAL, "", no_key, ALWAYS, NO, 0,                                          \
      "parameters that multiply a token: only its own experts, head included, without the input "  \
      "embedding, which is looked up",                                                             \
      transformer_active_parameters(&m->c->model))                                                 \
    X(prediction_parameters, REAL, "", no_key, ALWAYS, NO, 0,                                      \
      "parameters of multi-token prediction modules, in addition to the model's; 0: none",         \
      transformer_prediction_parameters(&m->c->model))                                             \
    X(experts, INTEGER, "", no_key, ALWAYS, NO, 0, "routed experts of a layer; 0: a dense model",  \
      (int64_t)m->c->model.moe.experts)                                                            \
    X(software, TEXT, "", no_key, ALWAYS, NO, 0, "software profile", m->c->software.name)          \
    X(precision, TEXT, "", no_key, ALWAYS, NO, 0, "number formats of training",                    \
      m->c->training.precision->head.name)                                                         \
    X(optimizer, TEXT, "", no_key, ALWAYS, NO, 0, "optimizer",                                     \
      m->c->training.optimizer->head.name)                                                         \
    X(adapter, TEXT, "", no_key, ALWAYS, NO, 0,                                                    \
      "adapter that is trained on frozen weights, or none",                                        \
      adapter_names[m->c->training.adapter.kind])                                                  \
    X(attention, TEXT, "", no_key, ALWAYS, NO, 0, "attention kernel",                              \
      attention_kernel_names[m->c->training.attention])                                            \
    X(causal, FLAG, "", no_key, ALWAYS, NO, 0, "1: a token attends only to earlier tokens",        \
      m->c->training.causal)                                                                       \
    X(tp, INTEGER, "", no_key, ALWAYS, NO, 0, "tensor-parallel ranks", (int64_t)m->c->layout.tp)   \
    X(sequence_parallel, FLAG, "", no_key, ALWAYS, NO, 0,                                          \
      "1: norms and dropout are split by sequence over the tensor-parallel ranks",                 \
      m->c->layout.sequence_parallel)                                                              \
    X(pp, INTEGER, "", no_key, ALWAYS, NO, 0, "pipeline stages", (int64_t)m->c->layout.pp)         \
    X(dp, INTEGER, "", no_key, ALWAYS, NO, 0, "data-parallel replicas", (int64_t)m->c->layout.dp)  \
    X(cp, INTEGER, "", no_key, ALWAYS, NO, 0, "context-parallel ranks", (int64_t)m->c->layout.cp)  \
    X(cp_method, TEXT, "", no_key, ALWAYS, NO, 0,                                                  \
      "how context-parallel ranks exchange keys and values",                                       \
      cp_method_names[m->c->layout.context.method])                                                \
    X(ep, INTEGER, "", no_key, ALWAYS, NO, 0,                                                      \
      "expert-parallel ranks, over which the experts of a layer are split",                        \
      (int64_t)m->c->layout.ep)                                                                    \
    X(vpp, INTEGER, "", no_key, ALWAYS, NO, 0, "model chunks per stage",                           \
      (int64_t)m->c->layout.pipeline.vpp)                                                          \
    X(microbatch, INTEGER, "sequences", no_key, ALWAYS, NO, 0, "sequences in a microbatch",        \
      (int64_t)m->c->layout.microbatch)                                                            \
    X(microbatches, INTEGER, "", no_key, ALWAYS, NO, 0, "microbatches per replica and step",       \
      (int64_t)configuration_microbatches(m->c))                                                   \
    X(global_batch, INTEGER, "sequences", no_key, ALWAYS, NO, 0,                                   \
      "sequences per step, all replicas together", (int64_t)m->c->training.global_batch)           \
    X(sequence, INTEGER, "tokens", no_key, ALWAYS, NO, 0, "tokens per sequence",                   \
      (int64_t)m->c->training.sequence)                                                            \
    X(schedule, TEXT, "", no_key, ALWAYS, NO, 0, "pipeline schedule",                              \
      m->c->layout.pipeline.schedule->head.name)                                                   \
    X(sharding, TEXT, "", no_key, ALWAYS, NO, 0, "how the model state is sharded over replicas",   \
      m->c->layout.data.sharding->head.name)                                                       \
    X(recompute, TEXT, "", no_key, ALWAYS, NO, 0, "activations that the backward pass recomputes", \
      recompute_names[m->c->layout.recompute])                                                     \
    X(recompute_layers, INTEGER, "layers", no_key, ALWAYS, NO, 0,                                  \
      "layers of each chunk that are recomputed (recompute block), or of each group that shares "  \
      "one kept input (uniform); 0: neither",                                                      \
      (int64_t)m->c->layout.recompute_layers)                                                      \
    X(budget_tokens, REAL, "tokens", no_key, ALWAYS, NO, 1,                                        \
      "training.tokens, those of the whole training; null: not given",                             \
      m->c->training.tokens > 0.0 ? m->c->training.tokens : NAN)

#define METRICS_OF_THE_PRICE(X)                                                                    \
    X(gpu_hour_usd, REAL, "USD", gpu_hour_usd, ALWAYS, NO, 0,                                      \
      "price of a GPU for an hour; null, as for the prices that follow: not known",                \
      m->cost.gpu_hour_usd)                                                                        \
    X(paid_gpus, REAL, "", no_key, ALWAYS, NO, 0,                                                  \
      "GPUs of the nodes or chassis in use, which are rented whole; spares are not in it",         \
      m->cost.gpus)                                                                                \
    X(cost_usd_per_step, REAL, "USD", cost_usd_per_step, ALWAYS, OF_STEPS, 0,                      \
      "price of paid_gpus for one step", m->cost.step_usd)                                         \
    X(cost_usd_per_1e9_tokens, REAL, "USD", cost_usd_per_1e9_tokens, ALWAYS, OF_EACH, 0,           \
      "USD per 1e9 tokens; over weeks, per 1e9 tokens kept", m->cost.usd_per_1e9_tokens)           \
    X(cost_usd_for_budget, REAL, "USD", cost_usd_for_budget, ALWAYS, OF_STEPS, 0,                  \
      "price of paid_gpus for training.tokens at this speed", m->cost.budget_usd)                  \
    X(cost_storage_usd, REAL, "USD", cost_storage_usd, ALWAYS, NO, 0,                              \
      "part of cost_usd for checkpoint storage over weeks; null: a single step",                   \
      m->cost.storage_usd)

#define METRICS_OF_THE_POWER(X)                                                                    \
    X(card_w, REAL, "W", card_w, TIMED, OF_STEPS, 0, "mean power of a card in a step",             \
      m->step->power.card_w)                                                                       \
    X(node_w, REAL, "W", node_w, TIMED, NO, 0,                                                     \
      "mean power of a node in a step at its inlet: cards of ranks at card_w, those of other "     \
      "paid GPUs idle",                                                                            \
      power_node_w(m->c, m->step->power.card_w))                                                   \
    X(energy_j_per_step, REAL, "J", energy_j_per_step, TIMED, OF_STEPS, 0,                         \
      "energy of paid_gpus in a step at the wall: nodes, leaf switches, PUE",                      \
      m->step->power.step_j)                                                                       \
    X(energy_j_per_token, REAL, "J", energy_j_per_token, TIMED, OF_STEPS, 0,                       \
      "energy_j_per_step / tokens of the global batch",                                            \
      m->step->power.step_j / configuration_tokens(m->c))                                          \
    X(wall_peak_w, REAL, "W", wall_peak_w, TIMED, NO, 0,                                           \
      "the most that the job draws at the wall at any moment of a step, by the mean of each "      \
      "phase; null where more than 2 M changes of power were simulated",                           \
      m->swing.peak_w)                                                                             \
    X(wall_low_w, REAL, "W", wall_low_w, TIMED, NO, 0, "likewise the least", m->swing.low_w)       \
    X(wall_change_w, REAL, "W", wall_change_w, TIMED, NO, 0,                                       \
      "the most by which the mean power of 100 ms differs from that of the 100 ms before",         \
      m->swing.change_w)                                                                           \
    X(energy_compute_j, REAL, "J", energy_compute_j, TIMED, NO, 0,                                 \
      "part of energy_j_per_step in forward, backward and recomputation",                          \
      m->step->power.phase_j[POWER_COMPUTE])                                                       \
    X(energy_optimizer_j, REAL, "J", energy_optimizer_j, TIMED, NO, 0,                             \
      "part of energy_j_per_step in the update", m->step->power.phase_j[POWER_OPTIMIZER])          \
    X(energy_communication_j, REAL, "J", energy_communication_j, TIMED, NO, 0,                     \
      "part of energy_j_per_step in exposed communication",                                        \
      m->step->power.phase_j[POWER_COMMUNICATION])                                                 \
    X(energy_waiting_j, REAL, "J", energy_waiting_j, TIMED, NO, 0,                                 \
      "part of energy_j_per_step in bubbles, waits for the host and stragglers, and of GPUs that " \
      "are paid and idle",                                                                         \
      m->step->power.phase_j[POWER_WAITING])

#define METRICS_OF_WEEKS(X)                                                                        \
    X(wall_s, REAL, "s", wall_s, WEEKS, OF_WEEKS, 0,                                               \
      "wall-clock time of the weeks; null, as all that follow, for a single step",                 \
      m->weeks->wall_s)                                                                            \
    X(goodput_ratio, REAL, "1", goodput, WEEKS, OF_WEEKS, 1,                                       \
      "tokens kept / tokens of the same time without failures and saves", m->weeks->goodput)       \
    X(ettr_ratio, REAL, "1", ettr, WEEKS, OF_WEEKS, 1, "productive share of wall-clock time",      \
      m->weeks->ettr)                                                                              \
    X(ettr_worst_hour_ratio, REAL, "1", ettr_worst_hour, WEEKS, NO, 1,                             \
      "ettr_ratio of the worst hour", m->weeks->ettr_worst_hour)                                   \
    X(finished, FLAG, "", finished, WEEKS, NO, 1, "1: the work was completed", m->weeks->finished) \
    X(ended, TEXT, "", end, WEEKS, NO, 0,                                                          \
      "why the run ended: done, time_up, no_nodes, or a limit", job_end_names[m->weeks->end])      \
    X(work_steps, INTEGER, "", no_key, WEEKS, NO, 0, "steps to do; 0: as many as the time allows", \
      (int64_t)m->job->steps)                                                                      \
    X(tokens_per_day, REAL, "tokens", tokens_per_day, WEEKS, OF_WEEKS, 1,                          \
      "tokens kept per day of wall-clock time",                                                    \
      m->weeks->tokens_completed / m->weeks->wall_s * DAY)                                         \
    X(steps_completed, REAL, "", steps_completed, WEEKS, OF_WEEKS, 1,                              \
      "tokens kept / tokens of the full batch: below the number of steps kept where some ran on "  \
      "fewer replicas",                                                                            \
      m->weeks->steps_completed)                                                                   \
    X(tokens_completed, REAL, "tokens", tokens_completed, WEEKS, OF_WEEKS, 1, "tokens kept",       \
      m->weeks->tokens_completed)                                                                  \
    X(failures, INTEGER, "", failures, WEEKS, OF_WEEKS, 0, "failures",                             \
      (int64_t)m->weeks->failures)                                                                 \
    X(trace_rows_skipped, INTEGER, "", trace_rows_skipped, WEEKS, NO, 0,                           \
      "rows of a failure trace without effect", (int64_t)m->weeks->skipped.count)                  \
    X(interruptions, INTEGER, "", interruptions, WEEKS, OF_WEEKS, 0,                               \
      "failures that stopped the job or replicas of it", (int64_t)m->weeks->interruptions)         \
    X(replica_interruptions, INTEGER, "", no_key, WEEKS, NO, 0,                                    \
      "interruptions in which the other replicas went on", (int64_t)m->record->of_replicas)        \
    X(planned_lost_s, REAL, "s", planned_lost_s, WEEKS, NO, 0,                                     \
      "work lost at planned restarts, which is of no interruption", m->weeks->part.planned_lost_s) \
    X(checkpoints, INTEGER, "", checkpoints, WEEKS, OF_WEEKS, 0, "durable checkpoints",            \
      (int64_t)m->weeks->checkpoints)                                                              \
    X(cost_usd, REAL, "USD", cost_usd, WEEKS, OF_WEEKS, 0,                                         \
      "price of all GPUs for the wall-clock time", m->weeks->cost_usd)                             \
    X(energy_j, REAL, "J", energy_j, WEEKS, OF_WEEKS, 0,                                           \
      "energy at the wall of paid_gpus and of spares that stand by under power: sum of joules "    \
      "of table badput and energy_spares_j",                                                       \
      m->weeks->energy.all_j)                                                                      \
    X(energy_spares_j, REAL, "J", energy_spares_j, WEEKS, NO, 0,                                   \
      "part of energy_j of spares, idle under power", m->weeks->energy.spares_j)                   \
    X(useful_s, REAL, "s", useful_s, WEEKS, OF_WEEKS, 1, "badput class useful",                    \
      m->weeks->badput_s[BADPUT_useful])                                                           \
    X(checkpoint_s, REAL, "s", checkpoint_s, WEEKS, OF_WEEKS, 0, "badput class checkpoint",        \
      m->weeks->badput_s[BADPUT_checkpoint])                                                       \
    X(lost_work_s, REAL, "s", lost_work_s, WEEKS, OF_WEEKS, 0, "badput class lost_work",           \
      m->weeks->badput_s[BADPUT_lost_work])                                                        \
    X(detect_s, REAL, "s", detect_s, WEEKS, OF_WEEKS, 0, "badput class detect",                    \
      m->weeks->badput_s[BADPUT_detect])                                                           \
    X(restart_s, REAL, "s", restart_s, WEEKS, OF_WEEKS, 0, "badput class restart",                 \
      m->weeks->badput_s[BADPUT_restart])                                                          \
    X(wait_s, REAL, "s", wait_s, WEEKS, OF_WEEKS, 0, "badput class wait",                          \
      m->weeks->badput_s[BADPUT_wait])                                                             \
    X(degraded_s, REAL, "s", degraded_s, WEEKS, OF_WEEKS, 0, "badput class degraded",              \
      m->weeks->badput_s[BADPUT_degraded])                                                         \
    X(maintenance_s, REAL, "s", maintenance_s, WEEKS, OF_WEEKS, 0, "badput class maintenance",     \
      m->weeks->badput_s[BADPUT_maintenance])                                                      \
    X(checkpoint_policy, TEXT, "", checkpoint_policy, WEEKS, NO, 0, "policy of checkpoints",       \
      m->job->checkpoint.kind->head.name)                                                          \
    X(checkpoint_interval_by, TEXT, "", checkpoint_interval_by, WEEKS, NO, 0,                      \
      "source of the interval: nothing (no saves), every_step, steps, time, optimum (closed "      \
      "form), played (best of many simulated intervals), or floor (limit of the drives' "          \
      "warranty)",                                                                                 \
      save_rule_names[job_save_rule(&m->job->checkpoint)])                                         \
    X(checkpoint_interval_s, REAL, "s", checkpoint_interval_s, WEEKS, NO, 0,                       \
      "training time between two saves; null: counted in steps",                                   \
      m->job->checkpoint.interval_s > 0.0 ? m->job->checkpoint.interval_s : NAN)                   \
    X(checkpoint_interval_steps, INTEGER, "", checkpoint_interval_steps, WEEKS, NO, 0,             \
      "steps between two saves; null: by time",                                                    \
      m->job->checkpoint.interval_steps > 0 ? (int64_t)m->job->checkpoint.interval_steps           \
                                            : ROW_NULL)                                            \
    X(checkpoint_floor_s, REAL, "s", checkpoint_floor_s, WEEKS, NO, 0,                             \
      "shortest interval within the drives' warranty; null: not requested",                        \
      m->job->checkpoint.floor_s > 0.0 ? m->job->checkpoint.floor_s : NAN)                         \
    X(checkpoint_stall_s, REAL, "s", checkpoint_stall_s, WEEKS, NO, 0,                             \
      "time for which a save blocks training, mean over the saves of all levels",                  \
      m->record->mean_stall_s)                                                                     \
    X(young_interval_s, REAL, "s", young_interval_s, WEEKS, NO, 0,                                 \
      "Young's optimum for checkpoint_stall_s and job_mtbf_s",                                     \
      checkpoint_young_s(m->record->mean_stall_s, m->job->checkpoint.job_mtbf_s))                  \
    X(daly_interval_s, REAL, "s", daly_interval_s, WEEKS, NO, 0, "Daly's optimum for the same",    \
      checkpoint_daly_s(m->record->mean_stall_s, m->job->checkpoint.job_mtbf_s))                   \
    X(exact_interval_s, REAL, "s", exact_interval_s, WEEKS, NO, 0,                                 \
      "exact optimum for the same, by Lambert W; null: no closed form is the optimum here",        \
      job_exact_interval_s(m->job, m->record->mean_stall_s))                                       \
    X(job_mtbf_s, REAL, "s", job_mtbf_s, WEEKS, NO, 1,                                             \
      "mean time between failures that stop the job, from the rates at its start (before a "       \
      "lemon is repaired or a spare stands in another domain); null: none",                        \
      m->job->checkpoint.job_mtbf_s)                                                               \
    X(recovery, TEXT, "", recovery, WEEKS, NO, 0, "recovery policy",                               \
      m->job->recovery.kind->head.name)                                                            \
    X(has_spares, FLAG, "", no_key, WEEKS, NO, 0, "1: the policy uses spare nodes",                \
      m->job->recovery.kind->has_spares)                                                           \
    X(spares, INTEGER, "", spares, WEEKS, NO, 0, "spare nodes in addition to the job's nodes",     \
      (int64_t)m->job->recovery.spares)                                                            \
    X(spares_taken, INTEGER, "", spares_taken, WEEKS, NO, 0, "times that a spare replaced a node", \
      (int64_t)m->weeks->spares_taken)                                                             \
    X(repair_s, REAL, "s", no_key, WEEKS, NO, 0, "mean repair time",                               \
      m->job->recovery.repair.mean_s)                                                              \
    X(rollbacks_past_corrupt, INTEGER, "", rollbacks_past_corrupt, WEEKS, NO, 0,                   \
      "times that the newest checkpoint was skipped as corrupt",                                   \
      (int64_t)m->weeks->rollbacks_past_corrupt)                                                   \
    X(step_variants, INTEGER, "", no_key, WEEKS, NO, 0, "step conditions simulated",               \
      m->record->step_variants)                                                                    \
    X(cut, FLAG, "", no_key, WEEKS, NO, 0,                                                         \
      "1: there were more failures, interruptions or checkpoints than the tables keep",            \
      m->record->cut)

#define METRICS(X)                                                                                 \
    METRICS_OF_THE_SCENARIO(X)                                                                     \
    METRICS_OF_THE_STEP(X)                                                                         \
    METRICS_OF_THE_CHOICE(X)                                                                       \
    METRICS_OF_THE_PRICE(X)                                                                        \
    METRICS_OF_THE_POWER(X)                                                                        \
    METRICS_OF_WEEKS(X)

/* What studies measure of each replication. */
enum study_metric {
#define NO_METRIC(key)
#define OF_WEEKS_METRIC(key) METRIC_##key,
#define OF_STEPS_METRIC(key) METRIC_##key,
#define OF_BOTH_METRIC(key) METRIC_##key,
#define OF_EACH_METRIC(key) METRIC_##key,
#define X(column, type, unit, key, when, study, more, doc, getter) study##_METRIC(key)
    METRICS(X)
#undef X
    METRIC_COUNT
};

#endif
