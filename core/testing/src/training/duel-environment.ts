import { defineEnvironment, generatedTasks, messageText, randomStream, textMessage } from "@mrlm/kit";
import {
  type Action,
  type AgentId,
  type EnvironmentDefinition,
  MrlmError,
  type Observation,
  type Policy,
  score,
  type SimulatedEnvironment,
  type StepResult,
} from "@mrlm/spec";

const LETTERS = ["a", "b", "c", "d"];
const ROLES = ["first", "second"];

/**
 * Returns a game of two roles that a {@link BigramEngine} can learn. `first` is shown a digit and writes letters, `second` is shown these letters and writes its own,
 * and so on for some rounds. At the end each role earns its share of the letter "a" minus that of the other role. Scripted policies: `fixed`, which writes
 * its option `text`, and `random`.
 */
export function duelEnvironment(
  options: { readonly rounds?: number; readonly tasks?: number; readonly id?: `${string}@${number}` } = {},
): EnvironmentDefinition {
  const { rounds = 1, tasks = 64, id = "duel@1" } = options;
  return defineEnvironment({
    id,
    description: "Two roles write letters in turn.",
    determinism: "full",
    roles: { first: { description: "Begins." }, second: { description: "Answers." } },
    scriptedPolicies: {
      fixed: (_context, { text = "b", ...others }) => {
        const unknown = Object.keys(others)[0];
        if (typeof text !== "string" || unknown !== undefined)
          throw new MrlmError("OPTIONS_INVALID", `fixed has the option text, a text, and no option "${unknown}".`);
        return policyOf(() => text);
      },
      random: (_context, _options, seed) => {
        const stream = randomStream("duel/random", seed);
        return policyOf(() => Array.from({ length: 4 }, () => stream.pick(LETTERS)).join(""));
      },
    },
    tasks: () =>
      generatedTasks({
        seed: 1,
        splits: { train: { size: tasks, share: 3 }, eval: { size: 8, share: 1 } },
        generate: (random) => {
          const shown = random.integer(0, 99_999);
          return { public: { shown }, private: {}, key: String(shown) };
        },
      }),
    create: () => duel(rounds),
  });
}

function policyOf(write: () => string): Policy {
  return {
    act: async ({ agent }: Observation): Promise<Action> => ({
      agent,
      message: textMessage("assistant", write()),
      finishReason: "stop",
    }),
  };
}

function duel(rounds: number): SimulatedEnvironment {
  const written: Record<AgentId, string> = {};
  let turn = 0;
  const shown = (agent: AgentId, text: string): Observation => ({ agent, messages: [textMessage("user", text)] });
  return {
    async reset({ task = "train/0" }) {
      turn = 0;
      for (const role of ROLES) written[role] = "";
      return shown("first", String(Number(task.split("/")[1]) % 10));
    },
    async step({ agent, message, finishReason }): Promise<StepResult> {
      // The other role is shown letters only: its tokenizer may lack other characters.
      const letters = [...messageText(message)].filter((letter) => LETTERS.includes(letter)).join("");
      written[agent] += letters;
      turn++;
      const isOver = turn >= rounds * ROLES.length || finishReason === "exhausted";
      const ends = Object.fromEntries(ROLES.map((role) => [role, isOver]));
      return {
        observation: isOver ? { agent: "", messages: [] } : shown(ROLES[turn % ROLES.length] as string, letters || "0"),
        rewards: isOver ? rewardsOf(written) : {},
        terminated: ends,
        truncated: Object.fromEntries(ROLES.map((role) => [role, false])),
      };
    },
  };
}

function rewardsOf(written: Readonly<Record<AgentId, string>>): StepResult["rewards"] {
  const [first, second] = ROLES.map((role) => shareOfA(written[role] ?? "")) as [number, number];
  return { first: score(first - second, { share: first }), second: score(second - first, { share: second }) };
}

function shareOfA(text: string): number {
  return text.length === 0 ? 0 : [...text].filter((letter) => letter === "a").length / text.length;
}
