import { expect, test } from "@jest/globals";
import { serve } from "../src/commands/serve.ts";
import { createConsole } from "../src/console/console.ts";
import { declareServe, type ServeOptions } from "../src/declarations/serve.ts";
import { type GivenOptions, parseOptions } from "./support/parse-options.ts";

test.each<[GivenOptions<ServeOptions>, string]>([
  [{ model: "x", environments: "math" }, "--environments is for environments"],
  [{ engine: "127.0.0.1:1", httpPort: ["0"] }, "--http-port is for environments"],
  [{ engine: "127.0.0.1:1", model: "x" }, "give one of them"],
  [{ engineTokenFile: "x" }, "--engine-token-file is for the engine"],
  [{ engine: "127.0.0.1:1", config: "x" }, "--config and --set are for the engine that --model starts"],
  [{ engine: "127.0.0.1:1", port: "x" }, "--port x is not a port"],
  [{ workers: "two" }, "--workers two is not a whole number from 0 to 256"],
  [{ workers: "257" }, "--workers 257 is not a whole number from 0 to 256"],
  [{ workers: "1", workerMemoryMb: "64" }, "--worker-memory-mb 64 is not a whole number from 128 on"],
  [{ workers: "0", workerMemoryMb: "256" }, "--worker-memory-mb limits workers, and this server has none"],
  [{ workers: "0", reload: true }, "--reload replaces workers, and this server has none"],
  [{ engine: "127.0.0.1:1", workers: "1" }, "--workers is for environments"],
])("options of mrlm serve that contradict each other are refused: %j", async (options, message) => {
  const context = { console: createConsole({ json: true }), directory: process.cwd() };
  const served = async (): Promise<void> => serve(context, parseOptions(declareServe, options));
  await expect(served()).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining(message),
  });
});
