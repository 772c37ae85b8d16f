import { afterAll, describe, test } from "@jest/globals";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin, { openenv } from "../src/index.ts";
import { serve } from "./support/served.ts";
import { fixtures } from "./support/sums-plugin.ts";

const served = await serve();
afterAll(() => served.close());

// The definition has no fixtures: they belong to an environment, and a bridge plays any.
environmentContract({
  plugins: [{ ...plugin, environments: [{ ...openenv, fixtures }] }],
  environment: "openenv@1",
  options: { url: `${served.url}/sums@1`, determinism: "full", reward_range: [0, 1] },
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
  registry: { describe, test },
});
