"""Losses of GRPO and its variants, PPO and DPO from the formulas of their papers, with gradients by autograd.

Reads cases as JSON from stdin: options, and log-probabilities, values and rewards as numbers. Prints for each the
losses and the gradients.
"""

import json
import sys

import torch

torch.set_default_dtype(torch.float64)


def leaf(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def gradient(loss, leaves):
    found = torch.autograd.grad(loss, leaves, allow_unused=True)
    return [torch.zeros_like(each).tolist() if g is None else g.tolist() for each, g in zip(leaves, found, strict=True)]


def kl(name, now, reference):  # Schulman, "Approximating KL Divergence", 2020
    d = torch.clamp(now - reference, -10, 10)
    return {"k1": d, "k2": d**2 / 2, "k3": torch.exp(-d) - 1 + d}[name]


def importance(name, ratio):  # With k2 the reverse-KL gradient needs a weight that is a constant.
    return ratio.detach() if name == "k2" else ratio


def clipped(ratio, advantage, low, high, dual):  # arXiv 1707.06347, eq. 7; with dual_clip arXiv 1912.09729, eq. 5
    gain = torch.minimum(ratio * advantage, torch.clamp(ratio, 1 - low, 1 + high) * advantage)
    if dual is not None:
        gain = torch.where(torch.as_tensor(advantage) < 0, torch.maximum(gain, torch.as_tensor(dual * advantage)), gain)
    return -gain


def grpo(o, given):
    now, entropy = leaf(given["now"]), leaf(given["entropy"])
    low, high, dual = o.get("clip_low", 0.2), o.get("clip_high", 0.2), o.get("dual_clip")
    kind, aggregation = o["policy_loss"], o["aggregation"]
    policy, divergence, uncertainty, start = 0.0, 0.0, 0.0, 0
    for episode in given["episodes"]:
        n, a = len(episode["sampled"]), episode["advantage"]
        at = slice(start, start + n)
        start += n
        p, trainer = now[at], torch.tensor(given["old"][at])
        sampler, reference = torch.tensor(episode["sampled"]), torch.tensor(given["reference"][at])
        old = sampler if o["old_policy"] == "sampler" else trainer
        ratio = torch.exp(torch.clamp(p - old, -10, 10))
        if kind == "clip":
            loss = clipped(ratio, a, low, high, dual)
        elif kind == "gspo":  # arXiv 2507.18071, eq. 5 and 7
            loss = clipped(torch.exp(torch.clamp((p.sum() - old.sum()) / n, -10, 10)), a, low, high, dual).expand(n)
        elif kind == "cispo":  # arXiv 2506.13585, eq. 4 and 5, without a lower bound
            loss = -torch.clamp(ratio, max=1 + high).detach() * a * p
        else:  # after arXiv 2512.01374
            d = 1 / (1 + episode["age"])
            cap = o["minirl_cap"]
            masked = (ratio > 1 + (low + o["minirl_epsilon_high"]) * cap * d) if a > 0 else (ratio < 1 - low * cap * d)
            loss = torch.where(masked, torch.zeros(n), -ratio.detach() * a * p)
        trust = torch.exp(trainer - sampler)
        cap = o.get("mismatch_cap", 2.0)
        if o.get("mismatch") == "truncate":
            loss = loss * torch.clamp(trust, max=cap)
        elif o.get("mismatch") == "mask":
            loss = loss * torch.where((trust > cap) | (trust < 1 / cap), torch.zeros(n), trust)
        weight = 1 / n if aggregation == "sequence_mean" else 1.0
        policy = policy + weight * loss.sum()
        if "kl_coefficient" in o:
            value = kl(o["kl_estimator"], p, reference)
            divergence = (
                divergence
                + weight
                * o["kl_coefficient"]
                * (importance(o["kl_estimator"], ratio) * value if o["kl_importance"] else value).sum()
            )
        uncertainty = uncertainty + weight * entropy[at].sum()
    episodes = len(given["episodes"])
    z = {"token_mean": start, "sequence_mean": episodes, "constant": episodes * given["max_tokens"]}[aggregation]
    logprob, slope = gradient((policy + divergence - o["entropy_coefficient"] * uncertainty) / z, [now, entropy])
    return {"policy": float(policy) / z, "kl": float(divergence) / z, "logprob": logprob, "entropy": slope}


def gae(rewards, values, final, gamma, lam):  # arXiv 1506.02438, eq. 16, as the sum that it is
    v = [*values, final]
    deltas = [r + gamma * v[t + 1] - v[t] for t, r in enumerate(rewards)]
    return [sum((gamma * lam) ** k * deltas[t + k] for k in range(len(deltas) - t)) for t in range(len(deltas))]


def behaviour(o, logs, lengths):  # arXiv 2110.00641: proximal against behaviour policy, bounded
    if o.get("mismatch", "none") == "none":
        return torch.ones_like(logs)
    level, cap = o.get("mismatch_level", "token"), o["mismatch_cap"]
    reduce = {
        "token": lambda x: x,
        "sequence": lambda x: x.sum().expand(len(x)),
        "geometric": lambda x: x.mean().expand(len(x)),
    }
    w = torch.exp(torch.cat([reduce[level](episode) for episode in torch.split(logs, lengths)]))
    if o["mismatch"] == "truncate":
        return torch.clamp(w, max=cap)
    return torch.where((w > cap) | (w < o.get("mismatch_floor", 1 / cap)), torch.zeros_like(w), w)


def ppo(o, given):
    beta, placement = o.get("kl_coefficient", 0.0), o.get("kl_placement", "reward")
    advantages, targets = [], []
    for group, unit in zip(given["groups"], given["units"], strict=True):
        start = 0
        for e, episode in enumerate(group):
            n = len(episode["rewards"])
            at = slice(start, start + n)
            start += n
            rewards = episode["rewards"]
            if beta > 0 and placement == "reward":
                most = o.get("kl_clip", float("inf"))
                rewards = [
                    r - beta * min(most, max(-most, a - b))
                    for r, a, b in zip(rewards, unit["old"][at], unit["reference"][at], strict=True)
                ]
            values, final = unit["values"][at], unit["finals"][e] if episode["isTruncated"] else 0.0
            advantages += gae(rewards, values, final, o["gamma"], o["gae_lambda"])
            targets += [
                v + a
                for v, a in zip(
                    values, gae(rewards, values, final, o["gamma"], o.get("value_lambda", o["gae_lambda"])), strict=True
                )
            ]
    a, target = torch.tensor(advantages), torch.tensor(targets)
    if o["whiten_advantages"]:
        a = (a - a.mean()) / (a.std() + 1e-8)
    every = {
        name: [x for unit in given["units"] for x in unit[name]]
        for name in ("now", "sampled", "old", "reference", "values", "value", "entropy")
    }
    now, value, entropy = leaf(every["now"]), leaf(every["value"]), leaf(every["entropy"])
    ratio = torch.exp(torch.clamp(now - torch.tensor(every["old"]), -10, 10))
    lengths = [len(episode["rewards"]) for group in given["groups"] for episode in group]
    trust = behaviour(o, torch.tensor(every["old"]) - torch.tensor(every["sampled"]), lengths)
    kept = (trust > 0).double() if o.get("mismatch") == "drop" else torch.ones_like(trust)
    policy = (trust * clipped(ratio, a, o["clip_low"], o["clip_high"], o.get("dual_clip"))).sum()
    divergence = torch.zeros(())
    if beta > 0 and placement == "loss":
        divergence = (
            beta
            * (
                kept
                * importance(o["kl_estimator"], ratio)
                * kl(o["kl_estimator"], now, torch.tensor(every["reference"]))
            ).sum()
        )
    before, c = torch.tensor(every["values"]), o.get("value_clip", float("inf"))
    errors = torch.maximum((value - target) ** 2, (torch.clamp(value, before - c, before + c) - target) ** 2)
    value_loss = errors.sum() / 2
    coefficient = o.get("value_coefficient", 0.5 if o["critic"] == "shared" else 1.0)
    total = policy + divergence - o["entropy_coefficient"] * (kept * entropy).sum() + coefficient * value_loss
    logprob, slope, values = gradient(total, [now, entropy, value])
    return {
        "policy": float(policy),
        "kl": float(divergence),
        "value_loss": float(value_loss),
        "logprob": logprob,
        "entropy": slope,
        "value": values,
    }


def dpo(o, given):
    w, r = given["chosen"], given["rejected"]
    pw, pr = leaf(w["policy"]), leaf(r["policy"])
    won, lost = pw - w["reference"], pr - r["reference"]
    beta, eps, z = o["beta"], o.get("label_smoothing", 0.0), given["divergence"]
    if o["loss"] == "sigmoid":  # arXiv 2305.18290, eq. 7
        p = torch.sigmoid(beta * (won - lost))
        loss = -(1 - eps) * torch.log(p) - eps * torch.log(1 - p)
    elif o["loss"] == "hinge":  # arXiv 2305.10425
        loss = torch.clamp(1 - beta * (won - lost), min=0)
    elif o["loss"] == "ipo":  # arXiv 2310.12036, eq. 17
        loss = (won / w["tokens"] - lost / r["tokens"] - 1 / (2 * beta)) ** 2
    elif o["loss"] == "simpo":  # arXiv 2405.14734, eq. 6
        p = torch.sigmoid(beta * pw / w["tokens"] - beta * pr / r["tokens"] - o["simpo_margin"])
        loss = -(1 - eps) * torch.log(p) - eps * torch.log(1 - p)
    elif o["loss"] == "orpo":  # arXiv 2403.07691, eq. 3 to 7
        likely, unlikely = torch.exp(pw / w["tokens"]), torch.exp(pr / r["tokens"])
        odds_ratio = (likely / (1 - likely)) / (unlikely / (1 - unlikely))
        loss = -pw / w["tokens"] - beta * torch.log(torch.sigmoid(torch.log(odds_ratio)))
    else:  # arXiv 2402.01306, eq. 8
        loss = (w["tokens"] > 0) * o["kto_desirable_weight"] * (1 - torch.sigmoid(beta * (won - z)))
        loss = loss + (r["tokens"] > 0) * o["kto_undesirable_weight"] * (1 - torch.sigmoid(beta * (z - lost)))
    if w["tokens"] > 0:
        loss = loss - o.get("nll_coefficient", 0.0) * pw / w["tokens"]
    return {"loss": float(loss), "slopes": gradient(loss, [pw, pr])}


print(
    json.dumps(
        [
            {"grpo": grpo, "ppo": ppo, "dpo": dpo}[case["kind"]](case["options"], case["given"])
            for case in json.load(sys.stdin)
        ]
    )
)
