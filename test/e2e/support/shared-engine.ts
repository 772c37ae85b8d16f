import { afterAll, beforeAll } from "@jest/globals";
import { type EngineSection, installed, startEngine } from "./real-engine.ts";

/**
 * One engine for all runs of a test file that do not test how an engine is started, since each start costs three seconds of CPU time.
 *
 * @returns the section `engine` of a configuration that uses it; valid inside tests and in `beforeAll` hooks declared after the call
 */
export function sharedEngine(): () => EngineSection {
  let started: Awaited<ReturnType<typeof startEngine>> | undefined;
  if (installed !== undefined) {
    beforeAll(async () => {
      started = await startEngine();
    }, 120_000);
    afterAll(() => started?.stop());
  }
  return () => (started as Awaited<ReturnType<typeof startEngine>>).section;
}
