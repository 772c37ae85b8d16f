/**
 * node --conditions=mrlm-source test/interop/python-env/reasoning-gym.ts RESULTS [--python PATH] [NAME...]: plays every task set of reasoning-gym by python-env@1, and writes
 * environments/python/REASONING-GYM.md. RESULTS is a file of JSON lines, to which each measured set is added: sets that stand in it are not measured again.
 */
import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs, promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { KWARGS, type MeasuredSet, measureTaskSet } from "./measure-task-set.ts";
import { tableOf } from "./table.ts";

const run = promisify(execFile);
const { values, positionals } = parseArgs({
  options: { python: { type: "string", default: "python3" } },
  allowPositionals: true,
});
const [results = "reasoning-gym.jsonl", ...wanted] = positionals;
const NAMES = `
import json, importlib.metadata, reasoning_gym.factory
print(json.dumps([importlib.metadata.version("reasoning-gym"), sorted(reasoning_gym.factory.DATASETS)]))
`;
const listed = execFileSync(values.python, ["-c", NAMES], { encoding: "utf8" });
const [version, names] = JSON.parse(listed.trim().split("\n").at(-1) as string) as [string, string[]];
const read = (): MeasuredSet[] =>
  existsSync(results)
    ? readFileSync(results, "utf8")
        .trim()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as MeasuredSet)
    : [];
const known = new Set(read().map(({ name }) => name));
for (const name of wanted.length > 0 ? wanted : names) {
  if (known.has(name)) continue;
  const begin = performance.now();
  const measured = await measureTaskSet(name, values.python);
  appendFileSync(results, `${JSON.stringify(measured)}\n`);
  console.error(`${name} ${((performance.now() - begin) / 1000).toFixed(1)} s ${JSON.stringify(measured)}`);
}
const all = new Map(read().map((set) => [set.name, set]));
if (names.every((name) => all.has(name))) {
  const path = fileURLToPath(new URL("../../../environments/python/REASONING-GYM.md", import.meta.url));
  const sets = names.map((name) => all.get(name) as MeasuredSet);
  const asked = JSON.stringify(sets.map(({ name, places }) => ({ name, places, kwargs: KWARGS[name] ?? {} })));
  const compare = async (how: "library" | "worker" | "code", seed: string): Promise<Record<string, string>> => {
    const args = [fileURLToPath(new URL("compare.py", import.meta.url)), how, seed];
    const running = run(values.python, args, { env: { ...process.env, PYTHONHASHSEED: seed }, maxBuffer: 1 << 26 });
    running.child.stdin?.end(asked);
    return JSON.parse((await running).stdout.trim().split("\n").at(-1) as string) as Record<string, string>;
  };
  const [worker, one, other, code] = await Promise.all([
    compare("worker", "0"),
    compare("library", "1"),
    compare("library", "2"),
    compare("code", "0"),
  ]);
  const compared = sets.map((set) => {
    const isSame = worker[set.name] === set.digest;
    return {
      ...set,
      runsCode: code[set.name] === "code",
      same: isSame,
      upstreamSame: one[set.name] === other[set.name] && one[set.name] === set.digest,
    };
  });
  writeFileSync(path, tableOf(version, compared, KWARGS));
  console.error(`written: ${path}`);
}
process.exit(0);
