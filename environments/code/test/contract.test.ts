import { afterAll, describe, test } from "@jest/globals";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { makeSandbox, sandboxPlugin, sharing } from "./support/sandboxes.ts";

const sandboxes = { python: await makeSandbox("python"), javascript: await makeSandbox("javascript") };
afterAll(() => Promise.all(Object.values(sandboxes).map((sandbox) => sandbox.close())), 60_000);

const plugins = [plugin, sharing(await sandboxPlugin("python"), "python", sandboxes.python), sharing(await sandboxPlugin("javascript"), "javascript", sandboxes.javascript)];
const registry = (isWanted: (name: string) => boolean) => ({ describe, test: (name: string, body: () => Promise<void>, timeoutMs?: number) => void (isWanted(name) && test(name, body, timeoutMs)) });

// Fixtures take the sandbox's time, which is the same over any transport: they are played once.
environmentContract({ plugins, environment: "code@1", transports: { "in process": inProcess }, timeoutMs: 300_000, registry: registry((name) => name !== "in process") });
environmentContract({ plugins, environment: "code@1", transports: { "over gRPC": overGrpc() }, timeoutMs: 300_000, registry: registry((name) => !name.startsWith("fixture ") && name !== "over gRPC") });
