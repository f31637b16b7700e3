/* The rules of context parallelism: whole heads for ranks that exchange them, and a way of
 * splitting sequences that the software has. */
#include "models/layout/configuration_parts.h"

#include <inttypes.h>

/* Context ranks that exchange heads have whole ones. */
static void check_heads(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    const struct layout_spec *l = &r->c->layout;
    if (l->context.inner > 0 && l->context.method != CP_ALL_TO_ALL_RING) {
        rule_say(r, false, "layout.cp_inner",
                 "%s has no inner groups: remove cp_inner, or take all_to_all_ring",
                 cp_method_names[l->context.method]);
    } else if (l->context.inner > 0 && l->cp % l->context.inner != 0) {
        rule_say(r, false, "layout.cp_inner",
                 "cp = %" PRIu64 " is not divisible by cp_inner = %" PRIu64, l->cp,
                 l->context.inner);
        return;
    }
    const uint64_t both = l->tp * configuration_context_ranks(r->c).heads;
    if (l->cp == 1 || (m->attention.heads % both == 0 && m->attention.kv_heads % both == 0) ||
        both == l->tp)
        return;
    if (l->context.method == CP_ALL_TO_ALL_RING)
        rule_say(r, false, "layout.cp_inner",
                 "all_to_all_ring gives each of cp_inner x tp = %" PRIu64
                 " ranks whole heads: %" PRIu64 " heads and %" PRIu64
                 " of keys are not divisible by it; take a smaller cp_inner, or ring",
                 both, m->attention.heads, m->attention.kv_heads);
    else
        rule_say(r, false, "layout.cp_method",
                 "all_to_all gives each of cp x tp = %" PRIu64 " ranks whole heads: %" PRIu64
                 " heads and %" PRIu64 " of keys are not divisible by it; take ring or all_gather",
                 both, m->attention.heads, m->attention.kv_heads);
}

/* What splits sequences by heads alone has no ring. */
static void check_offered(struct rule_report *r)
{
    if (r->c->layout.cp > 1 && !configuration_splits_sequences(r->c))
        rule_say(r, true, "layout.cp",
                 "%s splits sequences by heads alone: take cp_method: all_to_all, or leave cp out",
                 r->c->software.name);
}

void configuration_check_context(struct rule_report *r)
{
    check_heads(r);
    check_offered(r);
}
