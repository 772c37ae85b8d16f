import {
  type Determinism,
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type Logger,
  MrlmError,
  type Policy,
  type TaskSource,
} from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentPackage, ScriptedPlayer } from "@mrlm/spec/host";
import { describeThrown } from "../plugins/error-location.ts";
import type { Services } from "../plugins/plugin-kinds.ts";
import { describeIssues, validateOptions } from "../plugins/standard-options.ts";
import { type FileNames, RecordedFiles } from "./data-files.ts";
import { type Deadlines, deadlinesOf } from "./deadlines.ts";
import { type CallTrace, environmentContext, NO_TASKS } from "./environment-context.ts";
import { PhaseClock } from "./phase-clock.ts";
import { gatherRequirements, type Requirements } from "./requirements.ts";
import { resolvedDeterminism, resolvedRewardRange } from "./resolved-definition.ts";
import { rolesOf } from "./roles.ts";
import { createScriptedPolicy } from "./scripted-policies.ts";
import { SessionJudgements } from "./session-judgements.ts";
import { SessionTools } from "./session-tools.ts";
import { Session, type SessionPlan } from "./session.ts";
import { settleReset } from "./task-choice.ts";

/** Environment under one set of options, validated once, with one task source for all its sessions. */
export interface PreparedEnvironment {
  readonly definition: EnvironmentDefinition;
  readonly description: EnvironmentDescription;
  readonly options: unknown;
  readonly tasks: TaskSource;
  readonly requirements: Requirements;
  readonly deadlines: Deadlines;
  readonly files: FileNames;
}

/** Validates the options, creates the required services, and creates the task source. */
export async function prepareEnvironment(
  definition: EnvironmentDefinition,
  given: JsonObject | undefined,
  host: {
    readonly services: Services;
    readonly logger: Logger;
    readonly deadlines: Deadlines;
    readonly files: FileNames;
    readonly providedBy: EnvironmentPackage | undefined;
  },
): Promise<PreparedEnvironment> {
  const options = await parseOptions(definition, given);
  const { files, logger } = host;
  const deadlines = deadlinesOf(definition.deadlines, host.deadlines);
  const clock = new PhaseClock(definition.id, deadlines);
  const named = new RecordedFiles(files);
  const contextWith = (requirements: Requirements): EnvironmentContext =>
    environmentContext({
      environment: definition.id,
      logger,
      tasks: NO_TASKS,
      requirements,
      clock,
      files: named,
      tools: new SessionTools(clock, logger),
      judgements: new SessionJudgements(),
    });
  const { requires = [] } = definition;
  const required =
    typeof requires === "function"
      ? await clock.run("setup", [], async () => requires.call(definition, contextWith(new Map()), options))
      : requires.map((id) => ({ id, asker: `environment ${definition.id}` }));
  const requirements = await gatherRequirements(definition.id, required, host.services);
  const context = contextWith(requirements);
  const tasks =
    definition.tasks === undefined
      ? NO_TASKS
      : await makeTasks(definition, () => clock.run("setup", [], () => definition.tasks?.(context, options)));
  const dataFiles = await named.hashes();
  const description = {
    ...describeEnvironment(definition, {
      tasks,
      options,
      providedBy: host.providedBy,
      determinism: await clock.run("setup", [], () => resolvedDeterminism(definition, options, requirements)),
      rewardRange: await clock.run("setup", [], () => resolvedRewardRange(definition, options)),
    }),
    ...(dataFiles === undefined ? {} : { dataFiles }),
  };
  return { definition, description, options, tasks, requirements, deadlines, files };
}

/** Creates a scripted policy for one agent of one episode. */
export function openScriptedPolicy(prepared: PreparedEnvironment, logger: Logger, player: ScriptedPlayer): Policy {
  const { clock, context } = sessionParts(prepared, logger);
  return createScriptedPolicy(prepared.definition, context, clock, player);
}

/** Opens a session with its own instance of the environment. */
export function openSession(
  prepared: PreparedEnvironment,
  logger: Logger,
  { name, onClose }: { readonly name: string; readonly onClose: () => void },
): Session {
  const { definition, description, options, tasks } = prepared;
  const { context, ...parts } = sessionParts(prepared, logger, name);
  return new Session({
    ...parts,
    description,
    logger,
    create: () => definition.create(context, options),
    settle: (reset) => settleReset(definition, description.determinism, tasks, reset),
    onClose,
  });
}

