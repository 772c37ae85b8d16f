import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { LARGE_CALLS, playDisturbed } from "./support/disturbed-play.ts";
import { playHalfOpen } from "./support/half-open.ts";
import { ServerProcess } from "./support/server-process.ts";

// FAULTS_SEED repeats a run.
const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
console.log(`FAULTS_SEED=${seed}`);

let server: ServerProcess;
let withWorkers: ServerProcess;
beforeAll(async () => void ([server, withWorkers] = [await ServerProcess.start(), await ServerProcess.start(0, 2)]));
afterAll(() => Promise.all([server.kill(), withWorkers.kill()]));

/** Plays with four clients at a time and adds up their losses. */
async function losses(
  servers: readonly ServerProcess[],
  transport: "stream" | "unary",
  midStep: number,
  midReset: number,
): Promise<number[]> {
  const plays = await Promise.all(
    Array.from({ length: 4 }, (_, client) =>
      playDisturbed(
        servers.map(({ port }) => port),
        {
          seed: seed + 100 * client,
          transport,
          midStep: midStep / 4,
          midReset: midReset / 4,
          offsets: LARGE_CALLS,
        },
      ),
    ),
  );
  for (const { disturbed, undisturbed } of plays) expect(disturbed).toEqual(undisturbed);
  return (["midStep", "midReset"] as const).map((kind) => plays.reduce((sum, play) => sum + play[kind], 0));
}

test("1,000 connections that are reset during a step and 200 during a reset lose no call and repeat none", async () => {
  const [midStep, midReset] = await losses([server], "stream", 1_000, 200);
  expect(midStep).toBeGreaterThanOrEqual(1_000);
  expect(midReset).toBeGreaterThanOrEqual(200);
}, 600_000);

test("200 connections of unary calls that are reset during a step and 40 during a reset, too", async () => {
  const [midStep, midReset] = await losses([server], "unary", 200, 40);
  expect(midStep).toBeGreaterThanOrEqual(200);
  expect(midReset).toBeGreaterThanOrEqual(40);
}, 600_000);

test("200 connections to a server with two workers that are reset during a step and 40 during a reset, too", async () => {
  const [midStep, midReset] = await losses([withWorkers], "stream", 200, 40);
  expect(midStep).toBeGreaterThanOrEqual(200);
  expect(midReset).toBeGreaterThanOrEqual(40);
}, 600_000);

test("100 connections to two servers that are reset during a step and 20 during a reset, too", async () => {
  const [midStep, midReset] = await losses([server, withWorkers], "stream", 100, 20);
  expect(midStep).toBeGreaterThanOrEqual(100);
  expect(midReset).toBeGreaterThanOrEqual(20);
}, 600_000);

test("4 half-open connections end on a server with two workers, with their sessions, and on the client", async () => {
  for (const transport of ["stream", "unary", "stream", "unary"] as const) await playHalfOpen(transport, 2);
}, 300_000);

test("20 half-open connections end on the server, with their sessions after their leases, and on the client", async () => {
  for (let i = 0; i < 10; i++) for (const transport of ["stream", "unary"] as const) await playHalfOpen(transport);
}, 300_000);
