import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Message, Reward } from "@mrlm/kit";

/** Output of grade-answers.ts. */
export interface Graded {
  readonly cases?: readonly {
    readonly messages: readonly Message[];
    readonly expected?: string;
    readonly place: string;
    readonly rewards: readonly [expected: Reward, no: Reward, nothing: Reward];
  }[];
  readonly error?: { readonly code?: string; readonly message: string; readonly hint?: string };
}

const SCRIPT = fileURLToPath(new URL("grade-answers.ts", import.meta.url));

/** Grades answers to the cases of existing files, those of `later` after the others, in a process of its own: jest imports modules in its own way. */
export async function gradePaths(paths: readonly string[], later: readonly string[] = []): Promise<Graded[]> {
  const args = ["--conditions=mrlm-source", SCRIPT, ...paths, ...(later.length === 0 ? [] : ["--", ...later])];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 });
  return JSON.parse(stdout) as Graded[];
}

/** Writes the files of each folder, and grades answers to the cases of the first one. The folders are removed. */
export async function gradeFolders(folders: readonly Readonly<Record<string, string>>[]): Promise<Graded[]> {
  const made = folders.map((files) => ({ files, path: mkdtempSync(join(tmpdir(), "mrlm-cases-")) }));
  try {
    for (const { files, path } of made)
      for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
    const graded = await gradePaths(made.map(({ files, path }) => join(path, Object.keys(files)[0] as string)));
    return graded.map(({ cases, error }, i) => {
      const short = (text: string): string => text.replaceAll(`${made[i]?.path}/`, "");
      return {
        ...(cases && { cases: cases.map((each) => ({ ...each, place: short(each.place) })) }),
        ...(error && { error: { ...error, message: short(error.message) } }),
      };
    });
  } finally {
    for (const { path } of made) rmSync(path, { recursive: true });
  }
}
