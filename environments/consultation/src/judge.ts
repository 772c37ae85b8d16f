import {
  type AgentId,
  type Judge,
  type JudgedTurn,
  type Judgement,
  type JudgeRequest,
  messageText,
  type Reward,
  score,
  unscored,
} from "@mrlm/kit";
import { z } from "zod";
import { CONDITIONS } from "./conditions.ts";
import { conditionIn, diagnosisIn, findingsIn, polarityOf, type Style } from "./language.ts";

/** Share of the doctor's reward that is for the diagnosis; the rest is for questions. */
const DIAGNOSIS = 0.8;

const requestSchema = z.object({
  task: z.object({
    public: z.object({ present: z.array(z.string()) }),
    private: z.object({ condition: z.int() }),
  }),
  options: z.object({
    style: z.enum(["words", "terse"]),
    questions: z.int().positive(),
    conditions: z.int().min(2).max(CONDITIONS.length),
  }),
});

/**
 * Judge `consultation@1` by rules. The doctor earns 0.8 for the right diagnosis and 0.2 times the share of its questions that ask for one more finding. The patient
 * earns the share of these questions that it answers truthfully.
 */
export const consultationJudge: Judge = {
  determinism: "full",
  async judge(request: JudgeRequest): Promise<Judgement> {
    const { success, data } = requestSchema.safeParse(request);
    if (!success) {
      const none = unscored("SCORER_FAILED", "consultation@1 judges the consultations of consultation@1 alone.");
      return {
        rewards: Object.fromEntries(request.agents.map((agent) => [agent, none])),
        verdict: "undecided",
        reason: "The request is no consultation.",
      };
    }
    const { task, options } = data;
    const exchanges = exchangesOf(request.turns);
    const last = request.turns.findLast(({ agent }) => agent === "doctor");
    const isAnswered = request.turns.at(-1)?.agent === "patient";
    const text = last === undefined || isAnswered ? undefined : diagnosisIn(messageText(last.message), options, true);
    const isRight = text !== undefined && conditionIn(text, options) === task.private.condition;
    const { asked, truthful } = countAnswers(exchanges, options, new Set(task.public.present));
    const questions = Math.min(1, asked / options.questions);
    const truth = asked === 0 ? 0 : truthful / asked;
    const right = isRight ? 1 : 0;
    const earned: Readonly<Record<AgentId, Reward>> = {
      doctor: score(DIAGNOSIS * right + (1 - DIAGNOSIS) * questions, { diagnosis: right, questions }),
      patient: score(truth, { truth }),
    };
    return {
      rewards: Object.fromEntries(
        request.agents.map((agent) => [
          agent,
          earned[agent] ?? unscored("SCORER_FAILED", `consultation@1 does not judge "${agent}".`),
        ]),
      ),
      verdict: isRight ? "right" : "wrong",
      reason: `The diagnosis is ${isRight ? "right" : "wrong"}; ${truthful} of ${asked} questions have a truthful answer.`,
      detail: { asked, truthful },
    };
  },
};

interface Exchange {
  readonly question: string;
  readonly answer: string;
}

/** Returns each question with its answer. */
function exchangesOf(turns: readonly JudgedTurn[]): Exchange[] {
  return turns.flatMap(({ agent, message }, i) => {
    const next = turns[i + 1];
    return agent === "doctor" && next?.agent === "patient"
      ? [{ question: messageText(message), answer: messageText(next.message) }]
      : [];
  });
}

/** Counts the questions that ask for exactly one finding, for the first time, and their truthful answers. */
function countAnswers(
  exchanges: readonly Exchange[],
  style: Style,
  present: ReadonlySet<string>,
): { readonly asked: number; readonly truthful: number } {
  const seen = new Set<string>();
  let truthful = 0;
  for (const { question, answer } of exchanges) {
    const [finding, ...others] = findingsIn(question, style);
    if (finding === undefined || others.length > 0 || seen.has(finding)) continue;
    seen.add(finding);
    if (polarityOf(answer) === present.has(finding)) truthful++;
  }
  return { asked: seen.size, truthful };
}
