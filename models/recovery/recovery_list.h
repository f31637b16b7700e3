/* One row for each recovery policy: X(name) stands for `recovery_name`; scenarios spell it with a
 * dash. */
X(restart_in_place)
X(wait_for_repair)
X(hot_spare)
X(warm_spare)
X(cold_spare)
X(elastic_shrink)
X(replica_level)
