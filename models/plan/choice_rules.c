#include "models/plan/choice_rules.h"

#include "models/sharding/sharding_kind.h"

static const struct choice_rule no_choice = {NULL, NULL};

static bool is_open(unsigned open, enum choice_key key)
{
    return (open >> key & 1u) != 0;
}

struct choice_rule choice_rule_sequence_parallel(struct arena *arena, unsigned open,
                                                 struct configuration *c)
{
    const uint64_t split = c->layout.tp * c->layout.cp;
    const bool offered = c->software.offers.sequence_parallelism &&
                         !(c->software.offers.heads_alone && c->layout.cp > 1),
               able = offered && split > 0 && c->training.sequence % split == 0;
    if (!is_open(open, CHOICE_SEQUENCE_PARALLEL))
        return no_choice;
    c->layout.sequence_parallel = c->layout.tp > 1 && able;
    if (c->layout.tp <= 1)
        return no_choice;
    if (able)
        return (struct choice_rule){"true", "frees memory at no cost with tp"};
    return (struct choice_rule){"false",
                                offered ? "the sequence does not divide"
                                        : arena_format(arena, "%s has none%s", c->software.name,
                                                       c->software.offers.sequence_parallelism
                                                           ? " beside context parallelism"
                                                           : "")};
}

struct choice_rule choice_rule_sharding(struct arena *arena, unsigned open, struct configuration *c)
{
    if (!is_open(open, CHOICE_SHARDING) || configuration_replicas(c) == 1)
        return no_choice;
    const struct sharding_kind *usual = sharding_find(c->software.usual.sharding);
    const bool deep = usual->shards_gradients && c->layout.pp > 1;
    const char *optimizer = c->training.optimizer->head.name;
    if (usual->shards_optimizer && !software_shards(&c->software, optimizer)) {
        c->layout.data.sharding = &sharding_zero_0;
        return (struct choice_rule){
            c->layout.data.sharding->head.name,
            arena_format(arena, "%s does not shard the state of %s", c->software.name, optimizer)};
    }
    c->layout.data.sharding = deep ? &sharding_zero_1 : usual;
    return (struct choice_rule){c->layout.data.sharding->head.name,
                                deep ? "with a pipeline only the optimizer is sharded"
                                     : arena_format(arena, "what %s runs", c->software.name)};
}

struct order_question choice_rule_orders(const struct configuration *c, unsigned open)
{
    const bool given = is_open(open, CHOICE_FIRST_STAGE) && is_open(open, CHOICE_LAST_STAGE);
    return (struct order_question){c, is_open(open, CHOICE_SCHEDULE), is_open(open, CHOICE_CHUNKS),
                                   is_open(open, CHOICE_ENDS), given};
}

void choice_settle(struct arena *arena, unsigned open, struct configuration *c)
{
    struct configuration pipelines[CHOICE_ORDERS_MAX];
    choice_rule_sequence_parallel(arena, open, c);
    choice_rule_sharding(arena, open, c);
    const struct order_question question = choice_rule_orders(c, open);
    choice_orders(&question, pipelines);
    *c = pipelines[0];
}
