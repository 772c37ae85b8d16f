"""Agent of openai-agents that repairs a repository: python3 repair.py responses|chat. The task is its input."""

import subprocess
import sys

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled

set_tracing_disabled(True)
set_default_openai_api("responses" if sys.argv[1] == "responses" else "chat_completions")


@function_tool
def bash(command: str) -> str:
    """Runs a command."""
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


agent = Agent(name="Agent", instructions="Repair what the user names.", tools=[bash], model="agent")
print(Runner.run_sync(agent, sys.stdin.read()).final_output)
