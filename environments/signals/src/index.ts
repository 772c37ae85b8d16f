import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { SignalsEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { signalsOptions } from "./options.ts";
import { scriptedPolicies } from "./scripted-policies.ts";
import { signalsTasks } from "./tasks.ts";

/** `signals@1`: a sender and a receiver agree on a code (Lewis, Convention, 1969). */
const signals = defineEnvironment({
  id: "signals@1",
  description:
    "A sender transmits one of several meanings by a symbol; a receiver that is shown the symbol alone names the meaning.",
  determinism: "full",
  acknowledged: {
    TASKS_OVERLAP:
      "The game has no other meanings to hold out: an evaluation measures whether the agents agree on a code.",
  },
  options: signalsOptions,
  roles: {
    sender: { description: "Is shown the meaning and sends a symbol." },
    receiver: { description: "Is shown the symbol and names the meaning." },
  },
  rewardComponents: ["valid"],
  tasks: (_context, options) => signalsTasks(options),
  create: (context, options) => new SignalsEnvironment(context, options),
  scriptedPolicies,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-signals", environments: [signals] });
