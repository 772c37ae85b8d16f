import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Python } from "@mrlm/process/python";
import type { TorchBuild } from "../torch/torch-build.ts";
import type { SetupOptions } from "./setup-options.ts";

/** All inputs of an environment. Environments with equal inputs are interchangeable. */
export interface EnvironmentIdentity {
  /** Hash of the lock files. */
  readonly lock: string;
  readonly python: Python;
  readonly build: TorchBuild;
}

/** All inputs that select the environment and are known without starting a process. */
export interface SetupRequest {
  readonly lock: string;
  readonly options: SetupOptions;
  readonly hasGpu: boolean;
}

/** Files and directories of the engine in the user's cache. */
export interface EngineCache {
  readonly root: string;
  /** Directory of an environment. */
  environment(identity: EnvironmentIdentity): string;
  /** File that records the environment of a request, so that the next request needs no search. */
  choice(request: SetupRequest): string;
}

/** Returns the paths of the cache below a directory. Machines may share a home directory, so each name contains the platform. */
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
