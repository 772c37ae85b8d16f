import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectEngine } from "@mrlm/client";
import { launchEngine, locateEngine } from "@mrlm/engine-torch";
import type { Engine } from "@mrlm/spec/host";

/** The engine's installed Python environment; `undefined` where `npm run setup` has not run. */
export const installed = await locateEngine();

/** Creates a directory for this test file. */
export const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), "mrlm-e2e-"));

/** Section `engine` of a configuration, for an engine that runs already. */
export interface EngineSection {
  readonly address: string;
  readonly token_file: string;
}

/** Starts the real engine in its own process on the CPU. Returns a connection and the address for other clients. */
export async function startEngine(): Promise<{
  readonly engine: Engine;
  readonly section: EngineSection;
  stop(): Promise<void>;
}> {
  const process = await launchEngine({ device: "cpu", threads: 1, logDirectory: temporaryDirectory() });
  const engine = await connectEngine(process.address, { token: process.token });
  const tokenFile = join(temporaryDirectory(), "token");
  writeFileSync(tokenFile, process.token, { mode: 0o600 });
  return {
    engine,
    section: { address: process.address, token_file: tokenFile },
    async stop() {
      await engine.close();
      await process.stop();
    },
  };
}
