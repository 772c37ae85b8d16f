import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import type { JsonObject, JsonValue, RandomStream } from "@mrlm/spec";
import { preferenceLoss } from "../../algorithms/dpo/src/losses/index.ts";
import { dpoOptions } from "../../algorithms/dpo/src/options.ts";
import { grpoOptions } from "../../algorithms/grpo/src/options.ts";
import { ppoOptions } from "../../algorithms/ppo/src/options.ts";
import { normalizerOf } from "../../algorithms/grpo/src/aggregation.ts";
import { LossMetrics } from "../../algorithms/grpo/src/loss-metrics.ts";
import { unitLoss } from "../../algorithms/grpo/src/unit-loss.ts";
import { FrozenBatch } from "../../algorithms/ppo/src/frozen-batch.ts";
import { PpoMetrics } from "../../algorithms/ppo/src/metrics.ts";
import { policyGradients } from "../../algorithms/ppo/src/policy-loss.ts";
import { valueGradients } from "../../algorithms/ppo/src/value-loss.ts";
import { installed } from "./support/real-engine.ts";

/** One loss: what went in, and the loss and the gradients that came out. */
interface Case {
  readonly kind: string;
  readonly options: JsonObject;
  readonly given: JsonObject;
  readonly found: Readonly<Record<string, number | readonly number[]>>;
}

const CASES = 120;
/** Part of an episode, of which credits alone read the names. */
const PART = { trajectory: "episode", agent: "agent" };
const MAX_TOKENS = 12;
const list = (values: ArrayLike<number>): number[] => Array.from(values);

/** Returns numbers between these bounds, with the precision of the protocol. */
const numbers = (random: RandomStream, count: number, low: number, high: number): Float32Array =>
  Float32Array.from({ length: count }, () => low + (high - low) * random.next());
const logprobs = (random: RandomStream, count: number): Float32Array => numbers(random, count, -2.5, -0.1);

function grpoCase(random: RandomStream): Case {
  const loss = random.pick(["clip", "gspo", "cispo", "minirl"]);
  const old = random.pick(["trainer", "trainer", "sampler"]);
  const kl = random.pick([0, 0.3]);
  const mismatch = old === "sampler" ? "none" : random.pick(["none", "truncate", "mask"]);
  const options: JsonObject = {
    policy_loss: loss,
    ...(loss === "cispo" ? {} : { clip_low: random.pick([0.1, 0.4]) }),
    ...(loss === "minirl"
      ? { minirl_epsilon_high: random.pick([0, 0.3]), minirl_cap: random.pick([1, 3]) }
      : { clip_high: random.pick([0.15, 0.28, 3]) }),
    ...((loss === "clip" || loss === "gspo") && random.next() < 0.5 ? { dual_clip: 1.5 } : {}),
    aggregation: random.pick(["token_mean", "sequence_mean", "constant"]),
    old_policy: old,
    ...(mismatch === "none" ? {} : { mismatch, mismatch_cap: random.pick([1.2, 2]) }),
    ...(kl === 0
      ? {}
      : { kl_coefficient: kl, kl_estimator: random.pick(["k1", "k2", "k3"]), kl_importance: random.next() < 0.5 }),
    entropy_coefficient: random.pick([0, 0.02]),
  };
  const parsed = grpoOptions.parse({ steps: 1, ...options });
  const episodes = Array.from({ length: 4 }, () => {
    const sampled = logprobs(random, random.integer(1, 6));
    return { ...PART, rows: [], sampled, advantage: random.next() * 4 - 2, age: random.integer(0, 3) };
  });
  const group = { episodes };
  const count = episodes.reduce((sum, { sampled }) => sum + sampled.length, 0);
  const near = (values: readonly number[]): Float32Array =>
    Float32Array.from(values, (value) => value + random.next() * 1.6 - 0.8);
  const sampled = episodes.flatMap((episode) => list(episode.sampled));
  const frozen = { old: near(sampled), reference: logprobs(random, count) };
  const now = near(list(frozen.old));
  const entropy = numbers(random, count, 0, 3);
  const normalizer = normalizerOf([group], parsed.aggregation, MAX_TOKENS);
  const outputs = { logprob: now, ...(parsed.entropy_coefficient > 0 ? { entropy } : {}) };
  const metrics = new LossMetrics();
  const gradients = unitLoss(group, kl > 0 ? frozen : { old: frozen.old }, outputs, parsed, metrics, true);
  const meanOf = (name: string): number => {
    const metric = metrics.report(normalizer)[name] as { readonly sum: number; readonly count: number } | undefined;
    return metric === undefined ? 0 : metric.sum / metric.count;
  };
  const scaled = (values: ArrayLike<number> | undefined): number[] =>
    list(values ?? new Float32Array(count)).map((value) => value / normalizer);
  return {
    kind: "grpo",
    options,
    given: {
      episodes: episodes.map(({ sampled: each, advantage, age }) => ({ sampled: list(each), advantage, age })),
      old: list(frozen.old),
      reference: list(frozen.reference),
      now: list(now),
      entropy: list(entropy),
      max_tokens: MAX_TOKENS,
    },
    found: {
      policy: meanOf("loss/policy"),
      kl: meanOf("loss/kl"),
      logprob: scaled(gradients.logprob),
      entropy: scaled(gradients.entropy),
    },
  };
}

