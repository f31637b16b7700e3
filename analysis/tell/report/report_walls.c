#include "analysis/tell/report/report_walls.h"

#include <math.h>

#include "analysis/tell/report/report.h"

static const char lines[] =
    "{bold}{.title:clean}{plain}\n"
    "  envelope    {.model} of {.parameters} parameters on {.gpus} x {.gpu}\n"
    "              sequence {.sequence}, a step of {.step_tokens} tokens"
    "{if .tokens}, {.tokens} tokens in all{end}\n" REPORT_ANNOUNCED
    "  simulated   tp {.tp:digits}, pp {.pp:digits}, cp {.cp:digits}, dp {.dp:digits}, "
    "microbatches of {.microbatch:digits}, "
    "software {.software}\n"
    "{each walls}{if .shown}"
    "{if .title}\n{bold}{.title}{plain}\n{to 34}envelope   simulated\n{end}"
    "  {.what<28} {envelope>11} {simulated>11}  {dim}{wrap formula 56}{plain}"
    "{end}{end}"
    "  {dim}{wrapped 4}of the simulated FLOPs: {flops_letters:whole}{end}{plain}"
    "\n{bold}Which wall binds{plain}\n"
    "  envelope    {bold}{binding}{plain}\n"
    "  moves it    {wrap moves 14}"
    "{if not fits}"
    "  simulated   memory: this layout does not fit; 'orrery memory' tells where it ends\n"
    "{else}{if .timed}"
    "  simulated   it fits, and {largest_part_ratio} of the step is {largest_part}\n"
    "{end}{end}"
    "{if kernels}"
    "\n{bold}Roofline of the forward kernels of a rank, one microbatch{plain}\n"
    "  {dim}{.hbm_bytes_per_s} of HBM balance"
    "{each .roofs}{if row > 1},{end} {.peak_flops_per_s}/s of {.precision} at {.balance:.0f} FLOP "
    "a byte{end};\n"
    "  a kernel above that is bound by arithmetic, one below by memory{plain}\n"
    "  block  kernel                         FLOPs       bytes  FLOP/B  bound by         roofline "
    " modelled of roof\n"
    "{each kernels}"
    "  {block<6} {name<24} {flops>11} {bytes>11} {flops/bytes:.4g>7}  "
    "{if bound_by = memory}memory{else}{precision} arithmetic{end}{to 83}{roofline_s>9} "
    "{modelled_s>9} {roofline_s/modelled_s>7}\n"
    "{end}"
    "{end}";

const char *const report_walls_lines[] = {lines, NULL};

static void set_head(struct fact *o, const struct scenario *scenario,
                     const struct walls_envelope *e)
{
    const struct configuration *c = &scenario->configuration;
    document_quote(o, ".model", c->model.name);
    document_real(o, ".parameters", IN_QUANTITY, e->parameters);
    document_count(o, ".gpus", configuration_ranks(c));
    document_quote(o, ".gpu", c->gpu.name);
    document_count(o, ".sequence", c->training.sequence);
    document_real(o, ".step_tokens", IN_QUANTITY, e->step_tokens);
    document_real(o, ".tokens", IN_QUANTITY, e->budget_tokens);
    document_count(o, ".tp", c->layout.tp);
    document_count(o, ".pp", c->layout.pp);
    document_count(o, ".cp", c->layout.cp);
    document_count(o, ".dp", c->layout.dp);
    document_count(o, ".microbatch", c->layout.microbatch);
    document_quote(o, ".software", c->software.name);
}

