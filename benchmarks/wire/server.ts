import { observe, singleStep, textMessage } from "@mrlm/kit";
import { serveEnvironments } from "@mrlm/server";
import { score, type EnvironmentDescription, type EnvironmentHost } from "@mrlm/spec";

const description: EnvironmentDescription = {
  id: "idle@1",
  description: "Answers at once.",
  determinism: "full",
  roles: { agent: {} },
  splits: {},
  orderedSplits: [],
  maxTurns: 0,
  hasDemonstrations: false,
  rewardComponents: [],
};
/** About as long as a task in prose. */
const messages = [textMessage("user", "The quick brown fox jumps over the lazy dog. ".repeat(4))];
const host: EnvironmentHost = {
  list: async () => [description],
  describe: async () => description,
  demonstrate: async () => [],
  open: async () => ({
    description,
    reset: async () => observe(messages),
    step: async () => singleStep({ messages, reward: score(1, { correct: 1, format: 0.5 }) }),
    close: async () => undefined,
  }),
  close: async () => undefined,
};

const server = await serveEnvironments({ host, address: "127.0.0.1:0", maxSessions: 20_000 });
process.send?.(server.port);
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on("disconnect", () => process.exit());
