import {
  anyTask,
  callTools,
  defineEnvironment,
  generatedTasks,
  type Message,
  messageText,
  type Observation,
  observe,
  score,
  singleStep,
  type Task,
  taskById,
  textMessage,
  type Tool,
  type ToolCallPart,
  toolCalls,
} from "@mrlm/kit";
import { readNotes } from "./notes.ts";

const TITLES = ["a", "b", "c"];
const NAME = "my-tool@1";

type NotesTask = Task<{ title: string }, { notes: Record<string, string> }>;
const question = ({ public: { title } }: NotesTask): Message => textMessage("user", `${title}?`);
const answerOf = ({ public: { title }, private: { notes } }: NotesTask): string => notes[title] ?? "";

/** Returns the message of a policy that reads the notes. */
function reading(): Message {
  const call: ToolCallPart = { type: "tool-call", id: "1", name: readNotes.name, arguments: {} };
  return { role: "assistant", parts: [call] };
}

/** Questions about notes that only the tool shows. */
export const environment = defineEnvironment({
  id: NAME,
  description: "Read the notes with a tool, and answer with the content of one.",
  determinism: "full",
  maxTurns: 4,
  rewardComponents: ["correct"],
  requires: [`tool:${NAME}`],
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 500, share: 9 }, eval: { size: 50, share: 1 } },
      generate(random) {
        const notes = Object.fromEntries(TITLES.map((title) => [title, String(random.integer(0, 9))]));
        const title = TITLES[random.integer(0, TITLES.length - 1)] ?? "";
        return { public: { title }, private: { notes }, key: JSON.stringify([title, notes]) };
      },
    }),

  create(context) {
    let task: NotesTask;
    let tools: readonly Tool[] = [];
    const observed = (messages: readonly Message[]): Observation => ({
      ...observe(messages),
      tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    });
    return {
      async reset({ task: id, seed = 0, signal }) {
        task = await taskById(context.tasks, id ?? anyTask(context, seed));
        // The notes of the task are files of the episode. The host closes the tools with it.
        ({ tools } = await context.tools(NAME).open({ task, seed, files: task.private.notes, signal }));
        return observed([question(task)]);
      },
      async step({ message }, { signal }) {
        const isCall = toolCalls(message).length > 0 || message.parts.some(({ type }) => type === "malformed-call");
        if (isCall) {
          const messages = await callTools(tools, message, { signal });
          const step = singleStep({ reward: score(0, { correct: 0 }), terminated: false });
          return { ...step, observation: observed(messages) };
        }
        const correct = Number(messageText(message).trim() === answerOf(task));
        return singleStep({ reward: score(correct, { correct }), terminated: true });
      },
    };
  },

  async demonstrate(context, _options, id) {
    const task = await taskById(context.tasks, id);
    const { signal } = new AbortController();
    const { tools } = await context.tools(NAME).open({ task, seed: 0, files: task.private.notes, signal });
    const results = await callTools(tools, reading(), { signal });
    const messages = [question(task), reading(), ...results, textMessage("assistant", answerOf(task))];
    return {
      task: id,
      agent: "agent",
      messages,
      tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    };
  },

  fixtures: [
    {
      name: "reads, then answers",
      kind: "gold",
      task: "eval/0",
      policy: ({ task, turn }) => (turn === 0 ? reading() : answerOf(task)),
      reward: 1,
    },
    { name: "no answer", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    { name: "the title", kind: "cheat", task: "train/1", policy: ({ task }) => task.public.title, reward: 0 },
    {
      name: "a tool that does not exist",
      kind: "malformed",
      task: "train/2",
      policy: ({ turn }) =>
        turn === 0
          ? { role: "assistant", parts: [{ type: "tool-call", id: "1", name: "read", arguments: {} }] }
          : "nothing",
      reward: 0,
    },
    { name: "twice the same", kind: "determinism", seed: 3, policy: ({ turn }) => (turn === 0 ? reading() : "?") },
  ],
});
