"""The rule for running sequences."""

from __future__ import annotations

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.sampling import InFlight

_RULES = {
    pb.IN_FLIGHT_UNSPECIFIED: InFlight.RECOMPUTE,
    pb.IN_FLIGHT_RECOMPUTE: InFlight.RECOMPUTE,
    pb.IN_FLIGHT_KEEP: InFlight.KEEP,
    pb.IN_FLIGHT_WAIT: InFlight.WAIT,
}


def in_flight_rule(value: int) -> InFlight:
    """Decodes a rule. One that is not stated is RECOMPUTE."""
    rule = _RULES.get(value)  # type: ignore[call-overload]
    if rule is None:
        raise EngineError(
            "OPTIONS_INVALID", f"The rule {value} for running sequences does not exist.", "Use recompute, keep or wait."
        )
    return rule  # type: ignore[no-any-return]