function ppoCase(random: RandomStream): Case {
  const placement = random.pick(["reward", "loss"]);
  const kl = random.pick([0, 0.4]);
  const options: JsonObject = {
    clip_low: random.pick([0.1, 0.3]),
    clip_high: random.pick([0.2, 0.5]),
    ...(random.next() < 0.5 ? { dual_clip: 1.3 } : {}),
    ...random.pick<JsonObject>([
      { old_policy: "sampler" },
      {},
      { mismatch: "truncate", mismatch_cap: 1.5 },
      { mismatch: "mask", mismatch_cap: 4, mismatch_floor: 0.5 },
      { mismatch: "mask", mismatch_cap: 4, mismatch_level: random.pick(["sequence", "geometric"]) },
      { mismatch: "drop", mismatch_cap: 2 },
    ]),
    gamma: random.pick([1, 0.9]),
    gae_lambda: random.pick([0, 0.95, 1]),
    ...(random.next() < 0.5 ? { value_lambda: random.pick([0.5, 1]) } : {}),
    whiten_advantages: random.next() < 0.5,
    critic: random.pick(["separate", "shared"]),
    ...(random.next() < 0.5 ? { value_coefficient: 0.7 } : {}),
    ...(random.next() < 0.5 ? { value_clip: 0.3 } : {}),
    ...(kl === 0
      ? {}
      : {
          kl_coefficient: kl,
          kl_placement: placement,
          ...(placement === "loss"
            ? { kl_estimator: random.pick(["k1", "k2", "k3"]) }
            : random.next() < 0.5
              ? { kl_clip: 0.5 }
              : {}),
        }),
    entropy_coefficient: random.pick([0, 0.02]),
  };
  const parsed = ppoOptions.parse({ steps: 1, ...options });
  const groups = Array.from({ length: 2 }, () =>
    Array.from({ length: 2 }, () => {
      const count = random.integer(1, 6);
      // One row of an episode; what matters of it here is that it is there.
      return {
        ...PART,
        rows: [{ tokens: new Int32Array(), mask: new Uint8Array(), segment: 0 }],
        sampled: logprobs(random, count),
        rewards: Float64Array.from(numbers(random, count, -1, 1)),
        isTruncated: random.next() < 0.5,
      };
    }),
  );
  const batch = new FrozenBatch(groups, parsed, kl);
  const metrics = new PpoMetrics();
  const given = groups.map((group, unit) => {
    const count = group.reduce((sum, { sampled }) => sum + sampled.length, 0);
    const [old, reference, values, finals] = [
      logprobs(random, count),
      logprobs(random, count),
      numbers(random, count, -1, 1),
      numbers(random, group.length, -1, 1),
    ];
    if (kl > 0) batch.freezeReference(unit, reference);
    batch.freezeLogprobs(unit, old);
    batch.freezeValues(unit, { value: values, finalValue: finals });
    const trusted =
      parsed.old_policy === "sampler" ? Float32Array.from(group.flatMap(({ sampled }) => list(sampled))) : old;
    const now = trusted.map((value) => value + random.next() - 0.5);
    return {
      sampled: Float32Array.from(group.flatMap(({ sampled }) => list(sampled))),
      old: trusted,
      reference,
      values,
      finals,
      now,
      entropy: numbers(random, count, 0, 3),
      value: values.map((value) => value + random.next() - 0.5),
    };
  });
  if (parsed.whiten_advantages) batch.whiten();
  const found = given.map(({ now, entropy, value }, unit) => {
    const policy = policyGradients(
      batch.episodes(unit),
      { logprob: now, ...(parsed.entropy_coefficient > 0 ? { entropy } : {}) },
      parsed,
      kl,
      metrics,
    );
    return {
      logprob: list(policy.logprob ?? []),
      entropy: list(policy.entropy ?? new Float32Array(now.length)),
      value: list(valueGradients(batch.estimates(unit), value, parsed, metrics).value ?? []),
    };
  });
  const report = metrics.report() as Readonly<Record<string, { readonly sum: number }>>;
  const flat = (name: "logprob" | "entropy" | "value"): number[] => found.flatMap((each) => each[name]);
  return {
    kind: "ppo",
    options,
    given: {
      groups: groups.map((group) => group.map(({ rewards, isTruncated }) => ({ rewards: list(rewards), isTruncated }))),
      units: given.map((unit) =>
        Object.fromEntries(Object.entries(unit).map(([name, values]) => [name, list(values)])),
      ) as JsonValue,
    },
    found: {
      policy: report["loss/policy"]?.sum ?? 0,
      kl: report["loss/kl"]?.sum ?? 0,
      value_loss: report["loss/value"]?.sum ?? 0,
      logprob: flat("logprob"),
      entropy: flat("entropy"),
      value: flat("value"),
    },
  };
}

