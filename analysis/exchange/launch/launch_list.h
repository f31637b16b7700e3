/* One row for each framework: X(name) stands for `launch_name`, in name.c. */
X(megatron)
X(torchtitan)
X(deepspeed)
X(nemo)
