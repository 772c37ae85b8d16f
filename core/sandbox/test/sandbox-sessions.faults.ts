// npm run test:faults -- sandbox-sessions: random orders of openings, evaluations, crashes, aborts and closings of sessions.
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { MrlmError, type RandomStream, type SandboxSession } from "@mrlm/spec";
import { PooledSandbox } from "../src/index.ts";
import { fragileBackend } from "./support/fragile-backend.ts";

const ORDERS = 40;
const CALLERS = 8;
const PLACES = 2;
const CODES = ["live", "live", "live", "die", "die later", "exit", "fail", "hang"];
/** Codes of rejections that these orders cause. */
const EXPECTED = ["CANCELLED", "SANDBOX_FAILED", "SESSION_NOT_FOUND", "RESOURCE_EXHAUSTED"];

/** Opens a session, uses it, and ends it in one of several ways. Returns the codes of unexpected errors. */
async function useSession(sandbox: PooledSandbox, random: RandomStream): Promise<string[]> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = random.next() < 0.3 ? delay(random.integer(0, 300)).then(() => controller.abort()) : undefined;
  let session: SandboxSession | undefined;
  try {
    await delay(random.integer(0, 200));
    session = await sandbox.session({
      signal,
      canYield: random.next() < 0.5,
      ...(random.next() < 0.3 ? { idleMs: 100 } : {}),
    });
    for (let count = random.integer(0, 3); count > 0; count--) {
      await session.evaluate({ code: random.pick(CODES), limits: { wallMs: 200 } }, { signal });
      await delay(random.integer(0, 150));
    }
  } catch (error) {
    if (!MrlmError.hasCode(error, ...(EXPECTED as "CANCELLED"[]))) return [String(error)];
  } finally {
    await abort;
    if (random.next() < 0.5) await Promise.all([session?.close(), session?.close()]);
    else await session?.close();
  }
  return [];
}

test(`after each of ${ORDERS} orders all places are free`, async () => {
  const unexpected: string[] = [];
  for (let order = 0; order < ORDERS; order++) {
    const sandbox = new PooledSandbox({
      backend: fragileBackend,
      sessions: PLACES,
      sessionQueue: 4,
      sessionWaitMs: 2000,
    });
    const random = randomStream("orders", order);
    const uses = Array.from({ length: CALLERS }, (_, caller) => useSession(sandbox, random.fork(caller)));
    unexpected.push(...(await Promise.all(uses)).flat());
    // A place that was lost would make one of these wait and fail.
    const sessions = await Promise.all(Array.from({ length: PLACES }, () => sandbox.session()));
    for (const session of sessions) expect((await session.evaluate({ code: "live" })).verdict).toBe("ok");
    await expect(sandbox.session()).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    await sandbox.close();
  }
  expect(unexpected).toEqual([]);
}, 1_200_000);
