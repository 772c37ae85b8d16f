import { defineEnvironment, generatedTasks, messageText, textMessage } from "@mrlm/kit";
import { type AgentId, score } from "@mrlm/spec";

/** A lead calls one to three helpers by the length of its message, and ends the episode. Helpers write letters and earn nothing; the lead earns their mean share of the letter "a". */
export const team = defineEnvironment({
  id: "team@1",
  description: "Help with letters.",
  determinism: "full",
  roles: { lead: {}, helper: { many: true } },
  tasks: () =>
    generatedTasks({
      seed: 1,
      splits: { train: { size: 64, share: 3 }, eval: { size: 8, share: 1 } },
      generate: (random) => {
        const shown = random.integer(0, 99_999);
        return { public: { shown }, private: {}, key: String(shown) };
      },
    }),
  create: () => {
    let called = 0;
    let shares: number[] = [];
    const shown = (agent: AgentId, text: string, isFresh = false) => ({
      agent,
      messages: [textMessage("user", text)],
      ...(isFresh ? { isFresh } : {}),
    });
    return {
      async reset({ task = "train/0" }) {
        [called, shares] = [0, []];
        return shown("lead", String(Number(task.split("/")[1]) % 10));
      },
      async step({ agent, message }) {
        const text = messageText(message);
        if (agent !== "lead")
          shares.push([...text].filter((letter) => letter === "a").length / Math.max(1, text.length));
        else if (called === 0) called = 1 + (text.length % 3);
        else
          return {
            observation: { agent: "", messages: [] },
            rewards: { lead: score(shares.reduce((sum, share) => sum + share, 0) / shares.length) },
            terminated: { lead: true },
            truncated: {},
          };
        const next = shares.length < called ? `helper#${shares.length + 1}` : "lead";
        return {
          observation: shown(next, next === "lead" ? "9" : String(shares.length), next === "lead"),
          rewards: agent === "lead" ? {} : { [agent]: score(0) },
          terminated: agent === "lead" ? {} : { [agent]: true },
          truncated: {},
        };
      },
    };
  },
});
