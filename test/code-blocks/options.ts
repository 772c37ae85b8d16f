import { dpo } from "@mrlm/dpo";
import { code } from "@mrlm/environment-code";
import { math } from "@mrlm/environment-math";
import { nim } from "@mrlm/environment-nim";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import { sft } from "@mrlm/sft";
import type { EnvironmentDefinition } from "@mrlm/spec";

interface Definition {
  readonly id: string;
  readonly options?: EnvironmentDefinition["options"];
}

/** Built-in algorithms and environments whose options pages show. */
const DEFINITIONS: readonly Definition[] = [code, dpo, grpo, math, nim, ppo, sft];

/** Returns what is wrong with options of a built-in algorithm or environment. Options that a page leaves out are no fault. */
export async function optionFaults(id: string, given: object): Promise<string[]> {
  const definition = DEFINITIONS.find((each) => each.id === id || each.id.startsWith(`${id}@`));
  if (definition?.options === undefined) return [];
  const { issues = [] } = await definition.options["~standard"].validate(given);
  return issues
    .filter(({ message }) => !message.endsWith("received undefined"))
    .map(({ path = [], message }) => `${id}: ${path.map(String).join(".")} ${message}`);
}
