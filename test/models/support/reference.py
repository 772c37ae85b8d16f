"""Answers of transformers about a model directory, which mrlm's are compared with.

PYTHON reference.py DIRECTORY < QUESTIONS: `{"conversations": [{messages}], "sequences": [[id]]}`.
Prints the token ids of each conversation by the chat template, the special tokens, and the log-probability of each
token but the first of each sequence.
"""

import json
import sys
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

directory = sys.argv[1]
asked: dict[str, Any] = json.load(sys.stdin)
tokenizer = AutoTokenizer.from_pretrained(directory)


def render(messages: list[dict[str, Any]]) -> list[int]:
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    return tokenizer(text, add_special_tokens=False)["input_ids"]  # type: ignore[no-any-return]


rendered = [render(each["messages"]) for each in asked.get("conversations", [])]
special = sorted(id for id, token in tokenizer.added_tokens_decoder.items() if token.special)
answer: dict[str, Any] = {"rendered": rendered, "special": special}
if asked.get("sequences"):
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
    answer["parameters"] = model.num_parameters()
    with torch.inference_mode():
        answer["logprobs"] = []
        for sequence in asked["sequences"]:
            tokens = torch.tensor([sequence])
            logits = model(input_ids=tokens).logits[0, :-1].float()
            chosen = torch.log_softmax(logits, -1).gather(1, tokens[0, 1:, None])[:, 0]
            answer["logprobs"].append(chosen.tolist())
json.dump(answer, sys.stdout)
