import { afterAll } from "@jest/globals";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { makeSandbox, sandboxPlugin, sharing } from "./support/sandboxes.ts";

const sandboxes = { python: await makeSandbox("python"), javascript: await makeSandbox("javascript") };
afterAll(() => Promise.all(Object.values(sandboxes).map((sandbox) => sandbox.close())), 60_000);

environmentContract({
  plugins: [plugin, sharing(await sandboxPlugin("python"), "python", sandboxes.python), sharing(await sandboxPlugin("javascript"), "javascript", sandboxes.javascript)],
  environment: "code@1",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
  timeoutMs: 120_000,
});
