/* One row for each dispatch: X(name) stands for `dispatch_name`. */
X(alltoall)
X(hierarchical)
X(deepep)
X(hybridep)
