/* One row for each topology kind: X(name) stands for `topology_name`, defined in name.c. */
X(nvlink_island)
X(pcie)
X(none)
X(rail)
X(fat_tree)
X(torus)
X(dragonfly)
