import { execFile } from "node:child_process";
import { arch, platform, release } from "node:os";
import { promisify } from "node:util";
import { VERSION } from "@mrlm/kit/service";
import type { JsonObject } from "@mrlm/spec";
import type { EngineInfo } from "@mrlm/spec/host";

/** Returns the versions and devices that a run uses. */
export async function describeVersions(parts: {
  readonly engine: EngineInfo;
  readonly plugins: Readonly<Record<string, string>>;
  readonly directory: string;
}): Promise<JsonObject> {
  const { engine, plugins, directory } = parts;
  return {
    mrlm: VERSION,
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    engine: {
      ...engine.versions,
      device: engine.device,
      device_name: engine.deviceName,
      deterministic: engine.deterministic,
      threads: engine.threads,
      world_size: engine.worldSize,
    },
    plugins: { ...plugins },
    git_commit: await gitCommit(directory),
  };
}

/** Returns the commit of a directory, with `-dirty` if files differ from it; `null` outside a repository. */
async function gitCommit(directory: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(
      "git",
      ["-C", directory, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
      {
        timeout: 5_000,
      },
    );
    return stdout.trim();
  } catch {
    return null;
  }
}
