// npm run soak:sandbox [-- --minutes N] [--seed N]: good and hostile submissions in a random order over every sandbox that is installed. The last line is JSON.
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { randomStream } from "@mrlm/kit";
import { PluginHost } from "@mrlm/runtime";
import type { Sandbox } from "@mrlm/spec";
import { type HostileProgram, readCorpus, runHostile } from "@mrlm/testing";

const MEGABYTE = 1024 * 1024;
/** Of the submissions; the others are good. */
const HOSTILE_SHARE = 0.3;
const LANES = 2;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" }, seed: { type: "string", default: "0" } } });
const random = randomStream("soak", Number(values.seed));
const root = new URL("../../", import.meta.url);
const plugins = await PluginHost.discover({ directory: root.pathname });
const end = performance.now() + Number(values.minutes) * 60_000;
const rss: number[] = [];
const wrong: string[] = [];
let submissions = 0;
let hostile = 0;
let latestMs = 0;
let mostOverMb = 0;

const sandboxes = await Promise.all(
  plugins.registry.ids("sandbox").map(async (id) => ({ sandbox: await plugins.service("sandbox", id, "the soak"), corpus: corpusOf(id) })),
);
await Promise.all(sandboxes.flatMap((entry) => Array.from({ length: LANES }, () => lane(entry.sandbox, entry.corpus))));
await plugins.close();
const orphans = childProcesses();
const report = { minutes: Number(values.minutes), submissions, hostile, wrong: wrong.length, late_ms: Math.round(latestMs), over_mb: Math.round(mostOverMb), rss_mb: [rss[0], rss.at(-1)], orphans: orphans.length };
console.log(JSON.stringify(report));
process.exitCode = wrong.length + orphans.length > 0 ? 1 : 0;

async function lane(sandbox: Sandbox, corpus: readonly HostileProgram[]): Promise<void> {
  while (performance.now() < end) {
    submissions += 1;
    if (submissions % 200 === 1) note();
    if (corpus.length > 0 && random.next() < HOSTILE_SHARE) await runOneHostile(sandbox, corpus[random.integer(0, corpus.length - 1)] as HostileProgram);
    else await runOneGood(sandbox);
  }
}

async function runOneHostile(sandbox: Sandbox, program: HostileProgram): Promise<void> {
  hostile += 1;
  const { complaint, lateMs, overBytes } = await runHostile(sandbox, program);
  latestMs = Math.max(latestMs, lateMs);
  mostOverMb = Math.max(mostOverMb, overBytes / MEGABYTE);
  if (complaint !== undefined) complain(`${sandbox.language}, ${program.name}: ${complaint}`);
}

async function runOneGood(sandbox: Sandbox): Promise<void> {
  const [a, b] = [random.integer(0, 1000), random.integer(0, 1000)];
  const code = sandbox.language === "python" ? "def add(a, b):\n    return a + b" : "const add = (a, b) => a + b;";
  const test = sandbox.language === "python" ? `assert add(${a}, ${b}) == ${a + b}` : `assert.equal(add(${a}, ${b}), ${a + b});`;
  const { tests } = await sandbox.test({ code }, { entryPoints: ["add"], tests: [{ name: "adds", code: test }] });
  if (tests[0]?.verdict !== "passed") complain(`${sandbox.language}, a good submission: ${JSON.stringify(tests)}`);
}

function complain(what: string): void {
  wrong.push(what);
  console.error(what);
}

function note(): void {
  rss.push(Math.round(process.memoryUsage.rss() / MEGABYTE));
  console.error(`${submissions} submissions, ${hostile} hostile, ${wrong.length} wrong, ${rss.at(-1)} MB`);
}

function corpusOf(language: string): HostileProgram[] {
  const folder = new URL(`plugins/sandbox-${language}/test/hostile/`, root);
  try {
    return readdirSync(folder).flatMap((file) => readCorpus(readFileSync(new URL(file, folder), "utf8")));
  } catch {
    return [];
  }
}

/** Processes of ours that are still there. */
function childProcesses(): string[] {
  return readdirSync("/proc/self/task").flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" ").filter(Boolean));
}
