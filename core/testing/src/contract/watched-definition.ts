import type { EnvironmentDefinition, ResetOptions, SimulatedEnvironment, Task, TaskSource } from "@mrlm/spec";

/** Canary in the private part of every task. If a client receives it, private fields are serialised. */
export const CANARY = "canary-6f1d0c52a9e84b7f";

/** Internal state of an environment that checks read. */
export interface Watched {
  readonly definition: EnvironmentDefinition;
  /** Tasks under the options that were prepared last. */
  tasks(): TaskSource | undefined;
  /** Options of the last reset. */
  lastReset(): Omit<ResetOptions, "signal"> | undefined;
}

/** Returns the same environment with the canary in its tasks and with recorded resets. */
export function watch(definition: EnvironmentDefinition): Watched {
  let tasks: TaskSource | undefined;
  let lastReset: Omit<ResetOptions, "signal"> | undefined;
  const watched: EnvironmentDefinition = {
    ...definition,
    ...(definition.tasks && {
      tasks: async (context, options) => {
        const source = (await definition.tasks?.(context, options)) as TaskSource;
        const { splits, orderedSplits } = source;
        tasks = {
          splits,
          ...(orderedSplits && { orderedSplits }),
          get: async (split, index) => withCanary(await source.get(split, index)),
        };
        return tasks;
      },
    }),
    create: async (context, options) => {
      const environment = await definition.create(context, options);
      return noting(environment, (reset) => (lastReset = reset));
    },
  };
  return { definition: watched, tasks: () => tasks, lastReset: () => lastReset };
}

function withCanary(task: Task): Task {
  return { ...task, private: { ...task.private, canary: CANARY } };
}

function noting(
  environment: SimulatedEnvironment,
  note: (reset: Omit<ResetOptions, "signal">) => void,
): SimulatedEnvironment {
  return {
    reset: (options) => {
      const { signal: _signal, ...rest } = options;
      note(rest);
      return environment.reset(options);
    },
    step: (action, options) => environment.step(action, options),
    close: async () => environment.close?.(),
  };
}
