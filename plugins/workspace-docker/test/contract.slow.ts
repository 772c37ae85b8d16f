import { afterAll, describe, test } from "@jest/globals";
import { workspaceContract } from "@mrlm/testing";
import { missingEngine, startEngine } from "./support/engine.ts";

if (missingEngine === undefined) {
  const engine = await startEngine();
  afterAll(() => engine.close(), 60_000);
  workspaceContract({
    name: "workspaces of Podman",
    make: () => engine.make(),
    timeoutMs: 120_000,
    registry: { describe, test },
  });
} else test.skip(`not here: ${missingEngine}`, () => {});
