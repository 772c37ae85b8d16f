"""Tokens a second that vLLM draws from a model with random weights, as JSON: {figures: {vllm_sampled_tokens_per_s}}.

    python benchmarks/gpu/vllm_speed.py CONFIG --rows N --prompt N --new N --dtype NAME

CONFIG is the configuration of a transformers model as JSON. Needs vLLM alone; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

from vllm import LLM, SamplingParams


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    for name in ("rows", "prompt", "new"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--dtype", default="bfloat16")
    given = parser.parse_args()
    config = {"architectures": ["Qwen2ForCausalLM"], "torch_dtype": given.dtype, **json.loads(given.config)}
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "config.json").write_text(json.dumps(config))
        engine = LLM(
            model=directory,
            load_format="dummy",
            skip_tokenizer_init=True,
            dtype=given.dtype,
            max_model_len=given.prompt + given.new,
            # As the prompts of the engine's figures, none is a repetition.
            enable_prefix_caching=False,
        )
        draw = random.Random(0)
        prompts = [
            {"prompt_token_ids": [draw.randrange(2, 1000) for _ in range(given.prompt)]} for _ in range(given.rows)
        ]
        # The first round compiles.
        for new in (2, given.new):
            settings = SamplingParams(max_tokens=new, ignore_eos=True, logprobs=0, detokenize=False)
            started = time.perf_counter()
            found = engine.generate(prompts, settings, use_tqdm=False)
            seconds = time.perf_counter() - started
        tokens = sum(len(one.outputs[0].token_ids) for one in found)
    print(json.dumps({"figures": {"vllm_sampled_tokens_per_s": tokens / seconds}}))


if __name__ == "__main__":
    main()
