import type {
  JsonValue,
  Demonstration,
  EnvironmentDefinition,
  ResetOptions,
  SimulatedEnvironment,
  Task,
  TaskSource,
} from "@mrlm/spec";
import { serialise } from "./serialise.ts";

/** Canary in the private part of every task. If a client receives it, private fields are serialised. */
export const CANARY = "canary-6f1d0c52a9e84b7f";

/** Internal state of an environment that checks read. */
export interface Watched {
  readonly definition: EnvironmentDefinition;
  /** Tasks under these options, as the schema returned them, if the host has prepared them. */
  tasks(options: unknown): TaskSource | undefined;
  /** Options of the last reset. */
  lastReset(): Omit<ResetOptions, "signal"> | undefined;
  /** Calls the listener with each value that the environment itself returned, before the host checks and copies it. */
  listen(listener: ReturnedListener): void;
}

/** Receives what an author's code returned from a call. */
export type ReturnedListener = (call: "reset" | "step" | "tasks.get" | "demonstrate", value: unknown) => void;

/** Returns the same environment with the canary in its tasks and with recorded resets. */
export function watch(definition: EnvironmentDefinition): Watched {
  const sources = new Map<string, TaskSource>();
  let lastReset: Omit<ResetOptions, "signal"> | undefined;
  let listener: ReturnedListener = () => undefined;
  // A source can return the same object each time: what an episode changes in it stays.
  const copies = new WeakMap<Task, Task>();
  const watched: EnvironmentDefinition = {
    ...definition,
    ...(definition.tasks && {
      tasks: async (context, options) => {
        const source = (await definition.tasks?.(context, options)) as TaskSource;
        const { splits, orderedSplits } = source;
        const tasks: TaskSource = {
          splits,
          ...(orderedSplits && { orderedSplits }),
          get: async (split, index) => {
            const task = await source.get(split, index);
            listener("tasks.get", task);
            const copy = copies.get(task) ?? withCanary(task);
            copies.set(task, copy);
            return copy;
          },
        };
        sources.set(serialise(options), tasks);
        return tasks;
      },
    }),
    ...(definition.demonstrate && {
      demonstrate: async (context, options, task) => {
        const demonstration = (await definition.demonstrate?.(context, options, task)) as Demonstration;
        listener("demonstrate", demonstration);
        return demonstration;
      },
    }),
    create: async (context, options) => {
      const environment = await definition.create(context, options);
      return noting(
        environment,
        (reset) => (lastReset = reset),
        (call, value) => listener(call, value),
      );
    },
  };
  return {
    definition: watched,
    tasks: (options) => sources.get(serialise(options)),
    lastReset: () => lastReset,
    listen: (given) => (listener = given),
  };
}

function withCanary(task: Task): Task {
  return { ...task, private: { ...task.private, canary: CANARY } };
}

function noting(
  environment: SimulatedEnvironment,
  note: (reset: Omit<ResetOptions, "signal">) => void,
  returned: ReturnedListener,
): SimulatedEnvironment {
  const passOn = <T>(call: "reset" | "step", value: T): T => {
    returned(call, value);
    return value;
  };
  return {
    reset: async (options) => {
      const { signal: _signal, ...rest } = options;
      note(rest);
      return passOn("reset", await environment.reset(options));
    },
    step: async (action, options) => passOn("step", await environment.step(action, options)),
    ...(environment.snapshot && { snapshot: (options) => environment.snapshot?.(options) as Promise<JsonValue> }),
    ...(environment.restore && {
      restore: async (state, options) => environment.restore?.(state, options),
    }),
    close: async () => environment.close?.(),
  };
}
