import { describe } from "@jest/globals";
import type { Plugin } from "@mrlm/kit";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import { fixtures } from "../src/fixtures.ts";
import plugin from "../src/index.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

// By names in variables, because no plugin imports another.
const names: readonly string[] = ["@mrlm/workspace-local", "@mrlm/tool-shell"];
const others = await Promise.all(names.map(async (name) => ((await import(name)) as { default: Plugin }).default));
const [{ options }] = fixtures as readonly [(typeof fixtures)[number]];
environmentContract({
  plugins: [plugin, ...others],
  environment: "harbor@1",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
  options: options ?? {},
  timeoutMs: 300_000,
  registry: { describe, test },
});
