import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import type { Finding } from "@mrlm/testing";
import { checkPackage, findPackage } from "../../src/services/check-package.ts";

const FOLDER = fileURLToPath(new URL("../../../testing/fixtures/broken/", import.meta.url));

/** Names of the plugins with one defect. */
export const BROKEN = readdirSync(FOLDER).sort();

/** Defect of a broken plugin, as its package.json states it. */
interface StatedDefect {
  /** Code that `mrlm check` must report, and nothing else. */
  readonly expects: string;
  /** Text of the message, where the code alone could stand for another defect. */
  readonly message?: string;
  /** Whether `mrlm check --quick` does not find it, or takes more than a few seconds. */
  readonly slow?: boolean;
}

export function statedDefect(name: string): StatedDefect {
  return JSON.parse(readFileSync(join(FOLDER, name, "package.json"), "utf8")) as StatedDefect;
}

/** Checks a broken plugin, and returns the open findings. */
export async function findingsOf(name: string, options: { readonly quick?: boolean } = {}): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const message of checkPackage(findPackage(join(FOLDER, name), FOLDER), options))
    if (message.event === "finding" && message.finding.acknowledged === undefined) findings.push(message.finding);
  return findings;
}
