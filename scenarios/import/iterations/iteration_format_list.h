/* One row for each format of training logs: X(name) stands for `iteration_format_name`, in
 * iteration_name.c. Where two read as many iterations of a log, the first of them is the log's. */
X(megatron)
X(torchtitan)
X(nemo)
X(mllog)
X(csv)
