"""The same updates by TRL's trainers.

Reads cases as JSON from stdin. For each: starts from the checkpoint `before`, makes the updates by TRL's trainer on the
same tokens with plain gradient steps, and compares with the checkpoint `after`. Prints the losses, the gradient norms,
and the largest difference of any weight relative to the largest change of any.
"""

import functools
import json
import os
import sys
import tempfile
from typing import Any

os.environ.update(
    HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRL_EXPERIMENTAL_SILENCE="1"
)

import torch
from datasets import Dataset
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer
from trl import (
    DPOConfig,
    DPOTrainer,
    GRPOConfig,
    GRPOTrainer,
    KTOConfig,
    KTOTrainer,
    RewardConfig,
    RewardTrainer,
    SFTConfig,
    SFTTrainer,
)
from trl.experimental.gkd import GKDConfig, GKDTrainer
from trl.experimental.orpo import ORPOConfig, ORPOTrainer


def load(directory, kind=None):
    config = AutoConfig.from_pretrained(directory)
    if kind != "reward":
        return AutoModelForCausalLM.from_pretrained(directory, config=config, dtype=torch.float32)
    config.num_labels = 1
    model = AutoModelForSequenceClassification.from_pretrained(directory, config=config, dtype=torch.float32)
    # The value head is the score. TRL's has no bias, which has a gradient in a centred loss alone.
    head = load_file(os.path.join(directory, "value_head.safetensors"))
    model.score = torch.nn.Linear(config.hidden_size, 1)
    model.score.load_state_dict({"weight": head["weight"][None], "bias": head["bias"]})
    return model


def settings(case, output, rows):
    """Returns settings for plain gradient steps on the whole batch, with a norm that is reported and never clips."""
    options = case["options"]
    return {
        "output_dir": output,
        "max_steps": options["steps"] * options.get("updates_per_step", 1),
        "per_device_train_batch_size": rows,
        "gradient_accumulation_steps": 1,
        "learning_rate": options["learning_rate"] / options["adam_epsilon"],
        "lr_scheduler_type": "constant",
        "optim": "sgd",
        "max_grad_norm": 1e9,
        "weight_decay": 0.0,
        "use_cpu": True,
        "bf16": False,
        "fp16": False,
        "gradient_checkpointing": False,
        "report_to": "none",
        "logging_steps": 1,
        "save_strategy": "no",
        "disable_tqdm": True,
    }


def split(episode):
    """Returns the prompt and completion of an episode of one turn."""
    [row] = episode["rows"]
    first = row["mask"].index(1)
    return row["tokens"][:first], row["tokens"][first:]


def sft(case, model, tokenizer, output):
    rows = [row for episode in case["episodes"] for row in episode["rows"]]
    labelled = [
        {
            "input_ids": row["tokens"],
            "labels": [t if chosen else -100 for t, chosen in zip(row["tokens"], row["mask"], strict=True)],
        }
        for row in rows
    ]
    config = SFTConfig(**settings(case, output, len(rows)), loss_type="nll", packing=False, max_length=None)
    return SFTTrainer(model=model, args=config, train_dataset=Dataset.from_list(labelled), processing_class=tokenizer)


class PreparedDpoTrainer(DPOTrainer):
    """TRL's, given token ids instead of text."""

    def _prepare_dataset(self, dataset, *_, **__):
        return dataset


def dpo(case, model, tokenizer, output):
    episodes, options = case["episodes"], case["options"]
    pairs = []
    for i in range(0, len(episodes), 2):
        (prompt, chosen), (_, rejected) = split(episodes[i]), split(episodes[i + 1])
        pairs.append({"prompt_ids": prompt, "chosen_ids": chosen, "rejected_ids": rejected})
    config = DPOConfig(
        **settings(case, output, len(pairs)),
        loss_type=[options.get("loss", "sigmoid")],
        beta=options.get("beta", 0.1),
        max_length=None,
    )
    data = Dataset.from_list(pairs)
    return PreparedDpoTrainer(
        model=model, ref_model=load(case["before"]), args=config, train_dataset=data, processing_class=tokenizer
    )


