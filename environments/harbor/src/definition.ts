import { defineEnvironment } from "@mrlm/kit";
import { HarborEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { type HarborOptions, harborOptions } from "./options.ts";
import { nop, oracle } from "./policies.ts";
import { programs } from "./program.ts";
import { type Hidden, harborTasks, type Shown } from "./tasks.ts";

/** Longest build, longest step with its tests, and longest program: the task has time limits of its own below them. */
const DEADLINE_MS = 8 * 3_600_000;
const ASKER = "environment harbor@1";

/** `harbor@1`. */
export const harbor = defineEnvironment<HarborOptions, Shown, Hidden>({
  id: "harbor@1",
  description: "Tasks of a shell from folders in the format of Harbor, graded by their tests in a new jail.",
  determinism: ({ program }) => (program === undefined ? "replayable" : "none"),
  options: harborOptions,
  requires: (_, { program }) => [
    { id: "workspace:linux", asker: ASKER },
    ...(program === undefined ? [{ id: "tool:shell@1", asker: ASKER } as const] : []),
  ],
  rewardComponents: ["reward"],
  deadlines: { setupMs: DEADLINE_MS, stepMs: DEADLINE_MS, closeMs: 60_000 },
  tasks: harborTasks,
  create: (context, options) =>
    options.program === undefined
      ? new HarborEnvironment(context, options)
      : programs.create(context, { ...options, program: options.program }),
  scriptedPolicies: { oracle, nop },
  fixtures,
});