function dpoCase(random: RandomStream): Case {
  const loss = random.pick(["sigmoid", "hinge", "ipo", "simpo", "orpo", "kto"]);
  const options: JsonObject = {
    loss,
    beta: random.pick([0.1, 0.5, 2]),
    ...(loss === "sigmoid" || loss === "simpo" ? { label_smoothing: random.pick([0, 0.2]) } : {}),
    ...(loss === "simpo" ? { simpo_margin: random.pick([0, 1]) } : {}),
    ...(loss === "kto"
      ? { kto_desirable_weight: random.pick([1, 1.4]), kto_undesirable_weight: random.pick([0, 1]) }
      : {}),
    ...(loss === "orpo" ? {} : { nll_coefficient: random.pick([0, 0.3]) }),
  };
  const answer = () => ({ policy: -8 * random.next(), reference: -8 * random.next(), tokens: random.integer(1, 7) });
  const absent = { policy: 0, reference: 0, tokens: 0 };
  const divergence = random.next();
  const [chosen, rejected] = random.pick([
    [answer(), answer()],
    ...(loss === "kto"
      ? [
          [answer(), absent],
          [absent, answer()],
        ]
      : []),
  ]) as [ReturnType<typeof answer>, ReturnType<typeof answer>];
  const {
    loss: value,
    chosenSlope,
    rejectedSlope,
  } = preferenceLoss(chosen, rejected, dpoOptions.parse({ steps: 1, ...options }), divergence);
  return {
    kind: "dpo",
    options,
    given: { chosen, rejected, divergence },
    found: { loss: value, slopes: [chosenSlope, rejectedSlope] },
  };
}

// Skipped where the engine's Python environment is not installed (npm run setup).
(installed === undefined ? describe.skip : describe)(
  "random combinations of options against the papers' formulas, written once more in torch",
  () => {
    const cases = Object.entries({ grpo: grpoCase, ppo: ppoCase, dpo: dpoCase }).flatMap(([name, make]) =>
      Array.from({ length: CASES }, (_, i) => make(randomStream(`formulas/${name}/${i}`, 0))),
    );
    let expected: Case["found"][];

    beforeAll(() => {
      const { stdout, stderr, status } = spawnSync(
        installed?.executable as string,
        [join(import.meta.dirname, "formulas.py")],
        { input: JSON.stringify(cases), encoding: "utf8", maxBuffer: 1e8 },
      );
      if (status !== 0) throw new Error(stderr);
      expected = JSON.parse(stdout) as Case["found"][];
    }, 120_000);

    test.each(["grpo", "ppo", "dpo"])("%s: losses and gradients", (kind) => {
      const wrong = cases.flatMap(({ kind: own, options, found }, i) =>
        own !== kind
          ? []
          : Object.entries(found).flatMap(([name, values]) =>
              differs([values].flat(), [expected[i]?.[name] ?? []].flat())
                ? [{ case: i, name, options, values, expected: expected[i]?.[name] }]
                : [],
            ),
      );
      expect(wrong).toEqual([]);
    });
  },
);

function differs(found: readonly number[], expected: readonly number[]): boolean {
  return (
    found.length !== expected.length ||
    found.some((value, i) => !(Math.abs(value - (expected[i] as number)) <= 2e-6 * Math.max(1, Math.abs(value))))
  );
}