class PreparedOrpoTrainer(ORPOTrainer):
    """TRL's, given token ids instead of text, with the likelihood of the paper: that of each chosen answer, a mean over
    its tokens. TRL takes a mean over the tokens of all prompts and chosen answers.
    """

    def tokenize_row(self, feature, model=None):
        return feature

    def concatenated_forward(self, model, batch):
        chosen, *others = super().concatenated_forward(model, batch)
        others[3] = -chosen.mean()
        return (chosen, *others)


def orpo(case, model, tokenizer, output):
    episodes, options = case["episodes"], case["options"]
    pairs = []
    for i in range(0, len(episodes), 2):
        pair: dict[str, Any] = {}
        for name, episode in (("chosen", episodes[i]), ("rejected", episodes[i + 1])):
            prompt, answer = split(episode)
            pair["prompt"] = str(i)
            pair[name] = name
            pair[f"{name}_input_ids"] = prompt + answer
            pair[f"{name}_attention_mask"] = [1] * (len(prompt) + len(answer))
            pair[f"{name}_labels"] = [-100] * len(prompt) + answer
        pairs.append(pair)
    config = ORPOConfig(**settings(case, output, len(pairs)), beta=options["beta"])
    data = Dataset.from_list(pairs)
    return PreparedOrpoTrainer(model=model, args=config, train_dataset=data, processing_class=tokenizer)


class PreparedKtoTrainer(KTOTrainer):
    """TRL's, given token ids instead of text. For the divergence each prompt gets the answer before its own."""

    def _prepare_dataset(self, dataset, *_, **__):
        answers = dataset["completion_ids"]
        return dataset.add_column("KL_completion_ids", [answers[-1], *answers[:-1]])


def kto(case, model, tokenizer, output):
    options = case["options"]
    rows = []
    for episode in case["episodes"]:
        prompt, answer = split(episode)
        rows.append({"prompt_ids": prompt, "completion_ids": answer, "label": episode["label"]})
    config = KTOConfig(
        **settings(case, output, len(rows)),
        beta=options["beta"],
        desirable_weight=options.get("kto_desirable_weight", 1.0),
        undesirable_weight=options.get("kto_undesirable_weight", 1.0),
        max_length=None,
    )
    data = Dataset.from_list(rows)
    return PreparedKtoTrainer(
        model=model, ref_model=load(case["before"]), args=config, train_dataset=data, processing_class=tokenizer
    )


class PreparedRewardTrainer(RewardTrainer):
    """TRL's, given token ids instead of text."""

    def _prepare_dataset(self, dataset, *_, **__):
        return dataset


