import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@mrlm/process";
import { behaviourFile, type Behaviour, compareBehaviour } from "@mrlm/runtime";
import { queryNpm } from "../npm.ts";
import type { Problem } from "./problem.ts";
import { type PackedFile, readTarball } from "./tarball.ts";

/** Returns the behaviour that a packed package records; `undefined` without one. */
export function recordedIn(files: readonly PackedFile[]): Behaviour | undefined {
  const file = files.find(({ path }) => path === behaviourFile.name);
  return file === undefined ? undefined : behaviourFile.parse(file.content.toString("utf8"), behaviourFile.name);
}

/**
 * Returns the problems of a new version beside a published one: other behaviour under an unchanged id.
 * @param published `NAME@VERSION` in the registry
 */
export async function behaviourProblems(
  published: string,
  files: readonly PackedFile[],
  directory: string,
): Promise<Problem[]> {
  const before = recordedIn(await download(published, directory));
  const now = recordedIn(files);
  if (before === undefined || now === undefined) return [];
  const changed = compareBehaviour(before.environments, now.environments).filter(
    ({ environment, kind }) => kind === "changed" && Object.hasOwn(now.environments, environment),
  );
  return changed.map((difference) => ({
    code: "BEHAVIOUR_CHANGED",
    message: `Compared with ${published}, ${difference.description}.`,
  }));
}

async function download(spec: string, directory: string): Promise<PackedFile[]> {
  const { path: folder, remove } = temporaryFolder("published");
  try {
    await queryNpm(["pack", spec, "--ignore-scripts", "--pack-destination", folder], directory);
    const [archive = ""] = readdirSync(folder);
    return readTarball(readFileSync(join(folder, archive)));
  } finally {
    remove();
  }
}
