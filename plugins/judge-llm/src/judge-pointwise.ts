import { encodeData } from "@mrlm/model-client";
import { type AgentId, type Reward, score } from "@mrlm/kit";
import { type Answered, ask } from "./ask.ts";
import { labelConversation } from "./conversation.ts";
import { pointwisePrompt } from "./prompts.ts";
import type { JudgedAgents, Judging } from "./judging.ts";
import { type Assessment, assessmentFault, assessmentForm, partOfScale, weightedMean } from "./verdict-forms.ts";
import { verdictOf } from "./verdict-of.ts";
import { majorityOf, median } from "./votes.ts";

interface JudgedAgent {
  readonly reward: Reward;
  readonly answers: readonly Answered<Assessment>[];
  readonly cut: number;
}

/** Scores each agent by the rubric, in requests of its own: a failure concerns one agent. The reward is the weighted mean of the scores, from 0 to 1. */
export async function judgePointwise(judging: Judging): Promise<JudgedAgents> {
  const { agents } = judging.request;
  const judged = await Promise.all(agents.map(async (agent) => await judgeAgent(judging, agent)));
  const rewards = Object.fromEntries(agents.map((agent, index) => [agent, (judged[index] as JudgedAgent).reward]));
  return {
    rewards,
    verdict: verdictOf(rewards),
    reasons: agents.flatMap((agent, index) =>
      judged[index]!.answers.slice(0, 1).map(({ value }) => `${agent}: ${value.reasons}`),
    ),
    answers: judged.flatMap(({ answers }) => answers),
    detail: {
      scores: Object.fromEntries(
        agents.map((agent, index) => [agent, judged[index]!.answers.map(({ value }) => value.scores)]),
      ),
    },
    cut: judged[0]?.cut ?? 0,
  };
}

async function judgeAgent({ client, request, options, call }: Judging, agent: AgentId): Promise<JudgedAgent> {
  const { rubric, instructions, votes, max_tokens, temperature } = options;
  const order = [agent, ...request.agents.filter((other) => other !== agent)];
  const { items, cut } = labelConversation(request, order, options);
  const outcomes = await Promise.all(
    Array.from({ length: votes }, async (_, vote) => {
      const data = encodeData(items, ["pointwise", vote]);
      return await ask<Assessment>(
        client,
        {
          system: pointwisePrompt({ rubric, instructions, data }, "A"),
          user: data.text,
          output: assessmentForm(rubric),
          contradiction: (value) => assessmentFault(value, rubric),
          maxTokens: max_tokens,
          temperature,
          vote,
        },
        call,
      );
    }),
  );
  const result = majorityOf(outcomes);
  if ("failure" in result) return { reward: result.failure, answers: [], cut };
  const scores = Object.fromEntries(
    rubric.map(({ name }) => [name, median(result.answered.map(({ value }) => value.scores[name] as number))]),
  );
  const components = Object.fromEntries(rubric.map(({ name }) => [name, partOfScale(scores[name] as number)]));
  return { reward: score(partOfScale(weightedMean(scores, rubric)), components), answers: result.answered, cut };
}
