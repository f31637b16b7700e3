/* One row for each pipeline schedule: X(name) stands for `schedule_name`. The name in scenarios is
 * the kind's own (`1f1b` cannot be a C name: its row is one_f_one_b). */
X(gpipe)
X(one_f_one_b)
X(interleaved)
X(zb_h1)
X(zb_h2)
X(zb_1p)
X(zb_2p)
X(zb_v)
X(dualpipe)
X(dualpipe_v)
