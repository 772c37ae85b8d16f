import dpo from "@mrlm/dpo";
import code from "@mrlm/environment-code";
import math from "@mrlm/environment-math";
import nim from "@mrlm/environment-nim";
import grpo from "@mrlm/grpo";
import ppo from "@mrlm/ppo";
import sft from "@mrlm/sft";
import type { StandardSchemaV1 } from "@standard-schema/spec";

interface Definition {
  readonly id: string;
  readonly options?: StandardSchemaV1;
}

/** Built-in algorithms and environments whose options pages show. */
const DEFINITIONS: readonly Definition[] = [
  ...[dpo, grpo, ppo, sft].flatMap(({ algorithms = [] }) => algorithms as readonly Definition[]),
  ...[code, math, nim].flatMap(({ environments = [] }) => environments as readonly Definition[]),
];

/** Returns what is wrong with options of a built-in algorithm or environment. Options that a page leaves out are no fault. */
export async function optionFaults(id: string, given: object): Promise<string[]> {
  const definition = DEFINITIONS.find((each) => each.id === id || each.id.startsWith(`${id}@`));
  if (definition?.options === undefined) return [];
  const { issues = [] } = await definition.options["~standard"].validate(given);
  return issues
    .filter(({ message }) => !/received undefined$/.test(message))
    .map(({ path = [], message }) => `${id}: ${path.map(String).join(".")} ${message}`);
}
