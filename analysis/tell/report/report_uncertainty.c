/* How sure a step is. */
#include "analysis/tell/report/report_parts.h"

const char report_uncertainty_lines[] =
    "{each .uncertain}"
    "\n{bold}How sure: {.draws} draws of {.constants:digits} figures"
    "{if .paths_drawn} and of paths{end}, and the model's own error{plain}\n"
    "                        P10          P50          P90\n"
    "  step time    {.step_p10_s>12} {.step_p50_s>12} {.step_p90_s>12}\n"
    "  tokens/s     {.tokens_p10>12} {.tokens_p50>12} {.tokens_p90>12}\n"
    "  MFU          {.mfu_p10>12} {.mfu_p50>12} {.mfu_p90>12}\n"
    "{if .node_p50_w}"
    "  W a node     {.node_p10_w:.0f>12} {.node_p50_w:.0f>12} {.node_p90_w:.0f>12}\n"
    "  J a token    {.token_p10_j:.3f>12} {.token_p50_j:.3f>12} {.token_p90_j:.3f>12}\n{end}"
    "  fits in {.fits_ratio} of the draws\n"
    "\n{bold}What it hangs on{plain}\n"
    "{if .scatter_alone}"
    "  no figure of the catalogue: you measured this step itself, and the interval of its time is\n"
    "  the scatter of such steps alone, {.model_log_spread}\n"
    "{else}"
    "  figure                                                   value     error elasticity    "
    "share\n"
    "{each .influences 8}"
    "  {.name<52.52} {.value:.4g>9} {.error_ratio>9} {.elasticity:+.3f>10} {.variance_ratio>8}\n"
    "{end}"
    "  the model's own error{to 65}{.model_log_spread>9}            {.model_variance_ratio>8}\n"
    "{end}"
    "  own error: {wrap .measured:clean 13}"
    "{if .node_p50_w}"
    "  own error of power: {.power_log_spread}, {wrap .power_evidence:clean 22}{end}"
    "{if .own_steps > 0}"
    "  measured by you: {.own_steps:digits}; that shifts the step by {.own_shift_ratio:+.1%}, and "
    "leaves an own error of {.model_log_spread} ({.prior_log_spread} before)\n"
    "{end}"
    "  {dim}from: {.model_error_source:clean}{plain}\n"
    "{if .against}"
    "\n{bold}Against{plain}\n"
    "  {.against}: {.against_step_s}, fits in {.against_fits_ratio} of the draws\n"
    "  the first is faster with probability {.faster_probability:.2f}: {if "
    ".verdict}{.verdict}{end}\n"
    "  time of the second over the first: {.ratio_p10:.3f} to {.ratio_p90:.3f} (P10 to P90), "
    "{.ratio_p50:.3f}\n"
    "{if .one_step}"
    "  one step (equal digests): all of the model's error is shared\n"
    "{else}{if .shared_ratio > 0}"
    "  layouts of one model on one machine: {.shared_ratio} of the model's error is shared\n"
    "{else}"
    "  not layouts of one model on one machine: errors of the model are not shared\n"
    "{end}{end}{end}{end}";

void report_uncertainty_facts(struct fact *o, const struct record *record)
{
    size_t count, influences;
    const struct uncertainty_row *u = record_uncertainty(record, &count);
    const struct influence_row *rows = record_influence(record, &influences);
    const struct run_row *run = record_run(record);
    struct fact *one = document_object_if(count > 0, o, ".uncertain");
    if (one == NULL)
        return;
    document_columns(one, ROW_uncertainty, u, "");
    /* Tokens and MFU go down as the time of the step goes up. */
    document_real(one, ".tokens_p10", IN_QUANTITY,
                  run->tokens_per_s * (run->step_s / u->step_p90_s));
    document_real(one, ".tokens_p50", IN_QUANTITY,
                  run->tokens_per_s * (run->step_s / u->step_p50_s));
    document_real(one, ".tokens_p90", IN_QUANTITY,
                  run->tokens_per_s * (run->step_s / u->step_p10_s));
    document_real(one, ".mfu_p10", IN_RATIO, run->mfu_ratio * (run->step_s / u->step_p90_s));
    document_real(one, ".mfu_p50", IN_RATIO, run->mfu_ratio * (run->step_s / u->step_p50_s));
    document_real(one, ".mfu_p90", IN_RATIO, run->mfu_ratio * (run->step_s / u->step_p10_s));
    document_flag(one, ".one_step", u->shared_ratio >= 1.0); /* neighbours share less than all */
    /* Some figure moves every step but one that was measured itself. */
    document_flag(one, ".scatter_alone", u->own_steps > 0 && influences == 0);
    struct fact *array = document_array(one, ".influences");
    for (size_t i = 0; i < influences; i++)
        document_columns(document_object(array, NULL), ROW_influence, &rows[i], "");
}
