import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolved-config.ts";
import { canonicalJson } from "../names/canonical-json.ts";

/** Of everything in a configuration, what decides what is learnt. */
export function learningOf(config: ResolvedConfig): JsonObject {
  const { seed, model, environments, stages, sampling } = config;
  return JSON.parse(JSON.stringify({ seed, model, environments, stages, sampling })) as JsonObject;
}

/** A value that is another now; `undefined` stands for none. */
export interface Change {
  /** As in `stages[1].options.learning_rate`. */
  readonly field: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Every value that differs, by its place. */
export function changesOf(before: JsonValue | undefined, after: JsonValue | undefined, field = ""): Change[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const both = [before, after].map((value) => membersOf(value, field));
  const [one, other] = both as [Map<string, JsonValue> | undefined, Map<string, JsonValue> | undefined];
  if (one === undefined || other === undefined || Array.isArray(before) !== Array.isArray(after))
    return [{ field, before, after }];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((place) =>
    changesOf(one.get(place), other.get(place), place),
  );
}

export function describeChange({ field, before, after }: Change): string {
  const shown = (value: JsonValue | undefined): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return `${field}: ${shown(before)} -> ${shown(after)}`;
}

/** What a run may change: which stages have another length than they had when its checkpoint was written, and how memory is used. */
export interface Extension {
  readonly changed: readonly { readonly stage: number; readonly before: number; readonly after: number }[];
  /** Stages that have come at the end. */
  readonly added: number;
  /** Values of {@link MEMORY_FIELDS} that are others now. */
  readonly memory: readonly Change[];
}

/** Fields that decide what is computed together, and change nothing but last bits. */
const MEMORY_FIELDS = ["model.micro_batch_tokens", "model.gradient_checkpointing", "sampling.concurrency"];

/**
 * How a run is longer or shorter than it was: `steps` of a stage that is not over, or more stages. Throws CHECKPOINT_MISMATCH, with each field, when anything else
 * has changed: it would be another run.
 * @param firstOpen the first stage whose length may change, and how many of its iterations are done
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
  const refused = changesOf(before, after).filter((change) => {
    if (MEMORY_FIELDS.includes(change.field)) return memory.push(change) < 0;
    const [, stage, place] = /^stages\[(\d+)\](.*)$/.exec(change.field) ?? [];
    const index = Number(stage);
    if (stage === undefined || index < firstOpen.stage) return true;
    if (place === "" && change.before === undefined && index >= stagesBefore) return ++added < 0;
    if (place !== ".options.steps" || typeof change.before !== "number" || typeof change.after !== "number")
      return true;
    if (index === firstOpen.stage && change.after < firstOpen.iteration) return true;
    changed.push({ stage: index, before: change.before, after: change.after });
    return false;
  });
  if (refused.length === 0) return { changed, added, memory };
  const [only] = refused;
  if (
    refused.length === 1 &&
    only?.field === `stages[${firstOpen.stage}].options.steps` &&
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
      hint: "Put these back in config.yaml of the run, or start a new run with `mrlm train --config`. What a run may change is `steps` of a stage that is not over, stages after its last, and what is computed at once: model.micro_batch_tokens, model.gradient_checkpointing, sampling.concurrency.",
    },
  );
}

function membersOf(value: JsonValue | undefined, field: string): Map<string, JsonValue> | undefined {
  if (Array.isArray(value)) return new Map(value.map((member, i) => [`${field}[${i}]`, member]));
  if (typeof value !== "object" || value === null) return undefined;
  return new Map(
    Object.entries(value).map(([key, member]) => [field === "" ? key : `${field}.${key}`, member as JsonValue]),
  );
}
