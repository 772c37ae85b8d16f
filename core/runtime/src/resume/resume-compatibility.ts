import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import { withShortForms } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { type Change, describeChange, diffConfigs } from "./config-diff.ts";

const MESH = "engine.parallel";

/** Returns the part of a configuration that decides what is learnt. */
export function learningSettings(config: ResolvedConfig): JsonObject {
  const { seed, model, policies, stages, sampling } = withShortForms(config);
  // A watch changes nothing that is learnt.
  const played = config.environments.map(({ watch: _, ...environment }) => environment);
  // A run that ended at its limit may continue with another one.
  const { max_kl: _, ...play } = config.play;
  // A checkpoint has a directory for each engine.
  const engines =
    config.engines &&
    Object.fromEntries(Object.entries(config.engines).map(([name, { models: held }]) => [name, { models: held }]));
  const { parallel } = config.engine;
  const settings = { seed, model, policies, environments: played, stages, sampling, play, engines, [MESH]: parallel };
  return JSON.parse(JSON.stringify(settings)) as JsonObject;
}

/** Number of iterations of a stage, or of one of its learners. Names of policies may have dots. */
const STEPS = /^(\.learners\.((?!\.options\.).)+)?\.options\.steps$/;

/** Permitted differences between a run and its checkpoint: lengths of stages, stages added, and the use of memory. */
export interface Extension {
  readonly changed: readonly { readonly stage: number; readonly before: number; readonly after: number }[];
  /** Number of stages added at the end. */
  readonly added: number;
  /** Changes of {@link MEMORY_FIELD}. */
  readonly memory: readonly Change[];
}

/** Fields that decide how much is computed together, and by how many processes. They change the last bits of the result only. */
const MEMORY_FIELD =
  /^((model|policies\..+)\.(micro_batch_tokens|gradient_checkpointing)|sampling\.concurrency|engine\.parallel(\..+)?)$/;

/**
 * Returns how a run differs from its checkpoint: `steps` of a stage that is not complete, more stages, memory fields.
 * Throws CHECKPOINT_MISMATCH, with each field, when anything else differs: that is another run.
 * @param firstOpen the first stage whose length may change, and its number of completed iterations
 */
export function extensionOf(
  path: string,
  before: JsonObject,
  after: JsonObject,
  firstOpen: { readonly stage: number; readonly iteration: number },
): Extension {
  const stagesBefore = (before["stages"] as JsonValue[]).length;
  const changed: Extension["changed"][number][] = [];
  const memory: Change[] = [];
  let added = 0;
  const refused = diffConfigs(before, after).filter((change) => {
    if (MEMORY_FIELD.test(change.field)) return memory.push(change) < 0;
    const [, stage, place] = /^stages\[(\d+)\](.*)$/.exec(change.field) ?? [];
    const index = Number(stage);
    if (stage === undefined || index < firstOpen.stage) return true;
    if (place === "" && change.before === undefined && index >= stagesBefore) return ++added < 0;
    if (
      place === undefined ||
      !STEPS.test(place) ||
      typeof change.before !== "number" ||
      typeof change.after !== "number"
    )
      return true;
    if (index === firstOpen.stage && change.after < firstOpen.iteration) return true;
    changed.push({ stage: index, before: change.before, after: change.after });
    return false;
  });
  if (refused.length === 0) return { changed, added, memory };
  const [only] = refused;
  const open = `stages[${firstOpen.stage}]`;
  if (
    only !== undefined &&
    refused.every(({ field }) => field.startsWith(open) && STEPS.test(field.slice(open.length))) &&
    typeof only.after === "number"
  ) {
    throw new MrlmError(
      "CHECKPOINT_MISMATCH",
      `At checkpoint ${path} stage ${firstOpen.stage + 1} has done ${firstOpen.iteration} steps already: it cannot have ${only.after}.`,
      {
        hint: `Give it ${firstOpen.iteration} or more, or go back to an earlier checkpoint: \`--resume RUN/checkpoints/STEP-STAGE\`.`,
      },
    );
  }
  throw new MrlmError(
    "CHECKPOINT_MISMATCH",
    `Checkpoint ${path} was written under another configuration. ${refused.map(describeChange).join("; ")}.`,
    {
      hint: "Put these back in config.yaml of the run, or start a new run with `mrlm train --config`. What a run may change is `steps` of a stage that is not over, stages after its last, and what is computed at once: model.micro_batch_tokens, model.gradient_checkpointing, sampling.concurrency, engine.parallel.",
    },
  );
}

/** Returns notices about the changes of a resumed run, with their effect on learning-rate schedules. */
export function describeExtension({ changed, added, memory }: Extension, { stages }: ResolvedConfig): string[] {
  const lengths = [...Map.groupBy(changed, ({ stage }) => stage)].map(([stage, [change]]) => {
    const { before, after } = change as Extension["changed"][number];
    const { name, learners } = stages[stage] as ResolvedConfig["stages"][number];
    const schedules = Object.values(learners).map(({ options }) => scheduleOf(options["lr_schedule"], before, after));
    return `Stage ${name} now has ${after} steps instead of ${before}. ${[...new Set(schedules)].join(" ")}`;
  });
  const notices = [
    ...lengths,
    ...memory.map(
      (change) =>
        `${describeChange(change)}: other numbers are computed at once, which takes a different amount of memory and may change the last bits of the result.`,
    ),
  ];
  return added === 0
    ? notices
    : [
        ...notices,
        `${added} ${added === 1 ? "stage was" : "stages were"} added at the end: ${stages
          .slice(-added)
          .map(({ name }) => name)
          .join(", ")}.`,
      ];
}

function scheduleOf(schedule: unknown, before: number, after: number): string {
  if (schedule === undefined || schedule === "constant")
    return "Its learning rate is constant and stays as it is: the result is the same as if it had had that many from the start.";
  const way =
    after > before
      ? "rises from where the old schedule had brought it"
      : "falls below where the old schedule had brought it";
  return `Its lr_schedule, ${String(schedule)}, now ends at step ${after} instead of ${before}: the learning rate ${way}, and the result differs from that of a run with that many steps from the start.`;
}
