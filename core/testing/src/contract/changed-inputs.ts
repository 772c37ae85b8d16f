import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { randomStream } from "@mrlm/kit";
import { locationOf } from "../check/location-of.ts";
import type { ChangedInputs, InputKind, InputRead } from "./watched-inputs.ts";

const DAY_MS = 86_400_000;
/** Every weekday, every month, several years and every day of a month, at different hours, minutes and milliseconds. The most different come first. */
const CLOCKS = [
  ...days(1, 7),
  ...Array.from({ length: 11 }, (_, i) => (i + 1) * (30 * DAY_MS + 77_003)),
  ...[-1, 2, 10, 50].map((year) => year * 366 * DAY_MS + 1),
  ...days(8, 62),
];
/** Time that passes between two readings of a clock where an episode is slow, in milliseconds. */
const READING_MS = 7_000;
const RANDOM_STREAMS = 4;
/** Number of random numbers at the beginning of an episode that are the smallest or the largest. */
const EXTREMES = 8;

/** Inputs under which an episode is played once more. */
export interface Variation {
  readonly kind: InputKind;
  readonly changed: ChangedInputs;
  /** `with another date`. */
  readonly how: string;
  /** Whether an episode may fail: a time limit in it can pass. */
  readonly canFail?: boolean;
}

/** Returns other values of the inputs that were read. The literals beside a reading are among them: they are what the value is compared with. */
export function variationsOfInputs(reads: readonly InputRead[]): Variation[] {
  const isRead = (kind: InputKind): boolean => reads.some((read) => read.kind === kind);
  const variations: Variation[] = [];
  if (isRead("clock")) {
    variations.push({ kind: "clock", changed: { readingMs: READING_MS }, how: "slowly", canFail: true });
    for (const clockMs of CLOCKS)
      variations.push({
        kind: "clock",
        changed: { clockMs },
        how: `at ${new Date(Date.now() + clockMs).toISOString()}`,
      });
  }
  for (let seed = 0; isRead("random numbers") && seed < RANDOM_STREAMS; seed++)
    variations.push({ kind: "random numbers", changed: { random: extremes(seed) }, how: "with other random numbers" });
  for (const { kind, name, error } of reads) {
    if (kind === "file")
      variations.push({ kind, changed: { missing: name }, how: `without ${name}, which is no file of the package` });
    const values = ["1", "true", ...literalsNear(error)];
    if (kind === "arguments")
      for (const value of values)
        variations.push({
          kind,
          changed: { arguments: [...process.argv.slice(0, 2), value] },
          how: `with the argument ${value}`,
        });
    if (kind !== "variable") continue;
    const variable = name.slice("process.env.".length);
    for (const value of [undefined, ...values]) {
      const how = value === undefined ? `without the variable ${variable}` : `with ${variable}=${value}`;
      variations.push({ kind, changed: { variables: { [variable]: value } }, how });
    }
  }
  return variations;
}

function days(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * (DAY_MS + 1_173_039));
}

/** Returns a stream that begins with the smallest numbers, the largest ones, or both in some order. It continues: code can draw until it has another number. */
function extremes(seed: number): () => number {
  const stream = randomStream("inputs of an episode", seed);
  let drawn = 0;
  return () => {
    if (drawn++ >= EXTREMES) return stream.next();
    const isSmall = seed === 0 || (seed > 1 && stream.next() < 0.5);
    return isSmall ? Number.EPSILON : 1 - Number.EPSILON;
  };
}

/** Returns the quoted texts in the line of the innermost frame of a stack. */
function literalsNear({ stack = "" }: Error): string[] {
  const location = stack
    .split("\n")
    .map(locationOf)
    .find((each) => each !== undefined);
  if (location === undefined) return [];
  const { path, line } = location;
  try {
    const text =
      readFileSync(path.startsWith("file:") ? fileURLToPath(path) : path, "utf8").split("\n")[line - 1] ?? "";
    return [...text.matchAll(/(["'`])([^"'`]{1,50})\1/g)].map(([, , literal = ""]) => literal).slice(0, 5);
  } catch {
    return [];
  }
}
