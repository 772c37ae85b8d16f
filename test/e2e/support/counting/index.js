const user = (text) => ({ role: "user", parts: [{ type: "text", text }] });

const SPLITS = { train: 50, eval: 10 };

/** An MrlmError without a dependency: it is recognised by its brand. */
const notFound = (message) =>
  Object.assign(new Error(message), { code: "TASK_NOT_FOUND", [Symbol.for("mrlm.error")]: true });

const counting = {
  id: "counting@1",
  description: "Say the number that follows.",
  determinism: "full",
  tasks: () => ({
    splits: SPLITS,
    get: async (split, index) => {
      if (!(index < (SPLITS[split] ?? 0))) throw notFound(`There is no task ${split}/${index}.`);
      const number = split === "train" ? index : 100 + index;
      return { id: `${split}/${index}`, public: { number }, private: { next: String(number + 1) } };
    },
  }),
  create: ({ tasks }) => {
    let next = "";
    return {
      reset: async ({ task = "train/0" }) => {
        const [split, index] = task.split("/");
        const { public: shown, private: hidden } = await tasks.get(split, Number(index));
        next = hidden.next;
        return { agent: "agent", messages: [user(`What follows ${shown.number}?`)] };
      },
      step: async ({ message }) => {
        const isRight = message.parts.map(({ text = "" }) => text).join("") === next;
        return {
          observation: { agent: "", messages: [] },
          rewards: { agent: { scored: true, value: Number(isRight), components: {} } },
          terminated: { agent: true },
          truncated: { agent: false },
          info: { feedback: isRight ? "Correct." : "Wrong." },
        };
      },
    };
  },
  fixtures: [
    { name: "counts", kind: "gold", task: "train/3", policy: ({ task }) => task.private.next, reward: 1 },
    { name: "nothing", kind: "nop", task: "train/3", policy: () => "", reward: 0 },
    { name: "repeats", kind: "cheat", task: "train/3", policy: ({ task }) => String(task.public.number), reward: 0 },
    { name: "no number", kind: "malformed", task: "train/3", policy: () => "?", reward: 0 },
    { name: "twice", kind: "determinism", seed: 1, policy: () => "1" },
  ],
};

export default { apiVersion: 1, name: "counting-environment", environments: [counting] };
