"""Bounds on the numbers of a run, written from its JSON document alone: a mapping for `expect:`.
usage: expect_bounds.py DOCUMENT SIGN PRECISION [SHIFT]
PRECISION  full: the number as JSON has it (17 digits, in SI); printed: three digits, in the unit
           that a report has
SHIFT      so many units of the last digit are added (of a full number: of the last bit)
The numbers, with their units by hand, are those below that the document has, and are not 0."""
import json
import math
import sys

UNITS = {  # key: (in SI, as a report writes it, of which so many are one in SI)
    "step_time_s": ("s", "ms", 1e3), "mfu": ("", "%", 1e2), "hfu": ("", "%", 1e2), "causal_mfu": ("", "%", 1e2),
    "bubble_ratio": ("", "%", 1e2), "tokens_per_s": ("", "k", 1e-3), "tokens_per_s_per_gpu": ("", "", 1),
    "peak_reserved_bytes": ("B", "GiB", 2**-30), "peak_allocated_bytes": ("B", "MB", 1e-6), "card_w": ("W", "W", 1),
    "node_w": ("W", "kW", 1e-3), "energy_j_per_step": ("", "", 1), "model_flops_per_step": ("", "", 1),
    "cost_usd_per_step": ("USD", "USD", 1), "cost_usd_per_1e9_tokens": ("USD", "kUSD", 1e-3),
    "wall_s": ("s", "d", 1 / 86400), "goodput": ("", "%", 1e2), "ettr": ("", "%", 1e2), "lost_work_s": ("s", "h", 1 / 3600),
    "useful_s": ("s", "min", 1 / 60), "tokens_completed": ("", "", 1), "tokens_per_day": ("", "", 1),
    "checkpoint_s": ("s", "s", 1), "energy_j": ("", "", 1), "cost_usd": ("USD", "MUSD", 1e-6),
    "rank_count": None, "op_count": None, "failures": None, "checkpoints": None, "class_count": None,
}


def bound(key, number, precision, shift):
    if UNITS[key] is None:
        return str(number + shift)
    si, unit, factor = UNITS[key]
    if precision == "full":
        for _ in range(abs(shift)):
            number = math.nextafter(number, math.copysign(math.inf, shift))
        return f"{number:.16e} {si}"
    mantissa, exponent = f"{number * factor:.2e}".split("e")
    digits, power = round(float(mantissa) * 100) + shift, int(exponent) - 2
    if unit == "k":  # a count's suffix stands right behind plain digits
        assert -3 <= power <= 0
        return f"{digits * 10.0**power:.{-power}f}k"
    return f"{digits}e{power} {unit}" if power > 0 else f"{digits * 10.0**power:.{-power}f} {unit}"


def main():
    document, sign, precision, shift = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3], int((sys.argv + [0])[4])
    numbers = {key: document[key] for key in UNITS if document.get(key)}
    assert len(numbers) >= 17, numbers
    print("expect:")
    for key, number in numbers.items():
        print(f"  {key}: \"{sign} {bound(key, number, precision, shift)}\"")
    print(len(numbers), file=sys.stderr)


main()
