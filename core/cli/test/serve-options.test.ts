import { expect, test } from "@jest/globals";
import { serve } from "../src/commands/serve.ts";
import type { ServeOptions } from "../src/commands/serve-options.ts";
import { createConsole } from "../src/console/console.ts";

test.each<[Partial<ServeOptions>, string]>([
  [{ model: "x", environments: "math" }, "--environments is for environments"],
  [{ engine: "127.0.0.1:1", httpPort: ["0"] }, "--http-port is for environments"],
  [{ engine: "127.0.0.1:1", model: "x" }, "give one of them"],
  [{ engineTokenFile: "x" }, "--engine-token-file is for the engine"],
  [{ engine: "127.0.0.1:1", config: "x" }, "--config and --set are for the engine that --model starts"],
  [{ engine: "127.0.0.1:1", port: "x" }, "--port x is not a port"],
  [{ workers: "two" }, "--workers two is not a whole number from 0 to 256"],
  [{ workers: "1", workerMemoryMb: "64" }, "--worker-memory-mb 64 is not a whole number from 128 on"],
  [{ workers: "0", workerMemoryMb: "256" }, "--worker-memory-mb limits workers, and this server has none"],
  [{ workers: "0", reload: true }, "--reload replaces workers, and this server has none"],
  [{ engine: "127.0.0.1:1", workers: "1" }, "--workers is for environments"],
])("options of mrlm serve that contradict each other are refused: %j", async (options, message) => {
  const context = { console: createConsole({ json: true }), directory: process.cwd() };
  await expect(serve(context, { host: "127.0.0.1", ...options })).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining(message),
  });
});
