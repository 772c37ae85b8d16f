import type { Fingerprint, Row, Value } from "./fingerprint.ts";

/** Names that a later commit has changed, old to new: of metrics and fields of rows, of parts of tensor keys. `null`: only one side has it, and it is not compared. */
export type Renames = Readonly<Record<string, string | null>>;

/** One difference between two runs; `base` and `head` are `undefined` where a side lacks the value. */
export type Difference =
  | { readonly about: "rows"; readonly base: string | undefined; readonly head: string | undefined }
  | {
      readonly about: "metric";
      readonly name: string;
      readonly row: string;
      readonly base: Value | undefined;
      readonly head: Value | undefined;
    }
  | {
      readonly about: "tensor";
      readonly key: string;
      readonly baseKey: string;
      readonly how: "values" | "type or shape" | "missing" | "added";
    };

export interface CompareOptions {
  readonly renames?: Renames;
  /** Relative bound for losses, twenty times it for gradient norms, in place of equal bits; nothing else is compared then. */
  readonly tolerance?: number | undefined;
}

/** Returns all differences: those of metrics in the order of the rows, then those of tensors in the order of the checkpoints. */
export function compareFingerprints(
  base: Fingerprint,
  head: Fingerprint,
  { renames = {}, tolerance }: CompareOptions = {},
): Difference[] {
  const metrics = compareRows(renamedRows(base, renames), renamedRows(head, renames), tolerance);
  return tolerance === undefined ? [...metrics, ...compareTensors(base, head, renames)] : metrics;
}

function compareRows(base: readonly Row[], head: readonly Row[], tolerance: number | undefined): Difference[] {
  const differences: Difference[] = [];
  for (let i = 0; i < Math.max(base.length, head.length); i++) {
    const [one, other] = [base[i], head[i]];
    const [baseName, headName] = [one && rowName(one), other && rowName(other)];
    // The rows after a missing one would all be compared with their neighbours.
    if (one === undefined || other === undefined || baseName !== headName)
      return [...differences, { about: "rows", base: baseName, head: headName }];
    const names = Object.keys({ ...one.values, ...other.values }).filter(
      (name) => tolerance === undefined || isLoss(name) || isGradientNorm(name),
    );
    for (const name of names) {
      const [a, b] = [one.values[name], other.values[name]];
      if (!isSame(name, a, b, tolerance))
        differences.push({ about: "metric", name, row: baseName as string, base: a, head: b });
    }
  }
  return differences;
}

function compareTensors(base: Fingerprint, head: Fingerprint, renames: Renames): Difference[] {
  const [theirs, ours] = [base, head].map(
    ({ tensors }) =>
      new Map(
        Object.keys(tensors).flatMap((key) => {
          const renamed = renamedTensor(key, renames);
          return renamed === undefined ? [] : [[renamed, key] as const];
        }),
      ),
  ) as [Map<string, string>, Map<string, string>];
  return [...new Set([...theirs.keys(), ...ours.keys()])].sort().flatMap((key): Difference[] => {
    const [baseKey, headKey] = [theirs.get(key), ours.get(key)];
    const [one, other] = [base.tensors[baseKey ?? ""], head.tensors[headKey ?? ""]];
    const how =
      one === undefined
        ? "added"
        : other === undefined
          ? "missing"
          : one.dtype !== other.dtype || String(one.shape) !== String(other.shape)
            ? "type or shape"
            : one.sha256 !== other.sha256
              ? "values"
              : undefined;
    return how === undefined ? [] : [{ about: "tensor", key: headKey ?? key, baseKey: baseKey ?? key, how }];
  });
}

function isSame(name: string, a: Value | undefined, b: Value | undefined, tolerance: number | undefined): boolean {
  if (tolerance === undefined || typeof a !== "number" || typeof b !== "number") return a === b;
  // A loss is a sum of terms of about 1 that may cancel: near zero only its absolute error means something.
  const scale = isLoss(name)
    ? Math.max(Math.abs(a), Math.abs(b), 1)
    : GRADIENT_NORM_FACTOR * Math.max(Math.abs(a), Math.abs(b));
  return Math.abs(a - b) <= tolerance * scale;
}

/** Gradient norms amplify differences: learning rates larger by 1e-8 change no loss of the cases by 1e-5 and some gradient norms by up to 1.3e-4. */
const GRADIENT_NORM_FACTOR = 20;
const isLoss = (name: string): boolean => name.startsWith("metrics/loss/");
const isGradientNorm = (name: string): boolean => /^metrics\/.*grad_norm/.test(name);

function rowName({ kind, step, stage }: Row): string {
  return `${kind} at step ${step} (${stage})`;
}

function renamedRows({ rows }: Fingerprint, renames: Renames): Row[] {
  return rows.map((row) => ({
    ...row,
    values: Object.fromEntries(
      Object.entries(row.values).flatMap(([name, value]) => {
        // The first part is the field of the row, the rest is the name of the metric.
        const [field = "", ...rest] = name.split("/");
        const parts = [renamed(field, renames), rest.length === 0 ? "" : renamed(rest.join("/"), renames)];
        return parts.includes(undefined) ? [] : [[parts.filter((part) => part !== "").join("/"), value] as const];
      }),
    ),
  }));
}

/** Renames the parts of a tensor's key: its folders, its file and its name. */
function renamedTensor(key: string, renames: Renames): string | undefined {
  const [path = "", ...name] = key.split(" ");
  const folders = path.split("/").map((part) => renamed(part, renames));
  const tensor = renamed(name.join(" "), renames);
  return tensor === undefined || folders.includes(undefined) ? undefined : `${folders.join("/")} ${tensor}`;
}

/** Returns the new name; `undefined` for what is not compared. */
function renamed(name: string, renames: Renames): string | undefined {
  return Object.hasOwn(renames, name) ? (renames[name] ?? undefined) : name;
}
