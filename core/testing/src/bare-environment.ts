import { randomStream, textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import {
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type Judge,
  MrlmError,
  type PluginContext,
  type Sandbox,
  type Scorer,
  type StepResult,
  type TaskSource,
  type Toolset,
  type Workspaces,
} from "@mrlm/spec";

/** Services in place of those of a host, by the ids that the environment requests. */
export interface BareServices {
  readonly scorers?: Readonly<Record<string, Scorer>>;
  readonly judges?: Readonly<Record<string, Judge>>;
  readonly sandboxes?: Readonly<Record<string, Sandbox>>;
  readonly tools?: Readonly<Record<string, Toolset>>;
  readonly workspaces?: Readonly<Record<string, Workspaces>>;
}

/** Environment under given options, without a host. */
export interface BareEnvironment<Options> {
  readonly options: Options;
  readonly tasks: TaskSource;
  readonly context: EnvironmentContext;
  /** Plays a task with the given responses, in order, and returns the results of its steps. */
  play(task: string, replies: readonly string[]): Promise<StepResult[]>;
}

/** Creates an environment without a host, for tests of its parts. It can use only `services`. Throws for options that do not fit the schema. */
export async function bareEnvironment<Options>(
  definition: EnvironmentDefinition<Options>,
  given: JsonObject,
  services: BareServices,
): Promise<BareEnvironment<Options>> {
  const parsed = await definition.options?.["~standard"].validate(given);
  if (parsed?.issues !== undefined) throw new Error(`The options are refused: ${JSON.stringify(parsed.issues)}`);
  const options = parsed?.value as Options;
  const none: TaskSource = { splits: {}, get: () => Promise.reject(new Error("there are no tasks yet")) };
  const tasks = (await definition.tasks?.(contextWith(none, services), options)) ?? none;
  const context = contextWith(tasks, services);
  const { signal } = new AbortController();
  return {
    options,
    tasks,
    context,
    async play(task, replies) {
      const environment = await definition.create(context, options);
      let { agent } = await environment.reset({ task, signal });
      const steps: StepResult[] = [];
      for (const text of replies) {
        const step = await environment.step(
          { agent, message: textMessage("assistant", text), finishReason: "stop" },
          { signal },
        );
        steps.push(step);
        agent = step.observation.agent || agent;
      }
      await environment.close?.();
      return steps;
    },
  };
}

function contextWith(
  tasks: TaskSource,
  { scorers, judges, sandboxes, tools, workspaces }: BareServices,
): EnvironmentContext {
  return {
    logger: silentLogger,
    tasks,
    random: randomStream,
    scorer: among("scorer", scorers),
    judge: among("judge", judges),
    sandbox: among("sandbox", sandboxes),
    tools: (source) => ({
      open: (episode) =>
        (typeof source === "string" ? among("tool", tools)(source) : source).open({
          ...episode,
          random: (name) => randomStream(name, episode.seed ?? 0),
        }),
    }),
    workspaces: among("workspace", workspaces),
    dataPath: (path) => path,
  };
}

/** Returns the context of a plugin's factory with these services. */
export function barePluginContext({ scorers, judges, sandboxes, tools, workspaces }: BareServices = {}): PluginContext {
  return {
    logger: silentLogger,
    scorer: async (id) => among("scorer", scorers)(id),
    judge: async (id) => among("judge", judges)(id),
    sandbox: async (language) => among("sandbox", sandboxes)(language),
    tools: async (id) => among("tool", tools)(id),
    workspaces: async (platform) => among("workspace", workspaces)(platform),
    rewardModel: () => ({
      score: () => Promise.reject(new MrlmError("ENGINE_UNAVAILABLE", "This test has no reward model.")),
    }),
    dataPath: (path) => path,
  };
}

function among<T>(kind: string, known: Readonly<Record<string, T>> = {}): (name: string) => T {
  return (name) => {
    const found = known[name];
    if (found === undefined)
      throw new MrlmError("REQUIREMENT_UNDECLARED", `${kind} ${name} is not among the services of this test.`);
    return found;
  };
}
