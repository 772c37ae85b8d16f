"""Reads task folders and rewards by Harbor's own code.

Usage: check.py FILE, with {"folders": [PATH], "rewards": [{"text": TEXT} or {"json": TEXT}]} in the file. Prints, as
JSON, the instruction or the error of each folder, and the rewards or `null` of each text.
"""

import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from harbor.models.task.task import Task
from harbor.verifier.verifier import Verifier


def read_task(folder: Path) -> dict[str, object]:
    """Returns the instruction of a task, or of its first step."""
    try:
        task = Task(folder)
        steps = task.config.steps
        return {"instruction": task.step_instruction(steps[0].name) if steps else task.instruction}
    except Exception as error:  # Harbor raises errors of many kinds.
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def read_rewards(files: dict[str, str]) -> dict[str, float] | None:
    """Returns what Harbor reads from the files that tests have written."""
    with tempfile.TemporaryDirectory() as folder:
        paths = SimpleNamespace(
            reward_text_path=Path(folder, "reward.txt"), reward_json_path=Path(folder, "reward.json")
        )
        reader = SimpleNamespace(trial_paths=paths)
        try:
            if "json" in files:
                paths.reward_json_path.write_text(files["json"])
                return Verifier._parse_reward_json(reader)
            paths.reward_text_path.write_text(files["text"])
            return Verifier._parse_reward_text(reader)
        except Exception:
            return None


given = json.loads(Path(sys.argv[1]).read_text())
print(
    json.dumps(
        {
            "folders": [read_task(Path(folder)) for folder in given["folders"]],
            "rewards": [read_rewards(files) for files in given["rewards"]],
        }
    )
)
