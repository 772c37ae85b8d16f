import { describe } from "@jest/globals";
import type { Plugin } from "@mrlm/kit";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import { fixtures } from "../src/fixtures.ts";
import plugin from "../src/index.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

// By a name in a variable, because no plugin imports another.
const name: string = "@mrlm/workspace-local";
const { default: workspaces } = (await import(name)) as { readonly default: Plugin };
const [{ options }] = fixtures as readonly [(typeof fixtures)[number]];
environmentContract({
  plugins: [plugin, workspaces],
  environment: "agent@1",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
  options: options ?? {},
  timeoutMs: 300_000,
  registry: { describe, test },
});
