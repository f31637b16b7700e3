/* One row for each sharding: X(name) stands for `sharding_name`; scenarios spell it with a dash. */
X(zero_0)
X(zero_1)
X(zero_2)
X(zero_3)
X(fsdp)
X(hsdp)
