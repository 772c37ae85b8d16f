"""The golden messages of protos/fixtures, and both directions of every part."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.json_format import MessageToDict

from mrlm_client import Image, MalformedCall, Message, Text, Thinking, ToolCall, ToolResult, Unscored
from mrlm_client.codec import decode_observation, decode_step, encode_action
from mrlm_client.gen.mrlm.env.v1 import environment_pb2 as wire

FIXTURES = Path(__file__).resolve().parents[4] / "protos" / "fixtures"

PARTS = (
    Text("text"),
    Thinking("thought"),
    Image("image/png", data=b"\x89PNG"),
    Image("image/png", url="https://example.com/image.png"),
    ToolCall("add", {"a": [1, None, "ü"]}, "call-7"),
    MalformedCall("<tool_call>{", "hermes", "no name", 12),
    ToolResult("call-7", "add", (Text("2"), Image("image/png", data=b"")), is_error=True),
)


def test_every_part_survives_both_directions() -> None:
    action = encode_action("agent", Message("assistant", PARTS, "name"), "length")
    sent = wire.Action.FromString(action.SerializeToString())
    assert sent.finish_reason == wire.FINISH_REASON_LENGTH
    decoded = decode_observation(wire.Observation(agent="agent", messages=[sent.message]))
    assert decoded.messages == (Message("assistant", PARTS, "name"),)
    assert decoded.text == "text2"


def test_the_golden_step_response_is_read_whole() -> None:
    response = wire.StepResponse.FromString((FIXTURES / "step-response.binpb").read_bytes())
    result = decode_step(response)
    shown = MessageToDict(response)
    assert len(result.observation.messages) == len(shown["observation"]["messages"])
    assert set(result.rewards) == set(shown["rewards"])
    kinds = {name: isinstance(reward, Unscored) for name, reward in result.rewards.items()}
    assert kinds == {name: "unscored" in reward for name, reward in shown["rewards"].items()}
    assert set(kinds.values()) == {True, False}
    assert result.terminated == dict(response.terminated)
