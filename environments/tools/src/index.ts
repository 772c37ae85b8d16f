import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { dataTasks } from "./data-tasks.ts";
import { demonstrate } from "./demonstrate.ts";
import { ToolsEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { scorersOf } from "./grade.ts";
import { type ToolsOptions, toolsOptions } from "./options.ts";
import { COMPONENTS, rangeOf } from "./rewards.ts";
import { toolsTasks } from "./tasks.ts";

/** `tools@2`: questions whose answers need tools, from seeded generators or a file. */
export const tools = defineEnvironment<ToolsOptions>({
  id: "tools@2",
  description: "Questions whose answers need tools: calculation, files, a small site, tables, and sequences of these.",
  determinism: "full",
  options: toolsOptions,
  rewardComponents: COMPONENTS,
  rewardRange: ({ rewards, turns, data }) => rangeOf(rewards, data === undefined ? 2 / turns : 1 / turns),
  requires: (_context, options) => [
    ...scorersOf(options).map((id) => ({ id: `scorer:${id}` as const, asker: "the scorers of tools@2" })),
    ...options.toolsets.map((id) => ({ id: `tool:${id}` as const, asker: "the option `toolsets` of tools@2" })),
  ],
  tasks: (context, options) =>
    options.data === undefined ? toolsTasks(options) : dataTasks(context, options.data, options),
  create: (context, options) => new ToolsEnvironment(context, options),
  demonstrate,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-tools", environments: [tools] });
