import { callMessage, generatedTasks, score, toolEnvironment } from "@mrlm/kit";

const TITLES = ["a", "b", "c"];

/** Questions about notes that only the tool shows. `toolEnvironment` makes an environment of a question, tools and an answer. */
export const environment = toolEnvironment({
  id: "my-tool@1",
  description: "Read the notes with a tool, and answer with the content of one.",
  maxTurns: 4,
  rewardComponents: ["correct"],
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 500, share: 9 }, eval: { size: 50, share: 1 } },
      generate(random) {
        const notes = Object.fromEntries(TITLES.map((title) => [title, String(random.integer(0, 9))]));
        const title = random.pick(TITLES);
        return {
          public: { title },
          private: { notes, answer: notes[title] ?? "" },
          key: JSON.stringify([title, notes]),
        };
      },
    }),
  prompt: ({ title }) => `${title}?`,
  // Toolsets of plugins by their ids, or tools of the environment's own: { name: tool({ ... }) }.
  tools: ["my-tool@1"],
  files: ({ private: { notes } }) => notes,
  score(answer, task) {
    const correct = Number(answer.trim() === task.private.answer);
    return score(correct, { correct });
  },
  // The worked solution that SFT learns from.
  solve: ({ private: { answer } }) => [callMessage("read_notes"), answer],
  fixtures: [
    {
      name: "reads, then answers",
      kind: "gold",
      task: "eval/0",
      policy: ({ task, turn }) => (turn === 0 ? callMessage("read_notes") : task.private.answer),
      reward: 1,
    },
    { name: "no answer", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    { name: "the title", kind: "cheat", task: "train/1", policy: ({ task }) => task.public.title, reward: 0 },
    {
      name: "a tool that does not exist",
      kind: "malformed",
      task: "train/2",
      policy: ({ turn }) => (turn === 0 ? callMessage("read") : "nothing"),
      reward: 0,
    },
    {
      name: "twice the same",
      kind: "determinism",
      seed: 3,
      policy: ({ turn }) => (turn === 0 ? callMessage("read_notes") : "?"),
    },
  ],
});
