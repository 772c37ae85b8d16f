import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { type TensorPlace, type TensorPrint, tensorPrints } from "./safetensors.ts";

export type Value = number | boolean | null;

/** A row of metrics.jsonl: its numbers by their paths (`metrics/loss/nll`), without texts and seconds. */
export interface Row {
  readonly kind: string;
  readonly step: number;
  readonly stage: string;
  readonly values: Readonly<Record<string, Value>>;
}

/** Result of a run to the last bit: metrics, and weights and optimizer states of every checkpoint. */
export interface Fingerprint {
  readonly rows: readonly Row[];
  /** By `CHECKPOINT/FILE NAME`, for example `00000004-2/engine/models/0/weights.safetensors model.norm.weight`. */
  readonly tensors: Readonly<Record<string, TensorPrint>>;
}

/** Durations differ between two runs of the same commit. */
const DURATIONS = /seconds|^wait\//i;
/** State of the random streams; its layout may change while the draws stay. */
const STATE_FILES = /random\.safetensors$/;

/** Reads the fingerprint of a run that has ended. */
export function fingerprintOf(runDirectory: string): Fingerprint {
  const lines = readFileSync(join(runDirectory, "metrics.jsonl"), "utf8").trim().split("\n");
  const checkpoints = join(runDirectory, "checkpoints");
  const files = readdirSync(checkpoints, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".safetensors") && !STATE_FILES.test(file),
  );
  const tensors = files
    .sort()
    .flatMap((file) =>
      Object.entries(tensorPrints(join(checkpoints, file))).map(
        ([name, print]) => [`${file.split(sep).join("/")} ${name}`, print] as const,
      ),
    );
  return {
    rows: lines.map((line) => row(JSON.parse(line) as Record<string, unknown>)),
    tensors: Object.fromEntries(tensors),
  };
}

/** Returns the file and the name in it that a key of `Fingerprint.tensors` consists of. */
export function locateTensor(runDirectory: string, key: string): TensorPlace {
  const end = key.indexOf(".safetensors ") + ".safetensors".length;
  return { file: join(runDirectory, "checkpoints", key.slice(0, end)), name: key.slice(end + 1) };
}

function row({ kind, step, stage, ...rest }: Record<string, unknown>): Row {
  return { kind: String(kind), step: Number(step), stage: String(stage), values: Object.fromEntries(leaves(rest, "")) };
}

function leaves(value: unknown, path: string): [string, Value][] {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return [[path, value]];
  if (typeof value !== "object") return [];
  return Object.entries(value as object)
    .filter(([key]) => !DURATIONS.test(key))
    .flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}/${key}`));
}
