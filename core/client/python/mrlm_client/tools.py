"""Tools of an environment for trainers that know tool calls only: those of its first observation, and `submit`."""

from __future__ import annotations

import inspect
import json
import keyword
import re
from collections.abc import Mapping
from typing import Any

from mrlm_client.client import Session
from mrlm_client.errors import HARMLESS, MrlmError
from mrlm_client.values import ActionMessage, Observation, Tool, ToolCall, Unscored

SUBMIT = Tool(
    "submit",
    "Answers with a text. It ends the episode, unless the environment replies to it.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The answer, in the form that the task asks for."}},
        "required": ["text"],
    },
)


TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class PythonForm:
    """Parameters and docstring of a tool as a function of Python, in Google's style.

    Attributes:
        parameters: required ones first; the others have the default None.
        doc: the docstring.
        names: names in the schema by those in Python, which differ for keywords such as `from`.
    """

    def __init__(self, tool: Tool) -> None:
        properties: Mapping[str, Any] = tool.parameters.get("properties", {})
        required = tool.parameters.get("required", [])
        self.names = {_identifier_of(name): name for name in sorted(properties, key=lambda name: name not in required)}
        self.parameters = []
        lines = [" ".join(tool.description.split())]
        for identifier, name in self.names.items():
            schema = properties[name]
            parameter = inspect.Parameter(
                identifier,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if name in required else None,
                annotation=TYPES.get(schema.get("type"), str),
            )
            self.parameters.append(parameter)
            choices = f" (choices: {json.dumps(schema['enum'])})" if "enum" in schema else ""
            description = " ".join(schema.get("description", name).split())
            lines += [*(["", "Args:"] if len(lines) == 1 else []), f"    {identifier}: {description}{choices}"]
        self.doc = "\n".join(lines)


def _identifier_of(name: str) -> str:
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if keyword.iskeyword(plain) or plain[:1].isdigit() else plain


def tools_of(observation: Observation) -> dict[str, Tool]:
    """Returns the tools of an observation by name. One named `submit` replaces the one that is added."""
    return {tool.name: tool for tool in (SUBMIT, *(observation.tools or ()))}


def message_of(tool: Tool, arguments: Mapping[str, Any]) -> ActionMessage:
    """Returns the action of a call."""
    if tool is SUBMIT:
        return str(arguments["text"])
    return ToolCall(tool.name, {name: value for name, value in arguments.items() if value is not None})


def call_tool(session: Session, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, Unscored | float]:
    """Carries out a call. Returns the text for the model, and the reward."""
    result = session.step(message_of(tool, arguments))
    unscored = [reward for reward in result.rewards.values() if isinstance(reward, Unscored)]
    return result.observation.text or "The answer was received.", unscored[0] if unscored else result.reward()


def is_fault(error: MrlmError) -> bool:
    """Whether the episode has no reward after an error. Otherwise the model called wrongly, or too late."""
    return error.code not in (*HARMLESS, "EPISODE_ENDED")
