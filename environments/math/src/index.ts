import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { dataTasks, scorersOf } from "./data/data-tasks.ts";
import { demonstrate } from "./demonstrate.ts";
import { MathEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { rangeOf } from "./grade.ts";
import { effectiveOptions, type MathOptions } from "./options.ts";
import { mathTasks } from "./tasks.ts";

/** `math@2`: problems from seeded generators or a file, graded exactly. */
export const math = defineEnvironment<MathOptions>({
  id: "math@2",
  description: "Math problems from seeded generators or a file, graded exactly.",
  determinism: "full",
  options: effectiveOptions,
  rewardComponents: ["correct", "format", "steps"],
  rewardRange: rangeOf,
  requires: async (context, { data }) => [
    { id: "scorer:math@2", asker: "environment math@2" },
    ...(data === undefined ? [] : await scorersOf(context, data)),
  ],
  tasks: (context, options) =>
    options.data === undefined ? mathTasks(options) : dataTasks(context, options.data, options.task_seed),
  create: (context, options) => new MathEnvironment(context, options),
  demonstrate,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-math", environments: [math] });
