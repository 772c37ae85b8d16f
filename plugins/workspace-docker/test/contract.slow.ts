import { afterAll, describe, test } from "@jest/globals";
import { localChannel } from "@mrlm/process";
import { remoteServices, serveServices } from "@mrlm/runtime";
import { workspaceContract } from "@mrlm/testing";
import { missingEngine, startEngine } from "./support/engine.ts";

if (missingEngine === undefined) {
  const engine = await startEngine();
  afterAll(() => engine.close(), 60_000);
  const registry = { describe, test };
  workspaceContract({ name: "workspaces of Podman", make: () => engine.make(), timeoutMs: 120_000, registry });
  workspaceContract({
    name: "workspaces of Podman of another process",
    async make() {
      const own = await engine.make();
      const { ends } = localChannel();
      serveServices(ends[0], { service: async () => own as never });
      const remote = await remoteServices(ends[1]).service("workspace", "linux", "a test");
      return {
        limits: remote.limits,
        sockets: remote.sockets,
        open: (options) => remote.open(options),
        close: () => own.close(),
      };
    },
    timeoutMs: 120_000,
    registry,
  });
} else test.skip(`not here: ${missingEngine}`, () => {});
