/** Environments of the benchmark: `echo@1` returns the action's text, `compute@1` computes for a millisecond before. */
import { defineEnvironment, definePlugin, messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { score, type SimulatedEnvironment } from "@mrlm/spec";

const COMPUTE_MS = 1;

function create(computeMs: number): SimulatedEnvironment {
  let steps = 0;
  return {
    async reset() {
      steps = 0;
      return observe([textMessage("user", "Send any text.")]);
    },
    async step({ message }) {
      steps++;
      if (computeMs > 0) spin(computeMs);
      const text = messageText(message);
      return singleStep({ messages: [textMessage("user", text)], reward: score(text.length, { steps }) });
    },
  };
}

/** Keeps the processor busy. */
function spin(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

const echo = defineEnvironment({
  id: "echo@1",
  description: "Returns the text of each action.",
  determinism: "full",
  rewardComponents: ["steps"],
  create: () => create(0),
});

const compute = defineEnvironment({
  id: "compute@1",
  description: "Computes for a millisecond, then returns the text of the action.",
  determinism: "full",
  rewardComponents: ["steps"],
  create: () => create(COMPUTE_MS),
});

export default definePlugin({ name: "@mrlm/benchmark-server", environments: [echo, compute] });
