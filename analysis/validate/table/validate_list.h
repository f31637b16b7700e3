/* One row for each kind of file: X(name) stands for `validate_name`, in validate_name.c. */
X(steps)
X(layers)
X(pipeline)
X(collectives)
X(kernels)
X(memory)
X(operators)
