import {
  type EnvironmentContext,
  type Judge,
  type Logger,
  MrlmError,
  type Sandbox,
  type SandboxSession,
  type Scorer,
  type TaskSource,
  type Toolset,
  type Workspaces,
} from "@mrlm/spec";
import { randomStream } from "@mrlm/kit";
import type { FileNames } from "./data-files.ts";
import type { PhaseClock } from "./phase-clock.ts";
import { guardJudge, guardScorer } from "./guarded-graders.ts";
import { queuedSandbox } from "./queued-sandbox.ts";
import { declared, type Requirements } from "./requirements.ts";
import type { SessionJudgements } from "./session-judgements.ts";
import type { SessionTools } from "./session-tools.ts";
import { episodeWorkspaces } from "./episode-workspaces.ts";

/** Trace of the call under way in a session. */
export interface CallTrace {
  current: string | undefined;
}

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
  readonly judgements: SessionJudgements;
  /** Trace of the call under way; absent outside of sessions. */
  readonly trace?: CallTrace;
}): EnvironmentContext {
  const { environment, requirements, clock, tools, judgements, trace } = parts;
  const sandboxSessions: SandboxSession[] = [];
  return {
    logger: parts.logger,
    get trace() {
      return trace?.current;
    },
    tasks: parts.tasks,
    random: (name, seed) => randomStream(`environment/${environment}/${name}`, seed),
    scorer: (name) => {
      const { id, service } = declared<Scorer>(environment, requirements, "scorer", name);
      return guardScorer(id, service, { clock, judgements });
    },
    judge: (name) => {
      const { id, service } = declared<Judge>(environment, requirements, "judge", name);
      return guardJudge(id, service, { clock, judgements });
    },
    sandbox: (language) =>
      queuedSandbox(declared<Sandbox>(environment, requirements, "sandbox", language).service, clock, sandboxSessions),
    tools: (source) =>
      typeof source === "string"
        ? tools.of(source, declared<Toolset>(environment, requirements, "tool", source).service)
        : tools.of(environment, source),
    workspaces: (platform) => {
      const { id, service } = declared<Workspaces>(environment, requirements, "workspace", platform);
      return episodeWorkspaces(id, service, { clock, tools });
    },
    dataPath: (path) => parts.files.pathOf(path),
  };
}
