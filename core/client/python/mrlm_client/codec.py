"""Translation between values and messages of protos/mrlm/env/v1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mrlm_client.errors import MrlmError
from mrlm_client.gen.mrlm.env.v1 import environment_pb2 as wire
from mrlm_client.values import (
    ActionMessage,
    Description,
    FinishReason,
    Image,
    MalformedCall,
    Message,
    Observation,
    Part,
    Role,
    Score,
    StepResult,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
    Unscored,
)

FINISH_REASONS: dict[FinishReason, wire.FinishReason] = {
    "stop": wire.FINISH_REASON_STOP,
    "length": wire.FINISH_REASON_LENGTH,
    "exhausted": wire.FINISH_REASON_EXHAUSTED,
}
DETERMINISM = {wire.DETERMINISM_FULL: "full", wire.DETERMINISM_REPLAYABLE: "replayable", wire.DETERMINISM_NONE: "none"}


def encode_environment(environment: str, options: Mapping[str, Any] | None) -> wire.EnvironmentRef:
    return wire.EnvironmentRef(id=environment, options_json="" if options is None else encode_json(options, "options"))


def encode_action(agent: str, message: ActionMessage, finish_reason: FinishReason) -> wire.Action:
    whole = _whole(message)
    encoded = wire.Message(role=whole.role, name=whole.name, parts=map(_encode_part, whole.parts))
    return wire.Action(agent=agent, message=encoded, finish_reason=FINISH_REASONS[finish_reason])


def _whole(message: ActionMessage) -> Message:
    if isinstance(message, Message):
        return message
    if isinstance(message, str):
        return Message("assistant", (Text(message),) if message else ())
    return Message("assistant", tuple(message) if isinstance(message, list | tuple) else (message,))


def _encode_part(part: Part) -> wire.Part:
    match part:
        case Text(text):
            return wire.Part(text=wire.TextPart(text=text))
        case Thinking(text):
            return wire.Part(thinking=wire.TextPart(text=text))
        case Image(media_type, data, url):
            return wire.Part(image=wire.ImagePart(media_type=media_type, data=data, url=url))
        case ToolCall(name, arguments, call):
            encoded = encode_json(arguments, f"arguments of {name}")
            return wire.Part(tool_call=wire.ToolCallPart(id=call, name=name, arguments_json=encoded))
        case MalformedCall(text, form, error, offset):
            malformed = wire.MalformedCallPart(text=text, format=form, error=error, offset=offset)
            return wire.Part(malformed_call=malformed)
        case ToolResult(call, name, parts, is_error):
            result = wire.ToolResultPart(id=call, name=name, parts=map(_encode_part, parts), is_error=is_error)
            return wire.Part(tool_result=result)
        case other:
            hint = "Give a text, tool calls or a Message."
            raise MrlmError("OPTIONS_INVALID", f"An action has a part of type {type(other).__name__}.", hint)


def encode_json(value: object, name: str) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as cause:
        raise MrlmError("OPTIONS_INVALID", f"The {name} have no JSON form: {cause}", "Give plain data.") from cause


def _decode_part(part: wire.Part) -> Part:
    match part.WhichOneof("part"):
        case "text":
            return Text(part.text.text)
        case "thinking":
            return Thinking(part.thinking.text)
        case "image":
            is_data = part.image.WhichOneof("source") == "data"
            data, url = (part.image.data, None) if is_data else (None, part.image.url)
            return Image(part.image.media_type, data, url)
        case "tool_call":
            call = part.tool_call
            return ToolCall(call.name, json.loads(call.arguments_json or "{}"), call.id)
        case "malformed_call":
            malformed = part.malformed_call
            return MalformedCall(malformed.text, malformed.format, malformed.error, malformed.offset)
        case "tool_result":
            result = part.tool_result
            parts = tuple(each for each in map(_decode_part, result.parts) if isinstance(each, Text | Image))
            return ToolResult(result.id, result.name, parts, result.is_error)
        case other:
            raise MrlmError("PROTOCOL_VERSION", f"A message has a part of an unknown kind: {other}.")


def decode_observation(observation: wire.Observation) -> Observation:
    tools = [Tool(each.name, each.description, json.loads(each.parameters_json)) for each in observation.tools.tools]
    return Observation(
        observation.agent,
        tuple(Message(each.role, tuple(map(_decode_part, each.parts)), each.name) for each in observation.messages),
        tuple(tools) if observation.HasField("tools") else None,
        json.loads(observation.info_json or "{}"),
        observation.is_fresh,
    )


def _decode_reward(reward: wire.Reward) -> Score | Unscored:
    match reward.WhichOneof("result"):
        case "score":
            return Score(reward.score.value, dict(reward.score.components))
        case "unscored":
            return Unscored(reward.unscored.code, reward.unscored.message)
        case _:
            raise MrlmError("PROTOCOL_VERSION", "A reward is neither a score nor unscored.")


def decode_step(response: wire.StepResponse) -> StepResult:
    return StepResult(
        decode_observation(response.observation),
        {agent: _decode_reward(reward) for agent, reward in response.rewards.items()},
        dict(response.terminated),
        dict(response.truncated),
        json.loads(response.info_json or "{}"),
    )


def decode_description(described: wire.EnvironmentDescription) -> Description:
    # A server without roles states agents: each is a role of its own.
    roles = [Role(role.id, role.description, role.many) for role in described.roles]
    return Description(
        described.id,
        described.description,
        DETERMINISM.get(described.determinism, "none"),
        tuple(roles or [Role(agent, "", False) for agent in described.agents]),
        dict(described.splits),
        json.loads(described.options_schema_json or "{}"),
        tuple(described.reward_components),
        described.max_turns,
    )
