/* One row for each checkpoint policy: X(name) stands for `checkpoint_name`; scenarios spell it with
 * a dash. */
X(none)
X(sync)
X(async)
X(peer_memory)
X(multi_level)
X(every_step)
