import { describe, expect, test } from "@jest/globals";
import { definePlugin, messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { gradesOf, judgementsOf } from "@mrlm/kit/learning";
import { type Grade, score, type Scorer, unscored } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { overGrpc } from "@mrlm/testing";
import { counterEnvironment, messageOf, never } from "./support/counter-environment.ts";
import { collect, runner } from "./support/rollouts.ts";
import { SessionJudgements } from "../src/host/session-judgements.ts";

/** Host of an environment with two turns, each of which is graded `times` times. */
async function hostOf(scorer: Scorer, { times = 1, expected = "right", deadlines = {} } = {}): Promise<LocalHost> {
  const definition = counterEnvironment({
    requires: ["scorer:test@1"],
    deadlines,
    create: (context) => {
      let step = 0;
      return {
        reset: async () => ((step = 0), observe([textMessage("user", "go")])),
        async step({ message }, { signal }) {
          const request = { answer: messageText(message), expected, signal };
          const grades = await Promise.all(Array.from({ length: times }, () => context.scorer("test").score(request)));
          const { reward } = grades[0] as Grade;
          return singleStep({ reward, messages: [textMessage("user", "again")], terminated: ++step === 2 });
        },
      };
    },
  });
  const plugin = definePlugin({ name: "test", environments: [definition], scorers: { "test@1": () => scorer } });
  return new LocalHost({ source: await PluginHost.of([plugin]) });
}

const grade: Grade = {
  reward: score(0.5, { near: 1 }),
  verdict: "different",
  reason: "too short",
  extracted: "4",
  detail: { secret: "the expected answer" },
};

/** Plays two steps. Returns the `judgements` of each. */
async function graded(scorer: Scorer, options?: Parameters<typeof hostOf>[1]) {
  const session = await (await hostOf(scorer, options)).open({ id: "counter" });
  await session.reset({ signal: never });
  const first = await session.step(messageOf("4"), { signal: never });
  const second = await session.step(messageOf("5"), { signal: never });
  return [first, second].map(({ info }) => info?.["judgements"]);
}

describe("the grades of a scorer", () => {
  const transports: Record<string, (host: EnvironmentHost) => Promise<EnvironmentHost>> = {
    "in process": async (host) => host,
    "over gRPC": overGrpc(),
  };
  test.each(Object.keys(transports))("are in the trajectory, without their detail, %s", async (name) => {
    const host = (await transports[name]?.(await hostOf({ score: async () => grade }))) as EnvironmentHost;
    try {
      const request = { tasks: ["train/0"], groupSize: 1, sampling: { temperature: 1, maxTokens: 2 } };
      const [group] = await collect(await runner({ host }), request);
      const [trajectory] = group?.trajectories ?? [];
      expect(trajectory?.error).toBeUndefined();
      const { detail: _, ...stored } = grade;
      const info = trajectory?.info ?? {};
      expect(gradesOf({ info })).toEqual([0, 1].map((step) => ({ scorer: "test@1", step, agent: "agent", ...stored })));
      expect(judgementsOf({ info })).toEqual([]);
      expect(JSON.stringify(info)).not.toContain("expected answer");
    } finally {
      await host.close();
    }
  });

  test("of a scorer that fails have its error as the reason", async () => {
    const failing: Scorer = { score: async () => Promise.reject(new Error("no memory")) };
    const reward = unscored("SCORER_FAILED", "Scorer test@1 failed: no memory");
    expect(await graded(failing)).toMatchObject([
      [{ scorer: "test@1", step: 0, verdict: "failed", reward, reason: reward.message }],
      [{ step: 1, reward }],
    ]);
  });

  test.each([
    ["17 is not 4", "4", "[expected] is not 4"],
    ["17 is not 4", "it is 17", "17 is not 4"],
    ["17 is not 170", "170", "[expected] is not 170"],
    ["17/2 or 1.7e17, (17)", "4", "[expected]/2 or 1.7e17, ([expected])"],
  ])("have no expected answer in the reason %j to the answer %j", async (reason, answer, recorded) => {
    const scorer: Scorer = { score: async () => ({ reward: score(0), verdict: "different", reason }) };
    const session = await (await hostOf(scorer, { expected: " 17 " })).open({ id: "counter" });
    await session.reset({ signal: never });
    const { info } = await session.step(messageOf(answer), { signal: never });
    expect(info?.["judgements"]).toMatchObject([{ reason: recorded }]);
  });

  test("have short texts, without half of a character, and 64 of a step at most", async () => {
    const long = "\u{1f642}".repeat(10_000);
    const scorer: Scorer = {
      score: async () => ({ reward: score(0), verdict: `x${long}`, reason: `x${long}`, extracted: `x${long}` }),
    };
    const [first] = (await graded(scorer, { times: 100 })) as { [name: string]: string }[][];
    expect(first).toHaveLength(64);
    for (const [name, length] of Object.entries({ verdict: 100, reason: 2_000, extracted: 500 })) {
      const text = first?.[0]?.[name] ?? "";
      expect([name, text.length, text.isWellFormed()]).toEqual([name, length + 3, true]);
    }
  });
});

test("a judgement after many grades of a step is recorded", () => {
  const judgements = new SessionJudgements();
  for (let i = 0; i < 100; i++) judgements.begin({ scorer: "test@1" })(grade);
  judgements.begin({ judge: "test@1" })({ rewards: {}, verdict: "tie", reason: "" });
  expect(judgements.take(0, "agent")?.slice(63)).toMatchObject([{ scorer: "test@1" }, { judge: "test@1" }]);
});
