import type { Observation, StepResult } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentHost } from "@mrlm/spec/host";
import { textMessage } from "@mrlm/kit";

const description: EnvironmentDescription = {
  id: "counting@1",
  description: "Counts its steps.",
  determinism: "full",
  roles: { agent: {} },
  splits: {},
  maxTurns: 9,
  hasDemonstrations: false,
  rewardComponents: [],
  orderedSplits: [],
};

/** Host whose environments count steps. A `wait` step stops until `release`. */
export interface ScriptedHost extends EnvironmentHost {
  /** Opens an environment. */
  open(ref: { readonly id: string }): ReturnType<EnvironmentHost["open"]>;
  readonly opened: number;
  readonly closed: number;
  /** Number of steps that were carried out. */
  readonly steps: number;
  readonly aborted: number;
  /** Lets every waiting step continue. */
  release(): void;
}

/** Makes a host. A step with the message `wait` waits for `release`, `fail` throws, and `large N` returns N bytes. */
export function scriptedHost(): ScriptedHost {
  const counts = { opened: 0, closed: 0, steps: 0, aborted: 0 };
  let gate = Promise.withResolvers<void>();
  const observe = (text: string): Observation => ({ agent: "agent", messages: [textMessage("user", text)] });
  return {
    get opened() {
      return counts.opened;
    },
    get closed() {
      return counts.closed;
    },
    get steps() {
      return counts.steps;
    },
    get aborted() {
      return counts.aborted;
    },
    release() {
      gate.resolve();
      gate = Promise.withResolvers();
    },
    list: async () => [description],
    describe: async () => description,
    demonstrate: async () => [],
    close: async () => undefined,
    async open() {
      counts.opened++;
      let steps = 0;
      return {
        description,
        async reset({ seed, task }) {
          steps = 0;
          return observe(`seed ${seed} task ${task}`);
        },
        async step(action, { signal }): Promise<StepResult> {
          const [part] = action.message.parts;
          const [word, size] = part?.type === "text" ? part.text.split(" ") : [];
          if (word === "fail") throw new Error("the environment's own words");
          if (word === "wait") {
            const { promise, reject } = Promise.withResolvers<never>();
            signal.addEventListener("abort", () => {
              counts.aborted++;
              reject(signal.reason);
            });
            await Promise.race([gate.promise, promise]);
          }
          counts.steps++;
          const text = word === "large" ? "x".repeat(Number(size)) : `step ${steps++}`;
          return { observation: observe(text), rewards: {}, terminated: { agent: false }, truncated: { agent: false } };
        },
        async close() {
          counts.closed++;
        },
      };
    },
  };
}
