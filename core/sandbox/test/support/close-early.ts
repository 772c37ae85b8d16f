import { setTimeout as delay } from "node:timers/promises";
import { randomStream } from "@mrlm/kit";
import { PooledSandbox } from "../../src/index.ts";
import { fragileBackend } from "./fragile-backend.ts";

/** Closes `count` sandboxes, `atOnce` at a time, each within `withinMs` of the start of its children. Resolves when their processes have exited. */
export async function closeEarly(count: number, seed: number, { atOnce = 4, withinMs = 60 } = {}): Promise<void> {
  const random = randomStream("close-early", seed);
  const waits = Array.from({ length: count }, () => random.next() * withinMs);
  const work = async (): Promise<void> => {
    for (let wait = waits.pop(); wait !== undefined; wait = waits.pop()) {
      const sandbox = new PooledSandbox({ backend: fragileBackend });
      const warmed = sandbox.warm().catch(() => undefined);
      await delay(wait);
      await sandbox.close();
      await warmed;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
