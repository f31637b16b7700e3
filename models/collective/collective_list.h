/* One row for each collective algorithm: X(name) stands for `collective_name`. */
X(ring)
X(tree)
X(nvls)
X(hierarchical)
X(direct)
X(relay)
X(p2p)
