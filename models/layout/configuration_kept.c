/* The rules of what is kept for each parameter. */
#include "models/layout/configuration_parts.h"

static void check_master(struct rule_report *r)
{
    const struct training_spec *t = &r->c->training;
    const enum state_format format = optimizer_master_format(&t->state_formats);
    if (format == STATE_AUTO || t->precision->master_weights)
        return;
    rule_say(r, false, "training.master_weights",
             "%s keeps no master copy: its weights are as wide as one; take auto",
             t->precision->head.name);
}

static void check_moment(struct rule_report *r, unsigned moment)
{
    static const char *const keys[MOMENT_MAX] = {"training.first_moment", "training.second_moment"};
    const struct optimizer *o = r->c->training.optimizer;
    if (optimizer_moment_format(&r->c->training.state_formats, moment) == STATE_AUTO)
        return;
    if (moment >= o->moment_count)
        rule_say(r, false, keys[moment], "%s has %s: take auto", o->head.name,
                 o->moment_count == 0 ? "no moments" : "one moment");
    else if (o->fixed_formats)
        rule_say(r, false, keys[moment], "%s keeps %s in its own format: take auto", o->head.name,
                 o->moments[moment].name);
}

void configuration_check_state(struct rule_report *r)
{
    check_master(r);
    for (unsigned i = 0; i < MOMENT_MAX; i++)
        check_moment(r, i);
}
