/* roofline.h - the kernels of a layer under the roof of a card: FLOPs a second over FLOPs for each
 * byte of HBM (Williams, Waterman and Patterson, CACM 52(4), 2009), as the model times them. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_ROOFLINE_H
#define ORRERY_ANALYSIS_EXPLAIN_ROOFLINE_H

#include <stdio.h>

#include "analysis/explain/walls_gather.h"

/* False with a sentence where no kernel has FLOPs and bytes. */
bool roofline_svg(const char *title, const char *note, const struct walls *walls, FILE *out,
                  struct error *error);

#endif
