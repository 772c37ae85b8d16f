import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { BridgedEnvironment } from "@mrlm/kit/bridge";
import { openEnvOptions } from "./options.ts";
import { serverOf } from "./openenv-server.ts";

/** Longest phase that options allow, in milliseconds. The bridge has deadlines of its own, whose errors name the server. */
const PHASE_MS = 75 * 60_000;

/** `openenv@2`: an environment of a running OpenEnv server. */
export const openenv = defineEnvironment({
  id: "openenv@2",
  description: "An environment of a running OpenEnv server.",
  determinism: ({ determinism }) => determinism,
  options: openEnvOptions,
  rewardRange: ({ reward_range: range }) => range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  deadlines: { setupMs: PHASE_MS, stepMs: PHASE_MS },
  tasks: async (_context, options) => serverOf(options).tasks(),
  create: (context, options) => new BridgedEnvironment(context, options, serverOf(options)),
});

export default definePlugin({ name: "@mrlm/environment-openenv", environments: [openenv] });
