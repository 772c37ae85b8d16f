"""GRPO, SFT, DPO and PPO losses written once more, in torch, with gradients by autograd.

Reads cases as JSON from stdin. For each: starts from the checkpoint `before`, makes the same updates, and compares with
the checkpoint `after`. Prints for each case the gradient norms, the largest difference of any weight relative to the
largest change of any, and the policy's loss before the first update.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM


def load(directory):
    config = AutoConfig.from_pretrained(directory)
    config.pad_token_id = None  # if a pad token is set, the embedding drops the gradient of sampled pad tokens
    return AutoModelForCausalLM.from_pretrained(directory, config=config, dtype=torch.float32)


def outputs(model, episode, temperature):
    """Returns the log-probabilities and entropies of the masked tokens of all rows."""
    logprobs, entropies = [], []
    for row in episode["rows"]:
        tokens = torch.tensor(row["tokens"])[None]
        positions = torch.tensor([t for t, chosen in enumerate(row["mask"]) if chosen])
        log_p = torch.log_softmax(model(input_ids=tokens).logits[0].float() / temperature, -1)[positions - 1]
        logprobs.append(log_p.gather(1, tokens[0, positions][:, None])[:, 0])
        entropies.append(-(log_p.exp() * log_p).sum(-1))
    return torch.cat(logprobs), torch.cat(entropies)


def advantages(episodes, options):
    groups: dict[str, list[dict[str, Any]]] = {}
    for episode in episodes:
        groups.setdefault(episode["group"], []).append(episode)
    for members in groups.values():
        rewards = torch.tensor([member["reward"] for member in members], dtype=torch.float64)
        n = len(members)
        if options.get("baseline") == "leave_one_out":
            centred = rewards - (rewards.sum() - rewards) / (n - 1)
        else:
            centred = rewards - rewards.mean()
        if options.get("scale") == "group_std":
            centred = centred / (rewards.std() + 1e-4)
        for member, advantage in zip(members, centred.tolist(), strict=True):
            member["advantage"] = advantage
    if options.get("scale") == "batch_std":
        deviation = torch.tensor([episode["advantage"] for episode in episodes], dtype=torch.float64).std() + 1e-4
        for episode in episodes:
            episode["advantage"] /= deviation.item()


def surrogate(now, old, advantage, options):
    low, high = options.get("clip_low", 0.2), options.get("clip_high", 0.2)
    ratio = (now - old).exp()
    kind = options.get("policy_loss", "clip")
    if kind == "cispo":
        return -ratio.clamp(max=1 + high).detach() * advantage * now
    if kind == "minirl":
        reach = options.get("minirl_cap", 4.0)  # the samples are fresh
        outside = (
            (ratio > 1 + (low + options.get("minirl_epsilon_high", 0.1)) * reach)
            if advantage > 0
            else (ratio < 1 - low * reach)
        )
        return torch.where(outside, 0.0, -ratio.detach() * advantage * now)
    if kind == "gspo":
        ratio = (now - old).mean().exp().expand_as(now)
    loss = -torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)
    return loss.clamp(max=-options["dual_clip"] * advantage) if "dual_clip" in options and advantage < 0 else loss


def divergence(now, old, reference, options):
    d = now - reference
    value = {"k1": d, "k2": d * d / 2, "k3": (-d).exp() - 1 + d}[options.get("kl_estimator", "k3")]
    return (now - old).exp() * value if options.get("kl_importance", True) else value


def grpo_loss(model, case, old):
    options, episodes = case["options"], case["episodes"]
    temperature = case["temperature"]
    aggregation = options.get("aggregation", "token_mean")
    tokens = sum(len(o) for o in old)
    normalizer = {"token_mean": tokens, "sequence_mean": len(episodes), "constant": len(episodes) * case["max_tokens"]}[
        aggregation
    ]
    policy, total = 0.0, 0.0
    for episode, before in zip(episodes, old, strict=True):
        now, entropy = outputs(model, episode, temperature)
        weight = 1 / len(now) if aggregation == "sequence_mean" else 1.0
        part = weight * surrogate(now, before, episode["advantage"], options).sum()
        policy = policy + part.item()
        # The reference is the policy before the first update, and so are the old log-probabilities.
        part = part + options.get("kl_coefficient", 0) * weight * divergence(now, before, before, options).sum()
        part = part - options.get("entropy_coefficient", 0) * weight * entropy.sum()
        total = total + part
    return total / normalizer, policy / normalizer


def action_estimates(episodes, options):
    """Returns the advantages, whitened, and targets of each episode of one turn, while the critic still returns 0
    everywhere.
    """
    decay = options["gamma"] * options["gae_lambda"]
    raw = []
    for episode in episodes:
        n = sum(sum(row["mask"]) for row in episode["rows"])
        # The last token has the reward; every value is 0, so the errors before it are 0.
        raw.append(torch.tensor([episode["reward"] * decay ** (n - 1 - t) for t in range(n)], dtype=torch.float64))
    every = torch.cat(raw)
    return [(((each - every.mean()) / (every.std() + 1e-8)).float(), each.float()) for each in raw]


def values(model, head, episode):
    """Returns the values of the states before the masked tokens."""
    found = []
    for row in episode["rows"]:
        hidden = model.base_model(input_ids=torch.tensor(row["tokens"])[None]).last_hidden_state[0]
        positions = torch.tensor([t for t, chosen in enumerate(row["mask"]) if chosen])
        found.append(hidden[positions - 1] @ head["weight"] + head["bias"])
    return torch.cat(found)


def value_loss(model, head, episode, target, options):
    now, clip = values(model, head, episode), options.get("value_clip", math.inf)
    return 0.5 * torch.maximum((now - target) ** 2, (now.clamp(-clip, clip) - target) ** 2).sum()


def ppo_loss(model, case, old):
    """Returns the loss of the policy; with a shared trunk, also that of the values."""
    options, episodes = case["options"], case["episodes"]
    total: Any = 0.0
    for episode, before, (advantage, target) in zip(episodes, old, action_estimates(episodes, options), strict=True):
        now, entropy = outputs(model, episode, case["temperature"])
        ratio = (now - before).exp()
        bounded = ratio.clamp(1 - options["clip_low"], 1 + options["clip_high"])
        part = (
            -torch.minimum(ratio * advantage, bounded * advantage).sum()
            - options.get("entropy_coefficient", 0) * entropy.sum()
        )
        if options.get("critic") == "shared":
            part = part + options["value_coefficient"] * value_loss(model, case["head"], episode, target, options)
        total = total + part
    loss = total / sum(len(each) for each in old)
    return loss, loss.item()


def critic_loss(model, case, old):
    options, episodes = case["options"], case["episodes"]
    estimates = action_estimates(episodes, options)
    parts = [
        value_loss(model, case["head"], episode, target, options)
        for episode, (_, target) in zip(episodes, estimates, strict=True)
    ]
    loss = sum(parts) / sum(len(each) for each in old)
    return loss, loss.item()


def sft_loss(model, case, _old):
    nll = [-outputs(model, episode, 1.0)[0] for episode in case["episodes"]]
    tokens = sum(len(part) for part in nll)
    mean = sum(part.sum() for part in nll).item() / tokens
    if case["options"].get("aggregation") == "sequence_mean":
        return sum(part.mean() for part in nll) / len(nll), mean
    return sum(part.sum() for part in nll) / tokens, mean


def dpo_loss(model, case, old):
    """Returns the loss. Pairs are two adjacent episodes; the reference is the policy before the first update."""
    options, episodes = case["options"], case["episodes"]
    kind, beta = options.get("loss", "sigmoid"), options.get("beta", 0.1)
    logsigmoid, smoothing = torch.nn.functional.logsigmoid, options.get("label_smoothing", 0.0)
    now = [outputs(model, episode, 1.0)[0] for episode in episodes]
    divergence = mismatched(model, case) if kind == "kto" else 0.0
    losses = []
    for i in range(0, len(episodes), 2):
        won, lost = now[i] - old[i], now[i + 1] - old[i + 1]
        if kind == "ipo":
            loss = (won.mean() - lost.mean() - 1 / (2 * beta)) ** 2
        elif kind == "hinge":
            loss = torch.relu(1 - beta * (won.sum() - lost.sum()))
        elif kind == "orpo":
            won, lost = (now[k].mean().exp() for k in (i, i + 1))
            odds_ratio = won / (1 - won) / (lost / (1 - lost))
            loss = -now[i].mean() - beta * torch.log(torch.sigmoid(torch.log(odds_ratio)))
        elif kind == "kto":
            loss = 2 - torch.sigmoid(beta * (won.sum() - divergence)) - torch.sigmoid(beta * (divergence - lost.sum()))
        else:
            simpo = beta * (now[i].mean() - now[i + 1].mean()) - options.get("simpo_margin", 0.5)
            u = simpo if kind == "simpo" else beta * (won.sum() - lost.sum())
            loss = -(1 - smoothing) * logsigmoid(u) - smoothing * logsigmoid(-u)
        losses.append(loss - options.get("nll_coefficient", 0.0) * now[i].mean())
    loss = torch.stack(losses).mean()
    return loss, loss.item()


def labelled_loss(model, case, old):
    """Returns the loss of KTO on single answers."""
    options, episodes = case["options"], case["episodes"]
    beta, divergence = options["beta"], mismatched(model, case, 1)
    losses = []
    for episode, before in zip(episodes, old, strict=True):
        now = outputs(model, episode, 1.0)[0]
        ratio = now.sum() - before.sum()
        if episode["label"]:
            loss = options.get("kto_desirable_weight", 1) * (1 - torch.sigmoid(beta * (ratio - divergence)))
            loss = loss - options.get("nll_coefficient", 0.0) * now.mean()
        else:
            loss = options.get("kto_undesirable_weight", 1) * (1 - torch.sigmoid(beta * (divergence - ratio)))
        losses.append(loss)
    loss = torch.stack(losses).mean()
    return loss, loss.item()


@torch.no_grad()
def mismatched(model, case, step=2):
    """Returns the mean of log pi - log ref over answers after the prompt `step` episodes before them, at least 0."""
    episodes, reference = case["episodes"], load(case["before"])
    total = 0.0
    for i, episode in enumerate(episodes):
        asked, answered = episode["rows"][0], episodes[(i + step) % len(episodes)]["rows"][0]
        sampled = [t for t, chosen in zip(answered["tokens"], answered["mask"], strict=True) if chosen]
        prompt = asked["tokens"][: asked["mask"].index(1)]
        row = {"tokens": prompt + sampled, "mask": [0] * len(prompt) + [1] * len(sampled)}
        total += float((outputs(model, {"rows": [row]}, 1.0)[0] - outputs(reference, {"rows": [row]}, 1.0)[0]).sum())
    return max(0.0, total / len(episodes))


def scores(model, head, row):
    """Returns the values of the states after the last token of each run of the mask, the stop token of a turn."""
    ends = [t for t, chosen in enumerate(row["mask"]) if chosen and not (row["mask"] + [0])[t + 1]]
    hidden = model.base_model(input_ids=torch.tensor(row["tokens"])[None]).last_hidden_state[0]
    return hidden[torch.tensor(ends)] @ head["weight"] + head["bias"]


def reward_loss(model, case, _old):
    """Returns the loss of a reward model. Pairs are two adjacent episodes."""
    episodes, center = case["episodes"], case["options"].get("center_coefficient", 0.0)
    found = [scores(model, case["head"], episode["rows"][-1])[-1] for episode in episodes]
    losses = []
    for i in range(0, len(found), 2):
        won, lost = found[i], found[i + 1]
        losses.append(
            -torch.nn.functional.logsigmoid(won - lost - case["margins"][i // 2]) + center * (won + lost) ** 2
        )
    loss = torch.stack(losses).mean()
    return loss, loss.item()


def steps_loss(model, case, _old):
    found = torch.cat([scores(model, case["head"], row) for episode in case["episodes"] for row in episode["rows"]])
    labels = torch.tensor([label for episode in case["episodes"] for label in episode["labels"]])
    loss = torch.nn.functional.binary_cross_entropy_with_logits(found, labels)
    return loss, loss.item()


LOSSES = {
    "reward": reward_loss,
    "steps": steps_loss,
    "grpo": grpo_loss,
    "sft": sft_loss,
    "dpo": dpo_loss,
    "kto": labelled_loss,
    "ppo": ppo_loss,
    "critic": critic_loss,
}


def run(case):
    torch.manual_seed(0)
    model, options = load(case["before"]), case["options"]
    is_reward = case["kind"] in ("reward", "steps")
    has_head = is_reward or case["kind"] == "critic" or options.get("critic") == "shared"
    size = model.config.hidden_size
    case["head"] = (
        {"weight": torch.zeros(size, requires_grad=True), "bias": torch.zeros(1, requires_grad=True)}
        if has_head
        else {}
    )
    if is_reward:
        saved = load_file(Path(case["before"]) / "value_head.safetensors")
        case["head"] = {name: tensor.clone().requires_grad_() for name, tensor in saved.items()}
    learnt = {**dict(model.named_parameters()), **case["head"]}
    start = {name: parameter.detach().clone() for name, parameter in learnt.items()}
    if case["kind"] == "grpo":
        advantages(case["episodes"], options)
    with torch.no_grad():
        old = [outputs(model, episode, case["temperature"])[0] for episode in case["episodes"]]
    norms, first = [], None
    for _ in range(options["steps"] * options.get("updates_per_step", 1)):
        for parameter in learnt.values():
            parameter.grad = None
        loss, reported = LOSSES[case["kind"]](model, case, old)
        loss.backward()
        first = reported if first is None else first
        gradients = {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in learnt.items()}
        norms.append(math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients.values())))
        with torch.no_grad():  # Adam with betas of 0 and an epsilon far above every gradient
            for name, parameter in learnt.items():
                g = gradients[name]
                parameter -= options["learning_rate"] * g / (g.abs() + options["adam_epsilon"])
    found = dict(load(case["after"]).named_parameters())
    if has_head:
        found.update(load_file(Path(case["after"]) / "value_head.safetensors"))
    change = max(float((parameter - start[name]).abs().max()) for name, parameter in learnt.items())
    difference = max(float((parameter - found[name]).abs().max()) for name, parameter in learnt.items())
    verdict = {"norms": norms, "loss": first, "change": change, "difference": difference / change}
    if case["kind"] == "ppo" and not has_head:
        critic = run(
            {
                **case,
                "kind": "critic",
                "after": f"{case['after']} critic",
                "options": {**options, "learning_rate": options["critic_learning_rate"]},
            }
        )
        verdict["difference"] = max(verdict["difference"], critic["difference"])
    return verdict


torch.set_num_threads(1)
print(json.dumps([run(case) for case in json.load(sys.stdin)]))
