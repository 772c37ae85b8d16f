"""Agent of smolagents that repairs a repository: python3 agent.py code|tools. The task is its input."""

import subprocess
import sys

from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool


@tool
def bash(command: str) -> str:
    """Runs a command.

    Args:
        command: Command of a shell.
    """
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


kind = {"code": CodeAgent, "tools": ToolCallingAgent}[sys.argv[1]]
agent = kind(tools=[bash], model=OpenAIModel("agent"), verbosity_level=0)
print(agent.run(sys.stdin.read()))
