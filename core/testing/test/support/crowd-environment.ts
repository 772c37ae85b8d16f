import { generatedTasks, messageText, taskById, textMessage } from "@mrlm/kit";
import { type AgentId, type EnvironmentDefinition, type Fixture, score } from "@mrlm/spec";

const number = (text: string): number => (/^[0-9]+$/.test(text) ? Number(text) : -1);
const fixtures: readonly Fixture[] = [
  {
    name: "each scout names its number",
    kind: "gold",
    task: "train/0",
    policy: ({ role, agent, task }) =>
      role === "lead" ? String(task.public["scouts"]) : (agent.split("#")[1] as string),
    reward: 1,
  },
  { name: "nothing", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
  { name: "the name of the field", kind: "cheat", task: "eval/0", policy: () => "task.public.scouts", reward: 0 },
  {
    name: "a number in words",
    kind: "malformed",
    task: "eval/1",
    policy: ({ role }) => (role === "lead" ? "three" : "one"),
    reward: 0,
  },
  { name: "the same again", kind: "determinism", seed: 5, policy: ({ role }) => (role === "lead" ? "2" : "1") },
];

/** A lead calls as many scouts as the task states; each scout writes its number, then the lead ends the episode. A scout that ran out of context is passed over. */
export const crowd: EnvironmentDefinition = {
  id: "crowd@1",
  description: "Call the right number of scouts.",
  determinism: "full",
  maxTurns: 12,
  roles: { lead: {}, scout: { many: true } },
  fixtures,
  acknowledged: { TASKS_OVERLAP: "The name that distinguishes tasks is not shown: there are four questions." },
  tasks: () =>
    generatedTasks({
      seed: 1,
      splits: { train: { size: 5, share: 3 }, eval: { size: 3, share: 1 } },
      generate: (random) => {
        const name = random.integer(0, 1 << 30);
        return { public: { name, scouts: 1 + (name % 4) }, private: {}, key: String(name) };
      },
    }),
  create: (context) => {
    let wanted = 0;
    let called = 0;
    const shown = (agent: AgentId) => ({ agent, messages: [textMessage("user", `${agent}: ${wanted}`)] });
    return {
      async reset({ task = "train/0" }) {
        wanted = Number((await taskById(context.tasks, task)).public["scouts"]);
        called = 0;
        return shown("lead");
      },
      async step({ agent, message }) {
        const given = number(messageText(message));
        const isLead = agent === "lead";
        if (isLead && called === 0) called = given === wanted ? given : 1;
        const at = isLead ? 0 : Number(agent.split("#")[1]);
        const isLast = at >= called;
        const earned = isLead ? given === wanted : given === at;
        return {
          observation: isLast ? { agent: "", messages: [] } : shown(`scout#${at + 1}`),
          rewards: { [agent]: score(earned ? 1 : 0) },
          terminated: isLead ? { lead: true } : { [agent]: true },
          truncated: {},
        };
      },
    };
  },
};
