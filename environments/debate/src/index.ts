import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { DebateEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { debateOptions } from "./options.ts";
import { COMPONENTS } from "./rewards.ts";
import { scriptedPolicies } from "./scripted-policies.ts";
import { debateTasks } from "./tasks.ts";

/** `debate@1`: two sides argue for and against a proposition, and a judge scores them. */
export const debate = defineEnvironment({
  id: "debate@1",
  description: "Two sides argue for and against a proposition in turns, and a judge scores them.",
  determinism: "full",
  options: debateOptions,
  roles: { pro: { description: "Argues for the proposition." }, con: { description: "Argues against it." } },
  rewardComponents: COMPONENTS,
  rewardRange: ({ rewards }) => [rewards.kind === "zero_sum" ? -1 : 0, 1],
  requires: (_context, { judge }) => [{ id: `judge:${judge}`, asker: "the option `judge` of debate@1" }],
  tasks: debateTasks,
  create: (context, options) => new DebateEnvironment(context, options),
  scriptedPolicies,
  fixtures,
  acknowledged: { GOLD_BELOW_TOP: "A judge scores the arguments: no debate is known to earn all of it." },
});

export default definePlugin({ name: "@mrlm/environment-debate", environments: [debate] });
