"""Small model with random weights, and a script that writes its answers, so that the example needs no download."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import torch
import trl
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MARKS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Returns a tokenizer of bytes with the special tokens and the chat template of Qwen3."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={character: i for i, character in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in MARKS])
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    made.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    return made


def make_model(tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    """Returns a model of two layers with random weights."""
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            max_position_embeddings=8192,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            **size,
            **heads,
        )
    )


def script(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, answer: Callable[[str], str]) -> None:
    """Lets the model write `answer` of its prompt in every second row, and a wrong one in the others.

    Each row calls the tool `submit` once. Training computes with the real log-probabilities of these tokens.
    """

    def generate(input_ids: torch.Tensor, **_: object) -> torch.Tensor:
        rows = []
        for i, ids in enumerate(input_ids):
            prompt = tokenizer.decode(ids)
            if prompt.rstrip().rfind("<tool_response>") > prompt.rfind("<tool_call>"):
                text = "I have answered."
            else:
                given = answer(prompt) if i % 2 == 0 else "nothing"
                call = {"name": "submit", "arguments": {"text": f"<answer>{given}</answer>"}}
                text = f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
            rows.append(tokenizer.encode(f"{text}<|im_end|>", add_special_tokens=False))
        length = max(map(len, rows))
        padded = [row + [tokenizer.pad_token_id] * (length - len(row)) for row in rows]
        return torch.cat([input_ids, torch.tensor(padded, device=input_ids.device)], dim=1)

    model.generate = generate


def arithmetic(prompt: str) -> str:
    """Returns the value of the sum in the last question of a prompt."""
    found = re.findall(r"What is ([-+\d ]+)\?", prompt)
    return str(sum(int(part.replace(" ", "")) for part in re.findall(r"[+-]? ?\d+", found[-1]))) if found else "nothing"
