#include "analysis/tell/report/report_parts.h"

void report_heading(const struct session *s, const char *text)
{
    fprintf(s->out, "\n%s%s%s\n", session_bold(s), text, session_plain(s));
}

double report_price_s(const struct interruption_row *one)
{
    return one->lost_s + (one->others_went_on == 1 ? 0.0 : one->down_s);
}
