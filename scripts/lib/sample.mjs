import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { root } from "./repository.mjs";

/** CPU seconds that the sample of one suite may take. */
const BUDGET = 60;

/**
 * A part of a long suite: a file, or its tests of a name, and the CPU seconds that they took when they were measured.
 * @typedef {{ suite: string, file: string, name?: string, cpu: number }} Part
 */

/**
 * Returns parts of each long suite, in an order that the seed gives, up to a budget.
 * @param {number} seed
 */
export function chooseSample(seed) {
  /** @type {Part[]} */
  const parts = JSON.parse(readFileSync(join(root, "test", "samples.json"), "utf8"));
  const suites = [...new Set(parts.map(({ suite }) => suite))];
  return suites.flatMap((suite) =>
    fill(
      parts.filter((part) => part.suite === suite),
      seed,
    ),
  );
}

/** @param {Part[]} parts @param {number} seed */
function fill(parts, seed) {
  let left = BUDGET;
  return shuffle(parts, seed).filter(({ cpu }) => {
    if (cpu > left) return false;
    left -= cpu;
    return true;
  });
}

/** @param {Part[]} parts @param {number} seed */
function shuffle(parts, seed) {
  const rank = (/** @type {Part} */ { file, name }) =>
    createHash("sha256").update(`${seed} ${file} ${name}`).digest("hex");
  return parts.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
