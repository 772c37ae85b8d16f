import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";

/** Folder of one episode, which is deleted with it. */
export interface EpisodeDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/** Creates the folder of an episode with the files of its task. Throws for a path that leaves the folder. */
export async function episodeDirectory(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<EpisodeDirectory> {
  const path = await mkdtemp(join(tmpdir(), "mrlm-mcp-"));
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });
  try {
    for (const [name, content] of Object.entries(files)) {
      const inside = normalize(name);
      if (name.startsWith("/") || name.includes("\0") || inside === ".." || inside.startsWith("../"))
        throw new Error(`the task has a file outside of the episode's folder: ${JSON.stringify(name)}`);
      const target = join(path, inside);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
    }
    return { path, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
