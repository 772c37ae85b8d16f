"""Plays a task of an environment with the client of OpenReward, and prints the results as one line of JSON.

python check.py URL ENVIRONMENT
"""

import json
import os
import sys

url, environment = sys.argv[1:3]
os.environ.update(
    OPENREWARD_SESSION_URL=url,
    OPENREWARD_API_URL=url,
    OPENREWARD_DISABLE_UPDATE_CHECK="1",
)

from openreward import OpenReward  # noqa: E402 - it reads the variables when it is imported.
from openreward.api.errors import ToolCallError  # noqa: E402


def main() -> None:
    with OpenReward(base_url=url) as client:
        offered = client.environments.get(environment)
        task = offered.get_task("train", 1)
        found: dict[str, object] = {
            "splits": offered.list_splits(),
            "num_tasks": offered.num_tasks("train"),
            "task": task.task_spec,
            "range": [each.task_spec["index"] for each in offered.get_task_range("train", 2, 5)],
            "tools": [tool.name for tool in offered.list_tools()],
        }
        with offered.session(task=task) as session:
            found["prompt"] = "".join(block.text for block in session.get_prompt())
            found["roles"] = [message.role for message in session.get_messages()]
            found["task_tools"] = [tool.name for tool in session.list_tools()]
            found["supports_score_group"] = session.supports_score_group()
            try:
                session.call_tool("forge", {})
            except ToolCallError as error:
                found["bad_call"] = error.reason
            first = session.call_tool("calculator", {"expression": "6 * 7"})
            found["first"] = [first.reward, first.finished, first.blocks[0].text]
            last = session.call_tool("submit", {"text": "nothing"})
            found["last"] = [last.reward, last.finished]
            try:
                session.call_tool("submit", {"text": "again"})
            except ToolCallError as error:
                found["late_call"] = error.reason
    print(json.dumps(found))


main()
