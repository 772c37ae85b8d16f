import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { serveStore } from "@mrlm/server";
import type { Cohort } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { connectStore } from "../src/index.ts";
import { fragileProxy } from "./support/fragile-proxy.ts";

const COHORTS = 60;

function cohort(step: number): Cohort {
  const groups = [{ id: `group-${step}`, task: "train/0" as const, seed: step, size: 1 }];
  const names = { id: `cohort-${step}`, stage: "grpo", learner: "0/policy", environment: "game@1" };
  return { ...names, step, refill: 0, place: [0, 0], runStep: step, versions: { policy: 1 }, checksum: null, groups };
}

test("calls whose connection is cut again and again are carried out once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-losses-"));
  const store = await openLocalStore({ path: join(folder, "s.sqlite"), purpose: "train", endsLeases: false });
  const describe = () => ({ path: "x", config: "", hasEnded: false, isLocked: true });
  const server = await serveStore({ address: "127.0.0.1:0", source: { store: async () => store, describe } });
  const proxy = await fragileProxy(server.port);
  const client = await connectStore(`127.0.0.1:${proxy.port}`);
  const stop = proxy.keepCutting(5);
  const leased: string[] = [];
  for (let step = 1; step <= COHORTS; step++) {
    await client.open(cohort(step));
    // A lease that is carried out twice would have attempts of two cohorts, or none.
    for (const lease of await client.lease("worker", 1, 60_000)) leased.push(`${lease.cohort.id} ${lease.attempt}`);
  }
  stop();
  expect(leased).toEqual(Array.from({ length: COHORTS }, (_, i) => `cohort-${i + 1} 1`));
  await client.close();
  proxy.close();
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true });
});
