import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { attempt, ROOT, userEnvironment } from "../../test/lifecycle/support/program.ts";

const FOLDERS = ["core/testing/fixtures/broken", "test/plugins/broken"].map((folder) => join(ROOT, folder));

/** Checks every broken plugin by the command: how many have their defect found, and how many other findings there are. */
export async function brokenFigures(): Promise<Record<string, number>> {
  const directories = FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  let found = 0;
  let others = 0;
  const waiting = directories.values();
  const checkNext = async (): Promise<void> => {
    for (const directory of waiting) await check(directory);
  };
  const check = async (directory: string): Promise<void> => {
    const { expects } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { expects: string };
    const codes = await findingsOf(directory);
    const isFound = codes.includes(expects);
    found += isFound ? 1 : 0;
    others += codes.length - (isFound ? 1 : 0);
    if (!isFound || codes.length > 1) console.error(`${directory}: expected ${expects}, found ${codes.join(", ")}`);
  };
  // Most checks wait more than they compute.
  await Promise.all(Array.from({ length: cpus().length }, checkNext));
  return { broken_plugins: directories.length, broken_found: found, false_findings: others };
}

/** Returns the codes of the findings that are not acknowledged. */
async function findingsOf(directory: string): Promise<string[]> {
  const command = [join(ROOT, "core/cli/bin/mrlm.js"), "check", directory, "--json"];
  const { stdout } = await attempt(process.execPath, command, ROOT, userEnvironment());
  const events = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { event: string; code: string; acknowledged?: string | null });
  return events
    .filter(({ event, acknowledged }) => event === "finding" && (acknowledged ?? null) === null)
    .map(({ code }) => code);
}
