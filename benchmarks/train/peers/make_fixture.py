"""Write the benchmark's model and data: the same bytes for the same arguments, whatever the machine.

    python make_fixture.py OUT [--seed 0] [--prompts 512] [--rows 4096] [--pairs 2048]

OUT/model     a randomly initialised Qwen2-architecture model of 991,360 parameters (hidden 128, 4 layers, 4 query and
              2 key-value heads, intermediate 512, 48 characters, tied embeddings) with a character tokenizer,
              as ordinary Hugging Face files: config.json, model.safetensors, tokenizer.json, ...
OUT/grpo.json {"prompts": [text, ...]}: one word and a number of 3 to 9 digits, 10 to 16 tokens
OUT/sft.json  {"rows": [{"prompt": text, "completion": text}, ...]}: the same prompts, 8 to 64 tokens of completion
OUT/dpo.json  {"pairs": [{"prompt": text, "chosen": text, "rejected": text}, ...]}: the same lengths

Every character is one token and nothing is added around a text, so text lengths are token counts.
"""

import argparse
import json
import random
import string
from pathlib import Path

SPECIAL = ["<pad>", "<eos>", "<unk>"]
CHARACTERS = list(string.digits + string.ascii_lowercase + " .,:>=+-*")


def write_tokenizer(directory: Path) -> int:
    """Save the character tokenizer and return the size of its vocabulary.

    It is a byte-level BPE without merges rather than a word-level model, because `AutoTokenizer` rebuilds the
    pre-tokenizer of every `qwen2` directory as byte-level, even if tokenizer.json differs; a word-level tokenizer would
    then lose its spaces without an error.
    """
    from transformers import Qwen2Tokenizer

    pieces = SPECIAL + ["\u0120" if character == " " else character for character in CHARACTERS]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Qwen2Tokenizer(
        vocab=vocabulary, merges=[], pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )
    tokenizer.save_pretrained(directory)
    return len(vocabulary)


def write_model(directory: Path, vocabulary_size: int, seed: int) -> None:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=vocabulary_size,
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        use_sliding_window=False,
        pad_token_id=SPECIAL.index("<pad>"),
        eos_token_id=SPECIAL.index("<eos>"),
        bos_token_id=None,
        dtype="float32",
    )
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(config)
    model.generation_config.do_sample = True
    model.save_pretrained(directory)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters in {directory}")


def prompt(generator: random.Random) -> str:
    """`sort 413902>`: between 10 and 16 characters."""
    word = generator.choice(["sort", "order", "reverse"])
    length = generator.randint(10, 16)
    digits = "".join(generator.choices(string.digits, k=length - len(word) - 2))
    return f"{word} {digits}>"


def completion(generator: random.Random) -> str:
    return "".join(generator.choices(CHARACTERS, k=generator.randint(8, 64)))


def write_data(directory: Path, arguments: argparse.Namespace) -> None:
    generator = random.Random(arguments.seed)
    prompts = [prompt(generator) for _ in range(arguments.prompts)]
    rows = [{"prompt": prompt(generator), "completion": completion(generator)} for _ in range(arguments.rows)]
    pairs = [
        {"prompt": prompt(generator), "chosen": completion(generator), "rejected": completion(generator)}
        for _ in range(arguments.pairs)
    ]
    for name, data in (("grpo", {"prompts": prompts}), ("sft", {"rows": rows}), ("dpo", {"pairs": pairs})):
        (directory / f"{name}.json").write_text(json.dumps(data, indent=0) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--prompts", type=int, default=512)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--pairs", type=int, default=2048)
    arguments = parser.parse_args()
    model = arguments.out / "model"
    model.mkdir(parents=True, exist_ok=True)
    write_model(model, write_tokenizer(model), arguments.seed)
    write_data(arguments.out, arguments)


if __name__ == "__main__":
    main()
