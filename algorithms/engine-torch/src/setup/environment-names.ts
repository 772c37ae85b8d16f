import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Python } from "../python/probe-python.ts";
import type { TorchBuild } from "../torch/torch-build.ts";
import type { SetupOptions } from "./setup-options.ts";

/** Everything that an environment is made from; two that agree in it are interchangeable. */
export interface EnvironmentIdentity {
  /** Hash of the lock files. */
  readonly lock: string;
  readonly python: Python;
  readonly build: TorchBuild;
}

/** Everything that decides which environment is made, known without starting any process. */
export interface SetupRequest {
  readonly lock: string;
  readonly options: SetupOptions;
  readonly hasGpu: boolean;
}

/** Files and directories of the engine in the user's cache. */
export interface EngineCache {
  readonly root: string;
  /** An environment's own directory. */
  environment(identity: EnvironmentIdentity): string;
  /** Records which environment a request led to, so that the next one need not look again. */
  choice(request: SetupRequest): string;
}

/** Lays out the cache below a directory. A home directory may be shared by machines, so the platform is part of each name. */
export function engineCache(cache: string, platform: string = `${process.platform}-${process.arch}`): EngineCache {
  const root = join(cache, "engine");
  return {
    root,
    environment: ({ lock, python, build }) => {
      const minor = python.version.split(".").slice(0, 2).join(".");
      return join(root, `python${minor}-torch-${build.kind}-${shortHash([platform, lock, python, build])}`);
    },
    choice: (request) => join(root, "choices", `${shortHash([platform, request])}.json`),
  };
}

function shortHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
