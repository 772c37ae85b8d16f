import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { NimEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { nimOptions } from "./options.ts";
import { scriptedPolicies } from "./scripted-policies.ts";
import { nimTasks } from "./tasks.ts";

/** `nim@1`: two agents take 1 to 3 objects in turn; the agent that takes the last one wins. */
export const nim = defineEnvironment({
  id: "nim@1",
  description:
    "Two agents take 1 to 3 objects in turn from a pile of up to 21; the agent that takes the last one wins.",
  determinism: "full",
  snapshots: true,
  acknowledged: {
    TASKS_OVERLAP:
      "The game has no other positions to hold out: in the smallest ones a game is over after the move that an evaluation measures.",
  },
  options: nimOptions,
  roles: { first: { description: "Moves first." }, second: { description: "Moves second." } },
  rewardComponents: ["valid", "correct"],
  rewardRange: [-1, 1],
  tasks: nimTasks,
  create: (context, options) => new NimEnvironment(context, options),
  scriptedPolicies,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-nim", environments: [nim] });
