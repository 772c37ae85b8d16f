// Cases that users of other trainers have reported.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "@jest/globals";
import { messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, score, type SupervisedSequence } from "@mrlm/spec";
import { trainRun } from "@mrlm/runtime";
import type { SampleResult } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine } from "@mrlm/testing";
import { counterEnvironment } from "./support/counter-environment.ts";
import { bigramEngine, collect, localHost, renderer, runner } from "./support/rollouts.ts";
import { bound } from "./support/throughput-engine.ts";
import { CONFIG, letters, prepare, removeTemporaryDirectories } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

test.each(["pipelined", "async"])(
  "R5: a run in mode %s whose evaluations are slower than its training ends with the last one, of all tasks",
  async (mode) => {
    const slow: EnvironmentDefinition<any> = {
      ...letters,
      id: "slow@1",
      create: async (context, options) => {
        const instance = await letters.create(context, options);
        return { ...instance, reset: async (given) => (await sleep(100), instance.reset(given)) };
      },
    };
    const run = {
      ...CONFIG,
      stages: [{ algorithm: "reinforce", steps: 5 }],
      play: { mode, lag: 1 },
      eval: { tasks: 4, every: 2, environments: [{ id: "slow" }] },
    };
    const { prepared, host } = await prepare(run, slow);
    const engine = new BigramEngine();
    const { status, evaluations } = await trainRun({ prepared, host, engine, openStore: openLocalStore });
    expect([status, evaluations.map(({ step }) => step)]).toEqual(["finished", [0, 2, 4, 5]]);
    for (const { results } of evaluations)
      expect(results).toMatchObject([{ tasks: 4, greedy: { episodes: 4, scored: 4, failed: 0 } }]);
  },
);

describe("R14: a context that is full", () => {
  const LIMIT = 64;
  // Beside its letters a prompt has <|user|>, <|end|>, and <|assistant|> before the answer.
  const promptOf = (length: number): string => "a".repeat(length - 3);

  /** Plays an episode whose policy always writes the same. It pays 1 for "ok", and counts answers that were cut. */
  async function play(observations: readonly string[], written: string, isStopped: boolean) {
    const environment = counterEnvironment({
      options: undefined,
      create: () => {
        let turn = 0;
        return {
          reset: async () => observe([textMessage("user", observations[0] as string)]),
          step: async ({ message, finishReason }) => {
            const next = observations[++turn];
            return singleStep({
              messages: next === undefined ? [] : [textMessage("user", next)],
              reward: score(Number(messageText(message) === "ok"), { cut: Number(finishReason === "length") }),
              terminated: next === undefined,
            });
          },
        };
      },
    });
    const [whole] = renderer.supervise([textMessage("user", "a"), textMessage("assistant", written)]);
    const chosen = (whole as SupervisedSequence).tokens.filter((_, t) => whole?.mask[t] === 1);
    const tokens = isStopped ? chosen : chosen.slice(0, -1);
    const result: SampleResult = {
      ...{ tokens, logprobs: new Float32Array(tokens.length).fill(-1), versions: new Int32Array(tokens.length) },
      ...{ stopReason: isStopped ? "stop" : "length", truncatedSupport: false },
    };
    const model = await bigramEngine();
    const engine = new Proxy(model, {
      get: (target, property) =>
        property === "sampler"
          ? async (name: string) => ({ ...bound(await target.sampler(name)), sample: async () => result })
          : Reflect.get(target, property).bind(target),
    });
    const host = await localHost(environment);
    const rollouts = await runner({ host, engine, tokenLimit: () => LIMIT });
    const [group] = await collect(rollouts, { tasks: ["train/0"], groupSize: 1 });
    const [trajectory] = group?.trajectories ?? [];
    expect(trajectory?.error).toBeUndefined();
    return trajectory?.agents["agent"];
  }

  test.each([
    ["a stop token", true, 0],
    ["its last letter", false, 1],
  ])("an answer of which %s is the last position keeps its reward and its end", async (_, isStopped, cut) => {
    const played = await play([promptOf(LIMIT - 2 - Number(isStopped))], "ok", isStopped);
    expect(played?.segments[0]?.tokens).toHaveLength(LIMIT);
    expect(played).toMatchObject({ total: score(1, { cut }), end: { terminated: true, truncated: false } });
  });

  test.each([
    ["10,000 characters", 10_000],
    ["all positions but that of an answer", LIMIT - 8],
  ])("an observation of %s truncates the episode by tokens, and earlier rewards stay", async (_, length) => {
    expect(await play([promptOf(5), promptOf(length)], "ok", true)).toMatchObject({
      total: score(1, { cut: 0 }),
      end: { terminated: false, truncated: true, truncatedBy: "tokens" },
      segments: [{ tokens: { length: 8 } }],
    });
  });
});

describe("R16: an episode of a group of four that fails", () => {
  /** Counts its instances, of which the first one fails in its first step. */
  function counting() {
    const counts = { created: 0, closed: 0, resets: 0 };
    const environment = counterEnvironment({
      create: async (context, options) => {
        const instance = await counterEnvironment().create(context, options);
        const isBroken = counts.created++ === 0;
        return {
          reset: (given) => (counts.resets++, instance.reset(given)),
          step: (...given) => {
            if (isBroken) throw new Error("broken");
            return instance.step(...given);
          },
          close: async () => void counts.closed++,
        };
      },
    });
    return { environment, counts };
  }

  test("is one failure, plays no other one again, and leaves no session open", async () => {
    const { environment, counts } = counting();
    const [group] = await collect(await runner({ host: await localHost(environment) }), { tasks: ["train/0"] });
    expect(group?.trajectories.map(({ error }) => error?.code)).toEqual([
      "ENVIRONMENT_FAILED",
      ...[undefined, undefined, undefined],
    ]);
    expect(counts).toEqual({ created: 4, closed: 4, resets: 4 });
  });
});
