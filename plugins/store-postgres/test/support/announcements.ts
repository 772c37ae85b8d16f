import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { openLocalStore, placeOfRun } from "@mrlm/store";
import { PostgresAnnouncement, PostgresDescription } from "../../src/run.ts";
import { PLUGIN } from "./postgres-place.ts";

const RUN = {
  config: "name: x\n",
  engines: { address: "10.0.0.1:5", token: "t", engines: { other: { address: "10.0.0.2:5" } } },
};

/** Tests how rollout workers find a run by its database alone. */
export function describeAnnouncements(name: string, url: () => string): void {
  describe(`the announcement of a run in ${name}`, () => {
    test("is read until its process ends; what a killed process left is withdrawn", async () => {
      const run = randomUUID();
      const place = placeOfRun(url(), run);
      const description = new PostgresDescription(place);
      await expect(description.read()).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      const first = new PostgresAnnouncement(place);
      // A run that was stopped before its store was made.
      await first.withdraw(false);
      const store = await openLocalStore({ path: url(), ...PLUGIN, run, purpose: "train", endsLeases: true });
      await expect(description.read()).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      await first.announce(RUN);
      const found = await description.read();
      const training = { since: expect.any(Number), engines: RUN.engines };
      expect(found).toEqual({ config: RUN.config, training, hasEnded: false, isLocked: true });
      // The end of its connection is that of the process.
      await first.close();
      expect(await description.read()).toEqual({ config: RUN.config, hasEnded: false, isLocked: false });
      const second = new PostgresAnnouncement(place);
      await second.withdraw(false);
      expect(await description.read()).toEqual({ config: RUN.config, hasEnded: false, isLocked: true });
      await pause(2);
      await second.announce({ ...RUN, config: "name: y\n" });
      const next = await description.read();
      expect(next).toMatchObject({ config: "name: y\n", training: { engines: RUN.engines } });
      expect(next.training?.since).toBeGreaterThan(found.training?.since as number);
      await second.withdraw(true);
      await second.close();
      expect(await description.read()).toEqual({ config: "name: y\n", hasEnded: true, isLocked: false });
      await description.close();
      await store.close();
    });
  });
}
