import { expect, test } from "@jest/globals";
import { serveEnvironments } from "../src/index.ts";
import { abandonSessions } from "./support/abandoned-sessions.ts";
import { fuzzFrames } from "./support/fuzz-frames.ts";
import { fuzzUnary } from "./support/fuzz-unary.ts";
import { RawClient } from "./support/raw-client.ts";
import { scriptedHost } from "./support/scripted-host.ts";
import { stopReading } from "./support/slow-reader.ts";
import { sendTooMuch } from "./support/too-large.ts";

const MIB = 1 << 20;
const mib = (bytes: number): string => (bytes / MIB).toFixed(1);

// FAULTS_SEED repeats a run.
const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);

test("80,000 damaged frames end in errors of their stream or request, and leave the server at work for others", async () => {
  console.log(`FAULTS_SEED=${seed}`);
  expect(await fuzzFrames(seed, 16_000)).toBeGreaterThan(80_000);
}, 600_000);

test("20,000 damaged unary requests end in errors, and leave the server at work for others", async () => {
  console.log(`FAULTS_SEED=${seed}`);
  expect(await fuzzUnary(seed, 4_000)).toBeGreaterThan(20_000);
}, 600_000);

test("2 requests of 64 MiB and one byte are refused, and their stream continues", async () => {
  const server = await serveEnvironments({ host: scriptedHost(), address: "127.0.0.1:0" });
  const client = new RawClient(server.port, "attacker");
  expect(await sendTooMuch(client, 64 << 20)).toEqual(["MESSAGE_INVALID", "renew", 8]);
  client.close();
  await server.close();
}, 600_000);

test("30,000 abandoned sessions, in three rounds, end with their leases and leave no memory", async () => {
  const { before, after } = await abandonSessions(10_000, 3);
  const show = ({ heapUsed, rss }: typeof before) => `heap ${mib(heapUsed)} rss ${mib(rss)} MiB`;
  console.log(
    ["before", "1", "2", "3"].map((name, i) => `${name}: ${show([before, ...after][i] ?? before)}`).join(", "),
  );
  const [first, , third] = after as [typeof before, typeof before, typeof before];
  expect(third.heapUsed).toBeLessThan(1.1 * before.heapUsed);
  expect(third.rss).toBeLessThan(1.1 * first.rss);
  expect(third.stats).toMatchObject({ sessions: 0, queued: 0, streams: 0, opened: 31_000, expired: 31_000 });
}, 600_000);

test("2,000 responses of 100 KB that a client does not read delay no other and take less than 300 MiB", async () => {
  const { before, pending, expired, code } = await stopReading(2_000, 100_000);
  const held = ({ heapUsed, external }: typeof before): number => heapUsed + external;
  console.log(
    `pending: ${mib(held(pending) - held(before))} MiB (rss ${mib(pending.rss - before.rss)} MiB), expired: ${mib(held(expired) - held(before))} MiB`,
  );
  expect(held(pending) - held(before)).toBeLessThan(300 * MIB);
  expect(expired.stats).toMatchObject({ sessions: 1, expired: 2_000 });
  expect(code).toBe("SERVER_UNAVAILABLE");
}, 600_000);
