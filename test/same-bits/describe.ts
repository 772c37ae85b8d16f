import type { Difference } from "./compare.ts";
import { locateTensor } from "./fingerprint.ts";
import { relativeNorm } from "./safetensors.ts";

/**
 * Describes the first difference of the metrics and the first of the tensors, and counts the others.
 * @param baseRun run directory of the base, for the size of a tensor's difference
 */
export function describeDifferences(differences: readonly Difference[], baseRun: string, headRun: string): string {
  const metric = differences.find(({ about }) => about !== "tensor");
  const tensor = differences.find(({ about }) => about === "tensor");
  const first = [metric, tensor]
    .filter((found) => found !== undefined)
    .map((found) => describe(found, baseRun, headRun));
  return [
    ...first,
    `in all ${count(differences, "metric")} metric values and ${count(differences, "tensor")} tensors`,
  ].join("; ");
}

/**
 * Returns the largest relative norm of the differences of tensors of the last checkpoint; `undefined` where none differs.
 */
export function largestNorm(differences: readonly Difference[], baseRun: string, headRun: string): number | undefined {
  const tensors = differences.filter((difference) => difference.about === "tensor");
  const last = tensors.map(checkpointOf).sort().at(-1);
  const norms = tensors
    .filter((difference) => checkpointOf(difference) === last)
    .map(({ baseKey, key }) => normOf(baseKey, key, baseRun, headRun) ?? Infinity);
  return norms.length === 0 ? undefined : Math.max(...norms);
}

function describe(difference: Difference, baseRun: string, headRun: string): string {
  if (difference.about === "rows")
    return `the base has ${difference.base ?? "no row"} where this commit has ${difference.head ?? "no row"}`;
  if (difference.about === "metric")
    return `${difference.row}, ${difference.name}: ${difference.base ?? "missing"} in the base, ${difference.head ?? "missing"} here`;
  const { key, baseKey, how } = difference;
  if (how !== "values") return `tensor ${key}: ${how}`;
  const norm = normOf(baseKey, key, baseRun, headRun);
  return `tensor ${key}: relative norm of the difference ${norm === undefined ? "unknown" : norm.toExponential(2)}`;
}

function normOf(baseKey: string, key: string, baseRun: string, headRun: string): number | undefined {
  return relativeNorm(locateTensor(baseRun, baseKey), locateTensor(headRun, key));
}

const checkpointOf = ({ key }: { readonly key: string }): string => key.split("/")[0] as string;
const count = (differences: readonly Difference[], what: Difference["about"]): number =>
  differences.filter(({ about }) => about === what).length;
