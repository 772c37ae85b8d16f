import {
  type AgentId,
  type Grade,
  type Judge,
  type Judgement,
  MrlmError,
  type Scorer,
  type ScoreRequest,
  unscored,
} from "@mrlm/spec";
import { traced } from "@mrlm/kit/service";
import type { PhaseClock } from "./phase-clock.ts";
import type { SessionJudgements } from "./session-judgements.ts";
import { validateResult } from "./validate-result.ts";

/** Parts of a session that guarded graders use. */
interface Grading {
  readonly clock: PhaseClock;
  readonly judgements: SessionJudgements;
}

/**
 * Returns a scorer that never throws: its grade is unscored if it fails, returns no grade or exceeds its deadline, which also aborts its signal. Each grade is
 * recorded.
 */
export function guardScorer(id: string, scorer: Scorer, { clock, judgements }: Grading): Scorer {
  return {
    async score(request) {
      const record = judgements.begin({ scorer: id });
      const grade = await clock
        .score(request.signal, (options) =>
          traced(
            `score ${id}`,
            () => ({ "mrlm.scorer": id }),
            () => scorer.score({ ...request, ...options }),
          ),
        )
        .then(checkGrade)
        .catch((error: unknown): Grade => {
          const reward = failedScore(`Scorer ${id}`, error);
          return { reward, verdict: "failed", reason: reward.message };
        });
      record({ ...grade, reason: withoutExpected(grade.reason, request) });
      return grade;
    },
  };
}

/**
 * Returns a judge that never throws. Every agent is unscored if it fails, returns no judgement of exactly the agents of the request, or exceeds its
 * deadline, which also aborts its signal. Each judgement is recorded.
 */
export function guardJudge(id: string, judge: Judge, { clock, judgements }: Grading): Judge {
  return {
    async judge(request, { signal: caller }) {
      const record = judgements.begin({ judge: id });
      const judgement = await clock
        .score(caller, (options) =>
          traced(
            `judge ${id}`,
            () => ({ "mrlm.judge": id }),
            () => judge.judge(request, options),
          ),
        )
        .then((returned) => checkJudgement(returned, request.agents))
        .catch((error: unknown): Judgement => {
          const reward = failedScore(`Judge ${id}`, error);
          const rewards = Object.fromEntries(request.agents.map((agent) => [agent, reward]));
          return { rewards, verdict: "failed", reason: reward.message };
        });
      record(judgement);
      return judgement;
    },
  };
}

/** Longest expected answer that is looked for in a reason. */
const MAX_EXPECTED = 1_000;

/**
 * Returns a reason without the expected answer, which is private: the record goes to clients. The policy's own answer may have it, and the question.
 */
function withoutExpected(reason: string, { expected, answer, question = "" }: ScoreRequest): string {
  const text = expected.trim();
  if (text === "" || text.length > MAX_EXPECTED) return reason;
  const pattern = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "gu");
  return [answer, question].some((given) => given.search(whole) >= 0) ? reason : reason.replaceAll(whole, "[expected]");
}

/** Returns a grade without unknown members. Throws a TypeError for one that is malformed. */
export function checkGrade(returned: unknown): Grade {
  const checked = validateResult<Grade>("grade", returned);
  if ("problem" in checked) throw new TypeError(`it returned a malformed grade: ${checked.problem}`);
  return checked.value;
}

/** Returns a judgement without unknown members. Throws a TypeError for one that is malformed, or that is not of exactly these agents. */
export function checkJudgement(returned: unknown, agents: readonly AgentId[]): Judgement {
  const checked = validateResult<Judgement>("judgement", returned);
  if ("problem" in checked) throw new TypeError(`it returned a malformed judgement: ${checked.problem}`);
  const { rewards } = checked.value;
  const missing = agents.find((agent) => !Object.hasOwn(rewards, agent));
  if (missing !== undefined) throw new TypeError(`its judgement has no reward for the agent "${missing}"`);
  const other = Object.keys(rewards).find((agent) => !agents.includes(agent));
  if (other !== undefined) throw new TypeError(`its judgement has a reward for "${other}", which it was not to judge`);
  return checked.value;
}

function failedScore(who: string, error: unknown): ReturnType<typeof unscored> {
  const code = MrlmError.hasCode(error, "DEADLINE_EXCEEDED", "CANCELLED") ? error.code : "SCORER_FAILED";
  return unscored(code, `${who} failed: ${error instanceof Error ? error.message : String(error)}`);
}
