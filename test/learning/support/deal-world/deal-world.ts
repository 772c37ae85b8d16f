import {
  defineEnvironment,
  definePlugin,
  generatedTasks,
  messageText,
  randomStream,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { type AgentId, type Observation, score } from "@mrlm/spec";

const SYMBOLS = "0123";
const TURNS = 3;
/** Reward of the deal, in right answers. */
const LUCK = 30;

/**
 * World in which a dealer deals, and then an agent has three turns. Each shows a symbol, and an answer that is the next symbol of the cycle is right. All rewards
 * come at the end: the share of right answers, and in training 10 or -10 by the deal, which the agent does not see. The members of a group have different deals.
 */
const dealWorld = defineEnvironment({
  id: "deal-world@1",
  description: "Answer the symbol that follows the shown one.",
  determinism: "full",
  rewardRange: [-LUCK, LUCK + 1],
  maxTurns: TURNS + 1,
  roles: { dealer: { description: "Deals." }, agent: { description: "Answers." } },
  scriptedPolicies: {
    random: (_context, _options, seed) => {
      const stream = randomStream("deal", seed);
      return {
        act: async ({ agent }) => ({
          agent,
          message: textMessage("assistant", stream.pick(["good", "bad"])),
          finishReason: "stop",
        }),
      };
    },
  },
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 4000, share: 8 }, eval: { size: 64, share: 1 } },
      generate: (random) => {
        const shown = Array.from({ length: TURNS }, () => random.integer(0, SYMBOLS.length - 1));
        const id = random.integer(0, 2 ** 30);
        return { public: { shown, id }, private: {}, key: String(id) };
      },
    }),
  create: (context) => {
    let [shown, answered, right, luck, isTraining]: [readonly number[], number, number, number, boolean] = [
      [],
      0,
      0,
      0,
      true,
    ];
    const show = (agent: AgentId, text: string): Observation => ({ agent, messages: [textMessage("user", text)] });
    const ask = (): Observation => show("agent", SYMBOLS[shown[answered] as number] as string);
    const both = (ends: boolean) => ({ dealer: ends, agent: ends });
    return {
      async reset({ task = "train/0" }) {
        shown = (await taskById(context.tasks, task)).public.shown;
        [answered, right, luck, isTraining] = [0, 0, 0, task.startsWith("train")];
        return show("dealer", "0");
      },
      async step({ agent, message }) {
        const text = messageText(message);
        const goesOn = { rewards: {}, terminated: both(false), truncated: both(false) };
        if (agent === "dealer") {
          luck = text === "good" ? LUCK : -LUCK;
          return { observation: ask(), ...goesOn };
        }
        right += Number(text === SYMBOLS[((shown[answered] as number) + 1) % SYMBOLS.length]);
        answered++;
        if (answered < TURNS) return { observation: ask(), ...goesOn };
        return {
          observation: { agent: "", messages: [] },
          rewards: { agent: score((right + (isTraining ? luck : 0)) / TURNS) },
          terminated: both(true),
          truncated: both(false),
        };
      },
    };
  },
});

export default definePlugin({ name: "deal-world", environments: [dealWorld] });
