"""Runs the README's example of TRL with a small model: python check_trl.py ADDRESS README. The last line is JSON."""

import inspect
import json
import os
import re
import sys
import tempfile
from pathlib import Path

os.environ.update(TRL_EXPERIMENTAL_SILENCE="1")
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "interop"))

from tiny_model import arithmetic, make_model, make_tokenizer, script
from transformers import Qwen2ForCausalLM
from transformers.utils import get_json_schema

from mrlm_client import MrlmError
from mrlm_client.trl import environment_factory

ADDRESS, README = sys.argv[1], Path(sys.argv[2]).read_text("utf-8")


def train() -> dict:
    """Takes two steps by the README's example, with a model that answers by a script. Task 5 is a sum."""
    (block,) = re.findall(r"```python\n(.*?)```", README.split("\n## TRL\n")[1].split("\n## ")[0], re.DOTALL)
    with tempfile.TemporaryDirectory() as directory:
        tokenizer = make_tokenizer()
        model = make_model(tokenizer)
        script(model, tokenizer, arithmetic)
        # The trainer loads the model: the class gets the script.
        Qwen2ForCausalLM.generate = staticmethod(vars(model).pop("generate"))
        model.save_pretrained(directory)
        tokenizer.save_pretrained(directory)
        settings = "use_cpu=True, bf16=False, learning_rate=1e-3, logging_steps=1, seed=0, save_strategy='no', "
        for given, used in {
            "127.0.0.1:50051": ADDRESS,
            '"Qwen/Qwen3-0.6B"': repr(directory),
            "range(64)": "[5]",
            'output_dir="run", ': f"output_dir={directory!r}, max_completion_length=1024, {settings}",
        }.items():
            assert given in block, given
            block = block.replace(given, used)
        names: dict = {}
        exec(block, names)
    steps = [each for each in names["trainer"].state.log_history if "reward" in each]
    keys = {
        "rewards": "reward",
        "reward_stds": "reward_std",
        "grad_norms": "grad_norm",
        "tool_calls": "tools/call_frequency",
        "tool_failures": "tools/failure_frequency",
    }
    return {name: [step.get(key) for step in steps] for name, key in keys.items()}


def tools() -> dict:
    """Plays an episode with tools by the methods, and reads their schemas as TRL does."""
    made = environment_factory(ADDRESS, "tools@2")
    methods = {name: method for name, method in inspect.getmembers(made, inspect.isfunction) if name[0] != "_"}
    schemas = {name: get_json_schema(method) for name, method in methods.items() if name not in ("reset", "get_reward")}
    episode = made()
    episode.reset(task="train/1", seed=3)
    result = episode.calculator(expression="6*7")
    episode.submit(text="<answer>nothing</answer>")
    late = ""
    try:
        episode.submit(text="again")
    except MrlmError as error:
        late = error.code
    return {
        "names": sorted(schemas),
        "calculator": schemas["calculator"]["function"]["parameters"],
        "result": result,
        "reward": episode.get_reward(),
        "late": late,
    }


def unscored() -> list:
    """Returns the reward before and after one that could not be computed, and after a fault."""
    episode = environment_factory(ADDRESS, "outcomes@1")()
    rewards = []
    for text in ("fine", "unscored", "fail"):
        episode.reset()
        try:
            episode.submit(text=text)
        except MrlmError as error:
            rewards.append(error.code)
        rewards.append(episode.get_reward())
    return rewards


found = {"tools": tools(), "unscored": unscored(), "train": train()}
print(json.dumps(found))