def reward(case, model, tokenizer, output):
    episodes, options = case["episodes"], case["options"]
    ends = [episode["rows"][-1]["tokens"][: last_of(episode["rows"][-1]["mask"]) + 1] for episode in episodes]
    pairs = [
        {"chosen_ids": ends[i], "rejected_ids": ends[i + 1], "margin": case["margins"][i // 2]}
        for i in range(0, len(ends), 2)
    ]
    # The score is read at the last token that is no padding.
    tokenizer.pad_token_id = next(token for token in range(len(tokenizer)) if all(token not in each for each in ends))
    model.config.pad_token_id = tokenizer.pad_token_id
    config = RewardConfig(
        **settings(case, output, len(pairs)),
        center_rewards_coefficient=options.get("center_coefficient"),
        max_length=None,
    )
    data = Dataset.from_list(pairs)
    return PreparedRewardTrainer(model=model, args=config, train_dataset=data, processing_class=tokenizer)


def last_of(mask):
    return max(t for t, chosen in enumerate(mask) if chosen)


def grpo(case, model, tokenizer, output):
    options = case["options"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for episode in case["episodes"]:
        groups.setdefault(episode["group"], []).append(episode)
    names = list(groups)
    size = len(groups[names[0]])

    def play(prompts, _trainer):
        """Returns the episodes that our policy played, for prompts that name their group."""
        seen = dict.fromkeys(names, 0)
        found: dict[str, list[Any]] = {"prompt_ids": [], "completion_ids": [], "logprobs": [], "earned": []}
        for name in prompts:
            episode = groups[name][seen[name]]
            seen[name] += 1
            prompt, completion = split(episode)
            for key, value in {
                "prompt_ids": prompt,
                "completion_ids": completion,
                "logprobs": [0.0] * len(completion),
                "earned": episode["reward"],
            }.items():
                found[key].append(value)
        return found

    aggregation = {"token_mean": "dapo", "sequence_mean": "grpo", "constant": "dr_grpo"}[
        options.get("aggregation", "token_mean")
    ]
    is_cispo = options.get("policy_loss") == "cispo"
    # TRL's bound of CISPO is the ratio itself, ours how far it may lie above 1.
    high = options.get("clip_high", 0.2) + (1 if is_cispo else 0)
    config = GRPOConfig(
        **settings(case, output, len(case["episodes"])),
        num_generations=size,
        steps_per_generation=1,
        num_iterations=options.get("updates_per_step", 1),
        max_completion_length=case["max_tokens"],
        temperature=case["temperature"],
        beta=options.get("kl_coefficient", 0.0),
        use_bias_correction_kl=options.get("kl_importance", True),
        epsilon=options.get("clip_low", 0.2),
        epsilon_high=high,
        importance_sampling_level="sequence" if options.get("policy_loss") == "gspo" else "token",
        loss_type="cispo" if is_cispo else aggregation,
        scale_rewards={"none": "none", "group_std": "group"}[options.get("scale", "none")],
    )
    return GRPOTrainer(
        model=model,
        reward_funcs=lambda earned, **_: earned,
        args=config,
        train_dataset=Dataset.from_dict({"prompt": names}),
        processing_class=tokenizer,
        rollout_func=play,
    )


def padded(rows):
    """Returns the batch of GKD from our episodes, each of one row."""
    width = max(len(row["tokens"]) for row in rows)
    batch: dict[str, list[list[int]]] = {"input_ids": [], "attention_mask": [], "labels": []}
    for row in rows:
        tokens, rest = row["tokens"], width - len(row["tokens"])
        batch["input_ids"].append(tokens + [0] * rest)
        batch["attention_mask"].append([1] * len(tokens) + [0] * rest)
        labels = [t if chosen else -100 for t, chosen in zip(tokens, row["mask"], strict=True)]
        batch["labels"].append(labels + [-100] * rest)
    return {name: torch.tensor(values) for name, values in batch.items()}


def distillation(case, model, tokenizer, output):
    rows = [row for episode in case["episodes"] for row in episode["rows"]]
    # The episodes are those of our policy: TRL generates none.
    config = GKDConfig(**settings(case, output, len(rows)), beta=1.0, lmbda=0.0, max_length=None)
    trainer = GKDTrainer(
        model=model,
        teacher_model=load(case["teacher"]),
        args=config,
        data_collator=padded,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    # The trainer leaves its temperature to generation, and compares the distributions at 1.
    trainer.generalized_jsd_loss = functools.partial(GKDTrainer.generalized_jsd_loss, temperature=case["temperature"])
    return trainer


TRAINERS = {"sft": sft, "dpo": dpo, "kto": kto, "grpo": grpo, "reward": reward}


def trainer_of(case):
    if case["options"].get("loss") == "orpo":
        return orpo
    return distillation if "distill_coefficient" in case["options"] else TRAINERS[case["kind"]]


def run(case):
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(case["before"])
    kind = case["kind"]
    start = dict(load(case["before"], kind).named_parameters())
    after = dict(load(case["after"], kind).named_parameters())
    with tempfile.TemporaryDirectory() as output:
        trainer = trainer_of(case)(case, load(case["before"], kind), tokenizer, output)
        trainer.train()
    steps = [entry for entry in trainer.state.log_history if "loss" in entry]
    theirs = {name: parameter.detach() for name, parameter in trainer.model.named_parameters()}
    change = max(float((theirs[name] - start[name]).detach().abs().max()) for name in start)
    difference = max(float((theirs[name] - after[name]).detach().abs().max()) for name in start)
    return {
        "losses": [entry["loss"] for entry in steps],
        "norms": [entry["grad_norm"] for entry in steps],
        "difference": difference / change,
    }


torch.set_num_threads(1)
stdout, sys.stdout = sys.stdout, sys.stderr  # trainers print
verdicts = [run(case) for case in json.load(sys.stdin)]
print(json.dumps(verdicts), file=stdout)
