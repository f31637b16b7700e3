/* One row for each importer: X(name) stands for `import_name`, in import_name.c. */
X(nccl_tests)
X(pytorch)
X(failures)
X(topo)
X(nccl_topo)
X(chakra)
X(mllog)
