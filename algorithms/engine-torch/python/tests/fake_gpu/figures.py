"""Prints the figures of the fake GPU as one JSON object. Needs this package's parent folder on PYTHONPATH."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from sampling.cache_waves import over_limit

from fake_gpu import work
from fake_gpu.cases import LEARNING, PLANTED, SAMPLING, learnt, sampled
from fake_gpu.memory_cases import CASES, measured
from fake_gpu.real_size import decode, train
from mrlm_engine.backbone.transformers_backbone import Layout


def figures() -> dict[str, Any]:
    """Returns the figures by name. Times are not among them: nothing is computed."""
    mismatches = unexpected = 0
    for name in [*SAMPLING, *LEARNING]:
        try:
            found = sampled(name)[1] if name in SAMPLING else learnt(name) - Counter(LEARNING[name][-1])
        except RuntimeError as error:
            print(f"{name}: {error}")
            mismatches += 1
        else:
            unexpected += found.total()
    ratios = [measured(name)[1] for name in CASES]
    masked, packed = (train("0.5B", 16, 2048, layout=layout) for layout in (Layout.MASKED, Layout.PACKED))
    return {
        "cases": len(SAMPLING) + len(LEARNING),
        "mismatches": mismatches,
        "unexpected_host_copies": unexpected,
        "planted": len(PLANTED),
        "planted_found": sum(found() for found in PLANTED.values()),
        "estimate_min_ratio": round(min(ratios), 3),
        "estimate_max_ratio": round(max(ratios), 3),
        "packed_peak_ratio_05b": round(packed.pass_peak / masked.pass_peak, 3),
        "packed_tokens_ratio": packed.computed_tokens / packed.real_tokens,
        "padded_tokens_ratio": round(masked.computed_tokens / masked.real_tokens, 3),
        "decode_launches_05b": decode("0.5B", 128).launches,
        "decode_launches_05b_two_ages": decode("0.5B", 128, uneven=True).launches,
        "pass_launches_05b": packed.launches,
    }


if __name__ == "__main__":
    with work.gpu_branches():
        found = figures()
    # On the CPU, with numbers.
    found["cache_over_limit"] = round(max(map(over_limit, range(4))), 3)
    print(json.dumps(found))
