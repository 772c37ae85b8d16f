import { expect, test } from "@jest/globals";
import { serve } from "../src/commands/serve.ts";
import type { ServeOptions } from "../src/commands/serve-options.ts";
import { createConsole } from "../src/console/console.ts";

test.each<[Partial<ServeOptions>, string]>([
  [{ model: "x", environments: "math" }, "--environments is for environments"],
  [{ engine: "127.0.0.1:1", httpPort: "0" }, "--http-port is for environments"],
  [{ engine: "127.0.0.1:1", model: "x" }, "give one of them"],
  [{ engineTokenFile: "x" }, "--engine-token-file is for the engine"],
  [{ engine: "127.0.0.1:1", config: "x" }, "--config and --set are for the engine that --model starts"],
  [{ engine: "127.0.0.1:1", port: "x" }, "--port x is not a port"],
])("options of mrlm serve that contradict each other are refused: %j", async (options, message) => {
  const context = { console: createConsole({ json: true }), directory: process.cwd() };
  await expect(serve(context, { host: "127.0.0.1", ...options })).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining(message),
  });
});
