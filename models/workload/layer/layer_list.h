/* One row for each kind of recurrent layer: X(name) stands for `layer_name`. */
X(gdn)
X(kda)
X(lightning)
X(mamba2)
