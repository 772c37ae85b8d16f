import { defineEnvironment } from "@mrlm/kit";
import { HarborEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { type HarborOptions, harborOptions } from "./options.ts";
import { nop, oracle } from "./policies.ts";
import { type Hidden, harborTasks, type Shown } from "./tasks.ts";

/** Longest build, and longest step with its tests: the task has time limits of its own below them. */
const DEADLINE_MS = 4 * 3_600_000;

/** `harbor@1`. */
export const harbor = defineEnvironment<HarborOptions, Shown, Hidden>({
  id: "harbor@1",
  description: "Tasks of a shell from folders in the format of Harbor, graded by their tests in a new jail.",
  determinism: "replayable",
  options: harborOptions,
  requires: ["workspace:linux", "tool:shell@1"],
  rewardComponents: ["reward"],
  deadlines: { setupMs: DEADLINE_MS, stepMs: DEADLINE_MS, closeMs: 60_000 },
  tasks: harborTasks,
  create: (context, options) => new HarborEnvironment(context, options),
  scriptedPolicies: { oracle, nop },
  fixtures,
});
