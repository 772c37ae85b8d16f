import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import type { Finding } from "@mrlm/testing";
import { checkPackage, findPackage } from "../../src/services/check-package.ts";

const FOLDER = fileURLToPath(new URL("../../../testing/fixtures/broken/", import.meta.url));

/** Names of the plugins with one defect. */
export const BROKEN = readdirSync(FOLDER).sort();

/** Returns the code that `mrlm check` must report of a broken plugin. */
export function expectedOf(name: string): string {
  const json = JSON.parse(readFileSync(join(FOLDER, name, "package.json"), "utf8")) as { readonly expects: string };
  return json.expects;
}

/** Checks a broken plugin, and returns the open findings. */
export async function findingsOf(name: string, options: { readonly quick?: boolean } = {}): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const message of checkPackage(findPackage(join(FOLDER, name), FOLDER), options))
    if (message.event === "finding" && message.finding.acknowledged === undefined) findings.push(message.finding);
  return findings;
}
