import { join } from "node:path";
import { cacheDirectory } from "@mrlm/kit/service";
import { type ErrorCode, MrlmError } from "@mrlm/spec";
import type { EngineProvider, StoredModel } from "@mrlm/spec/host";
import { runProcess } from "@mrlm/process/python";
import { engineEnvironment } from "../launch/engine-environment.ts";
import { locateEngine } from "../setup/locate-engine.ts";

type ModelStore = EngineProvider["models"];

/** Line that `mrlm_engine.fetch` writes to its standard output. */
interface FetchLine {
  readonly notice?: string;
  readonly progress?: { readonly done: number; readonly total: number; readonly seconds: number };
  readonly models?: readonly StoredModel[];
  readonly failed?: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
}

/**
 * Returns the models on this machine. Those of the hub are in the cache of huggingface_hub (`HF_HOME`), converted ones in `models/` of
 * mrlm's cache, which has the records of both.
 *
 * @param setup - options of the plugin's section of a configuration
 */
export function modelStore(setup: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv = process.env): ModelStore {
  async function run(
    args: readonly string[],
    onLine: (line: FetchLine) => void = () => undefined,
  ): Promise<readonly StoredModel[]> {
    const engine = await locateEngine({ options: setup, env });
    if (engine === undefined)
      throw new MrlmError("ENGINE_NOT_SET_UP", "The engine's Python environment is not installed.");
    let last: FetchLine = {};
    const { code, signal, stderr } = await runProcess(
      engine.executable,
      ["-m", "mrlm_engine.fetch", "--cache", join(cacheDirectory(env), "models"), ...args],
      {
        env: fetchEnvironment(env),
        onLine(line) {
          if (!line.startsWith('{"')) return;
          last = JSON.parse(line) as FetchLine;
          onLine(last);
        },
      },
    );
    if (last.models !== undefined) return last.models;
    if (last.failed !== undefined)
      throw new MrlmError(last.failed.code, last.failed.message, { hint: last.failed.hint });
    const end = stderr.trim().split("\n").slice(-3).join("\n  ");
    throw new MrlmError(
      "MODEL_DOWNLOAD_FAILED",
      `\`${args.join(" ")}\` ended with ${signal ?? `code ${code}`}:\n  ${end}`,
      {
        hint: "SIGKILL means mostly that memory ran out: a conversion needs 8 bytes for each parameter. Run the command again.",
      },
    );
  }
  return {
    async get(name, { notice, progress, weights = true }) {
      const [model] = await run(["get", name, ...(weights ? [] : ["--no-weights"])], (line) => {
        if (line.notice !== undefined) notice(line.notice);
        if (line.progress !== undefined) progress(line.progress);
      });
      return model as StoredModel;
    },
    list: () => run(["list"]),
    remove: (name) => run(["remove", name]),
  };
}

/** Returns the variables of the engine, but with access to the hub as the user has set it. */
function fetchEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { HF_HUB_OFFLINE: _, ...others } = engineEnvironment(undefined, env);
  return {
    ...others,
    ...(env["HF_HUB_OFFLINE"] !== undefined && { HF_HUB_OFFLINE: env["HF_HUB_OFFLINE"] }),
    // The hub serves every file over plain HTTP too, which is what the tests of a broken hub cover.
    HF_HUB_DISABLE_XET: env["HF_HUB_DISABLE_XET"] ?? "1",
    HF_HUB_DISABLE_PROGRESS_BARS: "1",
  };
}
