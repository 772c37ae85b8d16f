import { describe, test } from "@jest/globals";
import { localChannel } from "@mrlm/process";
import { remoteServices, serveServices } from "@mrlm/runtime";
import { workspaceContract } from "@mrlm/testing";
import { detectJail, LocalWorkspaces } from "../src/index.ts";

const { bubblewrap, missing } = await detectJail();

if (bubblewrap === undefined) {
  test.skip(`workspaces, not here: ${missing[0]?.reason}`, () => {});
} else {
  workspaceContract({
    name: "local workspaces",
    make: () => LocalWorkspaces.make(),
    timeoutMs: 120_000,
    registry: { describe, test },
  });

  workspaceContract({
    name: "local workspaces of another process",
    async make() {
      const local = await LocalWorkspaces.make();
      const { ends } = localChannel();
      serveServices(ends[0], { service: async () => local as never });
      const remote = await remoteServices(ends[1]).service("workspace", "linux", "a test");
      const { limits, sockets } = remote;
      return { limits, sockets, open: (options) => remote.open(options), close: () => local.close() };
    },
    timeoutMs: 120_000,
    registry: { describe, test },
  });
}
