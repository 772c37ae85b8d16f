import assert from "node:assert/strict";
import { textMessage } from "@mrlm/kit";
import { checkJudgement } from "@mrlm/runtime";
import type { Judge, JudgeExample, Judgement, JudgeRequest, Reward } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import { serialise } from "../contract/serialise.ts";
import { never } from "../contract/play.ts";
import { withOpened } from "../provision/bind-provision.ts";
import { settles } from "../provision/settles.ts";
import type { Source } from "../provision/source.ts";

/** Judge under check. */
export interface JudgeSubject {
  readonly judge: Judge;
  readonly examples: readonly [JudgeExample, ...JudgeExample[]];
  readonly openFailing: Source<Judge>["openFailing"];
}

/** Checks of judgements: form, any texts, examples, determinism, abort, failures. */
export const judgeChecks: readonly Check<JudgeSubject>[] = [
  {
    code: "RESULT_MALFORMED",
    name: "scores each agent of a conversation, and no other, with a verdict and a reason",
    run: async ({ judge, examples }) => {
      for (const { request } of examples) {
        const { rewards, verdict, reason } = await judged(judge, request);
        for (const [agent, reward] of Object.entries(rewards))
          assert(reward.scored, `Agent "${agent}" is unscored: ${serialise(reward)}.`);
        assert(verdict !== "", "The verdict is empty.");
        assert(reason !== "", "The reason is empty.");
      }
    },
  },
  {
    code: "EXAMPLE_OUTCOME",
    name: "gives the best agent of each example the highest reward",
    run: async ({ judge, examples }) => {
      for (const { request, best } of examples) {
        if (best === undefined) continue;
        const { rewards } = await judged(judge, request);
        const own = valueOf(rewards[best]);
        assert(own !== undefined, `The examples name "${best}" the best agent, which is unscored or not judged.`);
        for (const [agent, reward] of Object.entries(rewards))
          assert(
            agent === best || own > (valueOf(reward) ?? Infinity),
            `Agent "${best}" earns ${own}, and "${agent}" ${valueOf(reward) ?? "is unscored"}.`,
          );
      }
    },
  },
  {
    code: "INPUT_REFUSED",
    name: "judges an agent alone, an agent without a turn, and a conversation without turns",
    run: async ({ judge, examples: [{ request }] }) => {
      const [agent] = request.agents;
      await judged(judge, { ...request, agents: request.agents.slice(0, 1) });
      await judged(judge, { ...request, turns: request.turns.filter((turn) => turn.agent !== agent) });
      await judged(judge, { ...request, turns: [] });
    },
  },
  {
    code: "INPUT_REFUSED",
    name: "judges messages without text, long ones, and texts of any characters",
    run: async ({ judge, examples: [{ request }] }) => {
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
    code: "RESULT_UNSTABLE",
    name: "judges conversations at once as one after the other",
    run: async ({ judge, examples }) => {
      const many = [...examples, ...examples];
      const together = await Promise.all(many.map(({ request }) => judged(judge, request)));
      if ((judge.determinism ?? "full") !== "full") return;
      const apart: Judgement[] = [];
      for (const { request } of many) apart.push(await judged(judge, request));
      assert.equal(serialise(together), serialise(apart), "Equal requests have different judgements.");
    },
  },
  {
    code: "REQUEST_CHANGED",
    name: "does not change its request",
    run: async ({ judge, examples: [{ request }] }) => {
      const given = structuredClone(request);
      const before = serialise(given);
      await judge.judge(given, { signal: never });
      assert.equal(serialise(given), before, "The judge changed its request.");
    },
  },
  {
    code: "CALL_ABORT_IGNORED",
    name: "ends when its signal is aborted",
    run: async ({ judge, examples: [{ request }] }) => {
      const controller = new AbortController();
      const during = judge.judge(request, { signal: controller.signal });
      controller.abort();
      await settles("A judgement whose signal was aborted", during);
      await settles("A judgement with an aborted signal", judge.judge(request, { signal: controller.signal }));
    },
  },
  {
    code: "FAILURE_SCORED",
    name: "scores nothing while what it uses fails",
    run: async ({ judge, examples: [{ request }], openFailing }) => {
      if (openFailing === undefined) return;
      const usual = (await judged(judge, request)).rewards;
      const failed = await withOpened(openFailing, (failing) => judged(failing, request).catch(() => undefined));
      for (const [agent, reward] of Object.entries(failed?.rewards ?? {}))
        assert(
          !reward.scored || reward.value === valueOf(usual[agent]),
          `While the model or service that it uses fails, "${agent}" earns ${valueOf(reward)}.`,
        );
    },
  },
];

function valueOf(reward: Reward | undefined): number | undefined {
  return reward?.scored === true ? reward.value : undefined;
}

/** Judges a conversation, and requires a judgement that the host accepts. */
async function judged(judge: Judge, request: JudgeRequest): Promise<Judgement> {
  let returned: unknown;
  try {
    returned = await judge.judge(structuredClone(request), { signal: never });
  } catch (error) {
    throw new Defect("INPUT_REFUSED", `\`judge\` threw: ${String(error)}`, { about: "judge", cause: error });
  }
  let judgement: Judgement;
  try {
    judgement = checkJudgement(returned, request.agents);
  } catch (error) {
    throw new Defect("RESULT_MALFORMED", `A judgement: ${(error as Error).message}.`, { about: "judge" });
  }
  for (const [agent, reward] of Object.entries(judgement.rewards))
    assert(reward.scored || (reward.code !== "" && reward.message !== ""), `The reward of "${agent}" has no cause.`);
  return judgement;
}