static void set_rows(struct fact *o, const struct walls *walls)
{
    static const enum document_unit units[] = {
        [WALLS_BYTES] = IN_DECIMAL_BYTES, [WALLS_FLOP] = IN_FLOPS,
        [WALLS_SECONDS] = IN_SECONDS,     [WALLS_SHARE] = IN_RATIO,
        [WALLS_CARDS] = IN_COUNT,         [WALLS_GPU_YEARS] = IN_QUANTITY,
        [WALLS_MONTHS] = IN_QUANTITY,     [WALLS_RATE] = IN_BYTES_PER_S,
    };
    struct walls_row rows[WALLS_ROW_COUNT];
    struct fact *array = document_array(o, "walls");
    int part = -1;
    walls_rows(walls, rows);
    for (const struct walls_row *row = rows; row < rows + WALLS_ROW_COUNT; row++) {
        struct fact *one = document_object(array, NULL);
        const bool shown = isfinite(row->envelope) || isfinite(row->simulated);
        const bool first = shown && (int)row->part != part;
        part = shown ? (int)row->part : part;
        document_flag(one, ".shown", shown);
        document_word(one, ".title", first ? walls_part_titles[row->part] : NULL);
        document_word(one, ".what", row->what);
        document_word(one, "key", row->key);
        document_word(one, "unit", walls_unit_names[row->unit]);
        document_real(one, "envelope", units[row->unit], row->envelope);
        document_real(one, "simulated", units[row->unit], row->simulated);
        document_word(one, "formula", row->formula);
    }
}

/* Of each precision that a kernel computes in. */
static void set_roofs(struct fact *o, const struct walls *walls)
{
    const struct walls_kernel *roofs[PEAK_COUNT];
    const double rate = walls->envelope.hbm_bytes_per_s;
    const unsigned count = walls_roofs(walls, roofs);
    struct fact *array = document_array(o, ".roofs");
    document_real(o, ".hbm_bytes_per_s", IN_BYTES_PER_S, rate);
    for (unsigned i = 0; i < count; i++) {
        struct fact *one = document_object(array, NULL);
        document_real(one, ".peak_flops_per_s", IN_FLOPS, roofs[i]->peak_flops_per_s);
        document_word(one, ".precision", peak_names[roofs[i]->peak]);
        document_real(one, ".balance", IN_QUANTITY,
                      walls_balance(roofs[i]->peak_flops_per_s, rate));
    }
}

static void set_kernels(struct fact *o, const struct walls *walls)
{
    struct fact *array = document_array(o, "kernels");
    for (unsigned i = 0; i < walls->kernel_count; i++) {
        const struct walls_kernel *k = &walls->kernels[i];
        const bool computes = k->flops > 0.0;
        struct fact *one = document_object(array, NULL);
        document_word(one, "block", k->block);
        document_word(one, "name", k->name);
        document_real(one, "flops", IN_FLOPS, k->flops);
        document_real(one, "bytes", IN_DECIMAL_BYTES, k->bytes);
        document_word(one, "bound_by", k->by_arithmetic ? "arithmetic" : "memory");
        document_word(one, "precision", computes ? peak_names[k->peak] : NULL);
        document_real(one, "peak_flops_per_s", IN_FLOPS,
                      computes ? k->peak_flops_per_s : (double)NAN);
        document_real(one, "roofline_s", IN_SECONDS, k->roofline_s);
        document_real(one, "modelled_s", IN_SECONDS, k->modelled_s);
    }
}

struct fact *report_walls(struct arena *arena, const struct scenario *scenario,
                          const struct walls *walls)
{
    const struct walls_simulated *s = &walls->simulated;
    const struct walls_envelope *e = &walls->envelope;
    struct fact *o = document_begin(arena, "orrery.walls/1", scenario);
    set_head(o, scenario, e);
    report_announced_of(o, &scenario->configuration);
    set_rows(o, walls);
    document_word(o, "flops_letters", walls->words.flops.letters);
    document_word(o, "binding", walls_wall_names[walls->binding]);
    document_word(o, "moves", walls_wall_moves[walls->binding]);
    document_flag(o, "fits", s->fits);
    document_flag(o, ".timed", s->timed);
    document_word(o, "largest_part", s->most);
    document_real(o, "largest_part_ratio", IN_RATIO, s->timed ? s->most_ratio : (double)NAN);
    document_real(o, "balance_flop_per_byte", IN_QUANTITY,
                  walls_balance(e->peak_flops_per_s, e->hbm_bytes_per_s));
    set_roofs(o, walls);
    set_kernels(o, walls);
    return o;
}
