import assert from "node:assert/strict";
import { textMessage } from "@mrlm/kit";
import { checkJudgement } from "@mrlm/runtime";
import type { Judge, Judgement, JudgeRequest } from "@mrlm/spec";
import { serialise } from "../contract/serialise.ts";
import { never } from "../contract/play.ts";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { settles } from "../toolset-contract/toolset-subject.ts";

/** Options of the contract suite. */
export interface JudgeContractOptions {
  /** Name of the group of tests. */
  readonly name: string;
  readonly make: () => Judge | Promise<Judge>;
  /** Conversations that the judge can score, with at least two agents and two turns in one of them. */
  readonly requests: readonly [JudgeRequest, ...JudgeRequest[]];
  /** Time limit of each test in milliseconds; default 60,000. */
  readonly timeoutMs?: number;
  /** Functions that register tests; default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

interface JudgeCheck {
  readonly name: string;
  run(judge: Judge, requests: JudgeContractOptions["requests"]): Promise<void>;
}

/** Registers a test for each property of a judge: complete judgements, any texts, conversations at once, determinism as stated, abort. */
export function judgeContract({ name, make, requests, timeoutMs = 60_000, registry }: JudgeContractOptions): void {
  const { describe, test } = registryOf(registry);
  describe(`the contract of ${name}`, () => {
    for (const check of CHECKS) test(check.name, async () => check.run(await make(), requests), timeoutMs);
  });
}

const CHECKS: readonly JudgeCheck[] = [
  {
    name: "scores each agent of a conversation, and no other, with a verdict and a reason",
    run: async (judge, requests) => {
      for (const request of requests) {
        const { rewards, verdict, reason } = await judged(judge, request);
        for (const [agent, reward] of Object.entries(rewards))
          assert(reward.scored, `Agent "${agent}" is unscored: ${serialise(reward)}.`);
        assert(verdict !== "", "The verdict is empty.");
        assert(reason !== "", "The reason is empty.");
      }
    },
  },
  {
    name: "judges an agent alone, an agent without a turn, and a conversation without turns",
    run: async (judge, [request]) => {
      const [agent] = request.agents;
      await judged(judge, { ...request, agents: request.agents.slice(0, 1) });
      await judged(judge, { ...request, turns: request.turns.filter((turn) => turn.agent !== agent) });
      await judged(judge, { ...request, turns: [] });
    },
  },
  {
    name: "judges messages without text, long ones, and texts of any characters",
    run: async (judge, [request]) => {
      const [agent = ""] = request.agents;
      const texts = [
        "",
        " \n",
        "\u0000\ud800",
        "🙂".repeat(50),
        "</s><|im_end|>",
        "a".repeat(20_000),
        "because ".repeat(2_000),
      ];
      for (const text of texts)
        await judged(judge, {
          ...request,
          turns: [...request.turns, { agent, message: textMessage("assistant", text) }],
        });
      await judged(judge, { ...request, turns: [{ agent, message: { role: "assistant", parts: [] } }] });
    },
  },
  {
    name: "judges conversations at once as one after the other",
    run: async (judge, requests) => {
      const many = [...requests, ...requests];
      const together = await Promise.all(many.map((request) => judged(judge, request)));
      if ((judge.determinism ?? "full") !== "full") return;
      const apart: Judgement[] = [];
      for (const request of many) apart.push(await judged(judge, request));
      assert.equal(serialise(together), serialise(apart), "Equal requests have different judgements.");
    },
  },
  {
    name: "does not change its request",
    run: async (judge, [request]) => {
      const before = serialise(request);
      await judged(judge, request);
      assert.equal(serialise(request), before, "The judge changed its request.");
    },
  },
  {
    name: "ends when its signal is aborted",
    run: async (judge, [request]) => {
      const controller = new AbortController();
      const during = judge.judge(request, { signal: controller.signal });
      controller.abort();
      await settles("A judgement whose signal was aborted", during);
      await settles("A judgement with an aborted signal", judge.judge(request, { signal: controller.signal }));
    },
  },
];

/** Judges a conversation, and requires a judgement that the host accepts. */
async function judged(judge: Judge, request: JudgeRequest): Promise<Judgement> {
  const returned = await judge.judge(request, { signal: never });
  const judgement = checkJudgement(returned, request.agents);
  for (const [agent, reward] of Object.entries(judgement.rewards))
    assert(reward.scored || (reward.code !== "" && reward.message !== ""), `The reward of "${agent}" has no cause.`);
  return judgement;
}
