// npm run soak:sandbox [-- --minutes N] [--seed N]: good and hostile submissions in a random order over every kind of sandbox. The last line is JSON; the exit code is 1
// where a verdict was wrong or something is left over.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { randomStream } from "@mrlm/kit";
import { Processes } from "./processes.ts";
import { growth, type Sample, sample } from "./samples.ts";
import { openSandboxes, type Soaked } from "./sandboxes.ts";
import { type Found, runGood, runHostileOne, runSession } from "./work.ts";

/** Shares of the submissions that are hostile or use a session; the rest are correct programs. */
const SHARES = { hostile: 0.3, session: 0.02 };
const LANES = 2;
const SAMPLE_MS = 5_000;
const NOTE_MS = 30_000;
/** Growth that is allowed before a process has warmed up. */
const MOST_GROWTH = { rss_mb: 96, members_mb: 512, descriptors: 16 };

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "30" }, seed: { type: "string", default: "0" } },
});
const random = randomStream("soak", Number(values.seed));
// Whatever is left in it was forgotten.
const temporary = mkdtempSync(join(tmpdir(), "mrlm-soak-"));
process.env["TMPDIR"] = temporary;

const { soaked, close } = await openSandboxes();
const processes = new Processes();
const samples: Sample[] = [];
const wrong: string[] = [];
const counts = { submissions: 0, hostile: 0, sessions: 0 };
let latest: Found = { lateMs: 0, overMb: 0, what: "" };
let mostOverMb = 0;
const sampler = setInterval(() => void samples.push(sample(processes)), SAMPLE_MS);
const noter = setInterval(note, NOTE_MS);

const end = performance.now() + Number(values.minutes) * 60_000;
await Promise.all(soaked.flatMap((one) => Array.from({ length: LANES }, (_, lane) => work(one, lane))));
clearInterval(sampler);
clearInterval(noter);
note();
await close();
// The parent may not have waited yet for a process that has just ended.
for (let wait = 0; wait < 20 && processes.zombies() > 0; wait++) await sleep(100);
const orphans = processes.alive();
const left = readdirSync(temporary);
rmSync(temporary, { recursive: true, force: true });
const grown = growth(samples);
const leaks = Object.entries(MOST_GROWTH)
  .filter(([name, most]) => grown[name as keyof typeof grown] > most)
  .map(([name]) => name);
for (const complaint of [
  ...orphans.map((one) => `still there: process ${one}`),
  ...left.map((name) => `still there: ${name}`),
  ...leaks.map((name) => `grew: ${name}`),
])
  console.error(complaint);
const report = {
  minutes: Number(values.minutes),
  kinds: soaked.map(({ name }) => name),
  ...counts,
  wrong: wrong.length,
  late_ms: Math.round(latest.lateMs),
  over_mb: Math.round(mostOverMb),
  grown,
  orphans: orphans.length,
  zombies: processes.zombies(),
  left: left.length,
};
console.log(JSON.stringify(report));
process.exitCode = wrong.length + orphans.length + left.length + leaks.length + report.zombies > 0 ? 1 : 0;

async function work({ name, sandbox, corpus }: Soaked, lane: number): Promise<void> {
  while (performance.now() < end) {
    counts.submissions += 1;
    const draw = random.next();
    let found: Found;
    if (draw < SHARES.hostile && corpus.length > 0) {
      counts.hostile += 1;
      found = await runHostileOne(sandbox, corpus[random.integer(0, corpus.length - 1)]!);
    } else if (lane === 0 && draw > 1 - SHARES.session) {
      counts.sessions += 1;
      found = await runSession(sandbox);
    } else found = await runGood(sandbox, random);
    if (found.lateMs > latest.lateMs) latest = { ...found, what: `${name}, ${found.what}` };
    mostOverMb = Math.max(mostOverMb, found.overMb);
    if (found.complaint === undefined) continue;
    wrong.push(`${name}, ${found.what}: ${found.complaint}`);
    console.error(wrong.at(-1));
  }
}

function note(): void {
  const now = samples.at(-1);
  const memory =
    now === undefined
      ? ""
      : `; ${now.rss_mb} MB, members ${now.members} with ${now.members_mb} MB, ${now.descriptors} descriptors`;
  console.error(
    `${counts.submissions} submissions, ${counts.hostile} hostile, ${counts.sessions} sessions, ${wrong.length} wrong; latest ${Math.round(latest.lateMs)} ms (${latest.what})${memory}`,
  );
}
