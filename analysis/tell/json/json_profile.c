#include "analysis/tell/json/json_profile.h"
#include "analysis/tell/json/json_parts.h"

static json_t *points_array(const struct measured_profile *profile)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < profile->count; i++) {
        const struct measured_point *p = &profile->points[i];
        const struct measurement *m = &p->measurement;
        char line[POINT_LINE_BYTES];
        json_t *one = json_object();
        point_print(&p->point, line);
        json_set(one, "shape", json_text(line));
        json_set(one, "median_s", json_number(m->median_s));
        json_set(one, "spread_ratio", json_number(m->spread_ratio));
        json_set(one, "samples", json_count(m->samples));
        json_set(one, "outliers", json_count(m->outliers));
        json_set(one, "settled", json_boolean(m->settled));
        json_set(one, "clock_hz", json_number_if(m->clock_hz > 0.0, m->clock_hz));
        json_set(one, "power_w", json_number_if(m->power_w > 0.0, m->power_w));
        json_set(one, "power_cap", json_boolean((m->slowing & DEVICE_POWER_CAP) != 0));
        json_set(one, "too_hot", json_boolean((m->slowing & DEVICE_TOO_HOT) != 0));
        json_set(one, "hardware_slow", json_boolean((m->slowing & DEVICE_HARDWARE_SLOW) != 0));
        json_append(array, one);
    }
    return array;
}

static json_t *remarks_array(const struct profile_remark *remarks, unsigned count)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < count && i < PROFILE_REMARKS_MAX; i++) {
        char line[POINT_LINE_BYTES];
        json_t *one = json_object();
        point_print(&remarks[i].point->point, line);
        json_set(one, "shape", json_text(line));
        json_set(one, "text", json_text(remarks[i].text));
        json_append(array, one);
    }
    return array;
}

void json_profile(const struct measured_profile *profile, const struct profile_remark *remarks,
                  unsigned count, FILE *out)
{
    const struct profile_head *h = &profile->head;
    json_t *document = json_document("orrery.profile/1", NULL);
    json_set(document, "device", json_text(h->facts.device));
    json_set(document, "gpu", *h->gpu ? json_text(h->gpu) : json_null());
    json_set(document, "driver", json_text(h->facts.driver));
    json_set(document, "runtime", json_text(h->facts.runtime));
    json_set(document, "libraries", json_text(h->facts.libraries));
    json_set(document, "date", json_text(h->date));
    json_set(document, "method", json_text(h->method));
    json_set(document, "complete", json_boolean(h->complete));
    json_set(document, "points", points_array(profile));
    if (remarks != NULL)
        json_set(document, "remarks", remarks_array(remarks, count));
    json_print(document, out);
}
