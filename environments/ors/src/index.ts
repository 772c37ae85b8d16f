import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { BridgedEnvironment } from "@mrlm/kit/bridge";
import { orsOptions } from "./options.ts";
import { serverOf } from "./ors-server.ts";

/** Longest phase that options allow, in milliseconds. The bridge has deadlines of its own, whose errors name the server. */
const PHASE_MS = 75 * 60_000;

/** `ors@2`: an environment of a running server of the Open Reward Standard. */
export const ors = defineEnvironment({
  id: "ors@2",
  description: "An environment of a running server of the Open Reward Standard.",
  determinism: ({ determinism }) => determinism,
  options: orsOptions,
  rewardRange: ({ reward_range: range }) => range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  deadlines: { setupMs: PHASE_MS, stepMs: PHASE_MS },
  tasks: async (_context, options) => serverOf(options).tasks(),
  create: (context, options) => new BridgedEnvironment(context, options, serverOf(options)),
});

export default definePlugin({ name: "@mrlm/environment-ors", environments: [ors] });
