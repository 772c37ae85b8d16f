import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectEngine } from "@mrlm/client";
import { launchEngine, locateEngine } from "@mrlm/engine-torch";
import type { Engine } from "@mrlm/spec";

/** The engine's installed Python environment; `undefined` where `npm run setup` has not run. */
export const installed = await locateEngine();

/** A directory of this test's own. */
export const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), "mrlm-e2e-"));

/** The real engine in a process of its own, on the CPU, and a connection to it. */
export async function startEngine(): Promise<{ readonly engine: Engine; readonly address: string; stop(): Promise<void> }> {
  const process = await launchEngine({ device: "cpu", threads: 1, logDirectory: temporaryDirectory() });
  const engine = await connectEngine(process.address, { token: process.token });
  return {
    engine,
    address: process.address,
    async stop() {
      await engine.close();
      await process.stop();
    },
  };
}
