import {
  defineEnvironment,
  definePlugin,
  generatedTasks,
  type Message,
  messageText,
  observe,
  score,
  singleStep,
  taskById,
  textMessage,
} from "@mrlm/kit";

const LENGTH = 9;
const STEPS = 4;

const splits = { train: { size: 2000, share: 4 }, eval: { size: 200, share: 1 } };

/** Returns the next position: `r` moves one to the right, `l` one to the left, and no move leaves the corridor. */
const move = (place: number, step: string): number =>
  Math.max(0, Math.min(LENGTH, place + (step === "r" ? 1 : step === "l" ? -1 : 0)));

/** The middle of the corridor. It is at most four steps away from every place. */
const isMiddle = (place: number): boolean => place === 4 || place === 5;

const corridor = defineEnvironment({
  id: "corridor@1",
  description:
    "Walk along a corridor with places 0 to 9; the answer to each step is the new place. Who stands in the middle at the end earns 1.",
  determinism: "full",
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits,
      generate(random) {
        const [start, walk] = [
          random.integer(0, LENGTH),
          Array.from({ length: STEPS }, () => random.pick(["l", "r"])).join(""),
        ];
        return { public: { start, walk }, private: {}, key: `${start}${walk}` };
      },
    }),
  create({ tasks }) {
    let place = 0;
    let steps = 0;
    return {
      async reset({ task = "train/0" }) {
        place = Number((await taskById(tasks, task)).public["start"]);
        steps = 0;
        return observe([textMessage("user", String(place))]);
      },
      async step({ message }) {
        place = move(place, messageText(message));
        const terminated = ++steps === STEPS;
        return singleStep({
          messages: terminated ? [] : [textMessage("user", String(place))],
          reward: score(terminated && isMiddle(place) ? 1 : 0),
          terminated,
        });
      },
    };
  },
  // A random walk: what a world model learns is where steps lead, not which of them to take.
  async demonstrate({ tasks }, _options, task) {
    const { start, walk } = (await taskById(tasks, task)).public as { start: number; walk: string };
    const messages: Message[] = [];
    let place = start;
    for (const step of walk) {
      messages.push(textMessage("user", String(place)), textMessage("assistant", step));
      place = move(place, step);
    }
    return { task, agent: "agent", messages };
  },
  fixtures: [
    {
      name: "to the middle",
      kind: "gold",
      task: "train/1",
      policy: ({ messages }) => {
        const place = Number(messageText(messages.at(-1) as Message));
        return isMiddle(place) ? "" : place < 4 ? "r" : "l";
      },
      reward: 1,
    },
    { name: "no step", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    { name: "the place again", kind: "cheat", task: "train/0", policy: () => "9", reward: 0 },
    { name: "no direction", kind: "malformed", task: "train/0", policy: () => "right", reward: 0 },
    { name: "twice the same", kind: "determinism", seed: 5, policy: ({ turn }) => (turn % 2 === 0 ? "r" : "l") },
  ],
  acknowledged: {
    TASKS_OVERLAP:
      "Tasks differ in the walk that they demonstrate: where its steps lead is evaluated on walks that no training task has.",
  },
});

export default definePlugin({ name: "corridor-environment", environments: [corridor] });