function sessionParts(
  { definition, tasks, requirements, deadlines, files }: PreparedEnvironment,
  logger: Logger,
  session = "",
): Pick<SessionPlan, "clock" | "judgements" | "tools" | "trace"> & { readonly context: EnvironmentContext } {
  const clock = new PhaseClock(definition.id, deadlines, session);
  const tools = new SessionTools(clock, logger);
  const judgements = new SessionJudgements();
  const trace: CallTrace = { current: undefined };
  const context = environmentContext({
    environment: definition.id,
    ...{ logger, tasks, requirements, clock, files, tools, judgements, trace },
  });
  return { clock, tools, judgements, trace, context };
}

async function parseOptions(definition: EnvironmentDefinition, given: JsonObject | undefined): Promise<unknown> {
  if (definition.options === undefined) {
    const key = Object.keys(given ?? {})[0];
    if (key !== undefined)
      throw new MrlmError("OPTIONS_INVALID", `Environment ${definition.id} takes no options; it was given "${key}".`);
    return {};
  }
  const outcome = await validateOptions(definition.options, given ?? {});
  if (outcome.ok) return outcome.value;
  throw new MrlmError(
    "OPTIONS_INVALID",
    `Options of environment ${definition.id}: ${describeIssues(outcome.issues, definition.options)}.`,
    {
      cause: { issues: outcome.issues },
    },
  );
}

async function makeTasks(
  definition: EnvironmentDefinition,
  make: () => Promise<TaskSource | undefined>,
): Promise<TaskSource> {
  try {
    const tasks = await make();
    const problem = problemOf(tasks);
    if (tasks !== undefined && problem === undefined) return tasks;
    throw new MrlmError(
      "ENVIRONMENT_FAILED",
      `Environment ${definition.id} returned something malformed from tasks: ${problem}.`,
    );
  } catch (error) {
    if (MrlmError.isInstance(error)) throw error;
    throw new MrlmError("ENVIRONMENT_FAILED", `Environment ${definition.id} threw in tasks: ${describeThrown(error)}`, {
      cause: error,
    });
  }
}

/** Returns the fault of a task source, if it has one. */
function problemOf(source: Partial<TaskSource> | undefined): string | undefined {
  if (typeof source?.get !== "function") return "it has no get()";
  if (typeof source.splits !== "object") return "it has no splits";
  const [name, size] =
    Object.entries(source.splits).find(([, count]) => !Number.isSafeInteger(count) || count < 0) ?? [];
  return name === undefined ? undefined : `split "${name}" has ${size} tasks, which is not a whole number of 0 or more`;
}

/** Describes an environment with its tasks. Without options an environment whose determinism depends on them promises the least. */
export function describeEnvironment(
  definition: EnvironmentDefinition,
  {
    tasks = NO_TASKS,
    options,
    providedBy,
    ...resolved
  }: {
    readonly tasks?: TaskSource;
    /** Parsed options; absent for a description without them. */
    readonly options?: unknown;
    readonly determinism?: Determinism;
    readonly rewardRange?: readonly [number, number];
    readonly providedBy?: EnvironmentPackage | undefined;
  } = {},
): EnvironmentDescription {
  const stated = typeof definition.determinism === "function" ? "none" : definition.determinism;
  return {
    id: definition.id,
    description: definition.description,
    determinism: resolved.determinism ?? stated,
    ...(definition.snapshots === true && { snapshots: true }),
    roles: rolesOf(definition, options),
    ...(definition.optionsJsonSchema === undefined ? {} : { optionsJsonSchema: definition.optionsJsonSchema }),
    splits: { ...tasks.splits },
    orderedSplits: [...(tasks.orderedSplits ?? [])],
    maxTurns: definition.maxTurns ?? 0,
    hasDemonstrations: definition.demonstrate !== undefined,
    rewardComponents: definition.rewardComponents ?? [],
    ...(resolved.rewardRange !== undefined && { rewardRange: resolved.rewardRange }),
    ...(providedBy !== undefined && { providedBy }),
  };
}
