import { afterAll, describe, test } from "@jest/globals";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin, { openenv } from "../../src/index.ts";
import { serve } from "./served.ts";
import { fixtures } from "./sums-plugin.ts";

/** Registers the contract of the bridge on a server of `sums@1`. The definition has no fixtures: they belong to an environment, and a bridge plays any. */
export async function contract(thorough: boolean): Promise<void> {
  const served = await serve();
  afterAll(() => served.close());
  environmentContract({
    plugins: [{ ...plugin, environments: [{ ...openenv, fixtures }] }],
    environment: "openenv@2",
    options: { url: `${served.url}/sums@1`, determinism: "full", reward_range: [0, 1] },
    transports: { "in process": inProcess, "over gRPC": overGrpc() },
    thorough,
    timeoutMs: 120_000,
    registry: { describe, test },
  });
}
