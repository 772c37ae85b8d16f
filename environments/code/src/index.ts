import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { dataTasks } from "./data/data-tasks.ts";
import { demonstrate } from "./demonstrate.ts";
import { CodeEnvironment } from "./environment.ts";
import { SANDBOXES } from "./problem/problem.ts";
import { fixtures } from "./fixtures/fixtures.ts";
import { rangeOf } from "./grade/rewards.ts";
import { generatorTasks } from "./generator/generator-tasks.ts";
import { codeOptions, type CodeOptions } from "./options.ts";

/** `code@2`: functions and programs to write, from seeded generators or a file, graded by tests in a sandbox. */
export const code = defineEnvironment<CodeOptions>({
  id: "code@2",
  description: "Programming problems from seeded generators or a file, graded by hidden tests in a sandbox.",
  determinism: "full",
  options: codeOptions,
  rewardComponents: ["syntax", "tests", "all_passed", "error"],
  rewardRange: ({ rewards }) => rangeOf(rewards),
  requires: (_context, { language }) => [
    { id: `sandbox:${SANDBOXES[language]}`, asker: `code@2 with language: ${language}` },
  ],
  // The sandbox has its own limits; up to 300 s of a program's tests follow each other. The time in its queue does not count.
  deadlines: { stepMs: 600_000 },
  tasks: (context, { data, ...options }) =>
    data === undefined ? generatorTasks(options) : dataTasks({ ...data, path: context.dataPath(data.path) }, options),
  create: (context, options) => new CodeEnvironment(context, options),
  demonstrate,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-code", environments: [code] });
