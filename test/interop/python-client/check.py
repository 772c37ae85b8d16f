"""Checks of the adapters for Gymnasium and PettingZoo: python check.py ADDRESS README. The last line is JSON.

ADDRESS has the environments of `check_pettingzoo.py`, and `tools@2`.
"""

import json
import re
import sys
import warnings
from pathlib import Path

import check_pettingzoo
from gymnasium.utils.env_checker import check_env

import mrlm_client
from mrlm_client import ToolCall, UnscoredError
from mrlm_client.gymnasium import Env

ADDRESS, README = sys.argv[1], Path(sys.argv[2]).read_text("utf-8")


def run_readme(section: str) -> int:
    """Runs the Python of a section of the README. Returns the number of blocks."""
    blocks = re.findall(r"```python\n(.*?)```", README.split(f"\n## {section}\n")[1].split("\n## ")[0], re.DOTALL)
    for block in blocks:
        exec(block.replace("127.0.0.1:50051", ADDRESS), {})
    return len(blocks)


def check_gymnasium() -> list[str]:
    """Runs `check_env`. Returns its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for environment, actions in (("math@2", None), ("math@2", ["7", "12"]), ("tools@2", None)):
            env = Env(ADDRESS, environment, actions=actions)
            check_env(env, skip_render_check=True)
            env.close()
    return [str(each.message) for each in caught]


def tool_result() -> str:
    env = Env(ADDRESS, "tools@2")
    _, info = env.reset(options={"task": "train/1"})
    assert "calculator" in [tool["name"] for tool in info["tools"]]
    result = env.step(ToolCall("calculator", {"expression": "6*7"}))[0]
    env.close()
    return result


def errors() -> list[str]:
    """Returns the codes of a refused seed, an unscored reward and an environment with several agents."""
    codes = []
    env = Env(ADDRESS, "outcomes@1")
    for act in (lambda: env.reset(seed=1), lambda: (env.reset(), env.step("unscored")), lambda: Env(ADDRESS, "nim@1")):
        try:
            act()
        except UnscoredError as error:
            codes.append(f"unscored {error.code}")
        except mrlm_client.MrlmError as error:
            codes.append(error.code)
    assert env.step("x")[1] == 1.0
    env.close()
    return codes


found = {
    "package": str(Path(mrlm_client.__file__).parent),
    "warnings": check_gymnasium(),
    "tool": tool_result(),
    "errors": errors(),
    "pettingzoo": check_pettingzoo.check(ADDRESS),
    "readme": run_readme("Gymnasium") + run_readme("PettingZoo"),
}
print(json.dumps(found))
