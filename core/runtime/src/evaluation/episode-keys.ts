import { hash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@mrlm/spec";
import { canonicalJson } from "../names/canonical-json.ts";
import { sha256OfFile } from "../run/atomic-write.ts";

/** Returns the key of everything that decides an episode, but its task and member: 32 hexadecimal digits. */
export function evaluationKey(identity: JsonObject): string {
  return hash("sha256", canonicalJson(identity)).slice(0, 32);
}

/**
 * Returns a hash over the names and contents of the files in a directory, without those in its folders; of a file over its content. A path that this machine does
 * not have stands for itself.
 */
export async function hashOfFiles(path: string): Promise<string> {
  if (!existsSync(path)) return path;
  if (statSync(path).isFile()) return sha256OfFile(path);
  const names = readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [] : [entry.name],
  );
  const hashes: [string, string][] = [];
  for (const name of names.toSorted()) hashes.push([name, await sha256OfFile(join(path, name))]);
  return evaluationKey(Object.fromEntries(hashes));
}
