import {
  type EnvironmentContext,
  type Judge,
  type Logger,
  MrlmError,
  type Scorer,
  type TaskSource,
  type Toolset,
  unscored,
} from "@mrlm/spec";
import { randomStream } from "@mrlm/kit";
import type { FileNames } from "./data-files.ts";
import type { PhaseClock } from "./phase-clock.ts";
import { declared, type Requirements } from "./requirements.ts";
import type { SessionTools } from "./session-tools.ts";

/** Task source of an environment without tasks. */
export const NO_TASKS: TaskSource = {
  splits: {},
  get: async (split, index) => {
    throw new MrlmError("TASK_NOT_FOUND", `There is no task ${split}/${index}: the environment has no task source.`);
  },
};

/** Creates the context of a session's environment. Scorers and judges return `unscored` if they fail or exceed their deadline; they never throw. */
export function environmentContext(parts: {
  readonly environment: string;
  readonly logger: Logger;
  readonly tasks: TaskSource;
  readonly requirements: Requirements;
  readonly clock: PhaseClock;
  readonly files: FileNames;
  readonly tools: SessionTools;
}): EnvironmentContext {
  const { environment, requirements, clock, tools } = parts;
  return {
    logger: parts.logger,
    tasks: parts.tasks,
    random: (name, seed) => randomStream(`environment/${environment}/${name}`, seed),
    scorer: (id) => guardScorer(id, declared<Scorer>(environment, requirements, "scorer", id), clock),
    judge: (id) => guardJudge(id, declared<Judge>(environment, requirements, "judge", id), clock),
    sandbox: (language) => declared(environment, requirements, "sandbox", language),
    tools: (id) => tools.of(id, declared<Toolset>(environment, requirements, "tool", id)),
    dataPath: (path) => parts.files.pathOf(path),
  };
}

function guardScorer(id: string, scorer: Scorer, clock: PhaseClock): Scorer {
  return {
    async score(request) {
      try {
        return await clock.score(() => scorer.score(request));
      } catch (error) {
        const reward = failedScore(`Scorer ${id}`, error);
        return { reward, verdict: "failed", reason: reward.message };
      }
    },
  };
}

function guardJudge(id: string, judge: Judge, clock: PhaseClock): Judge {
  return {
    async judge(request, options) {
      try {
        return await clock.score(() => judge.judge(request, options));
      } catch (error) {
        const reward = failedScore(`Judge ${id}`, error);
        return Object.fromEntries(request.agents.map((agent) => [agent, reward]));
      }
    },
  };
}

function failedScore(who: string, error: unknown): ReturnType<typeof unscored> {
  const code = MrlmError.hasCode(error, "DEADLINE_EXCEEDED") ? error.code : "SCORER_FAILED";
  return unscored(code, `${who} failed: ${messageOf(error)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
