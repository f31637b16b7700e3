/* One row for each format of failure logs: X(name) stands for `failure_format_name`, in
 * failure_name.c. */
X(csv)
X(xid)
X(dcgm)
X(slurm)
