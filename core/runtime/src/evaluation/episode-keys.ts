import { createHash, hash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { isObject, type JsonObject, type JsonValue } from "@mrlm/spec";
import { canonicalJson } from "../names/canonical-json.ts";

/** Returns the text that everything which decides an episode, but its task and member, has in common: 32 hexadecimal digits. */
export function evaluationKey(identity: JsonObject): string {
  return hash("sha256", canonicalJson(identity)).slice(0, 32);
}

/**
 * Returns the hash over the names and contents of the files of a directory, without those in its folders; of a file over its content. A path that this machine
 * does not have stands for itself.
 */
export async function hashOfFiles(path: string): Promise<string> {
  if (!existsSync(path)) return path;
  const files = statSync(path).isFile()
    ? [path]
    : readdirSync(path, { withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map(({ name }) => join(path, name))
        .toSorted();
  const whole = createHash("sha256");
  for (const file of files) {
    const content = createHash("sha256");
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), content);
    // The name of the directory itself changes nothing.
    whole.update(`${file.slice(path.length)} ${content.digest("hex")}\n`);
  }
  return whole.digest("hex").slice(0, 32);
}

/** Replaces each text of a value that is the path of a file by the hash of the file, for the key of options that name data. @param directory base of relative paths */
export async function withHashedFiles(value: JsonValue, directory: string): Promise<JsonValue> {
  if (typeof value === "string") {
    const path = resolve(directory, value);
    const found = value === "" || value.includes("\0") ? undefined : statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true ? `${value} ${await hashOfFiles(path)}` : value;
  }
  if (Array.isArray(value)) return Promise.all(value.map((each) => withHashedFiles(each, directory)));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(async ([key, member]) => [key, await withHashedFiles(member, directory)]);
  return Object.fromEntries(await Promise.all(members)) as JsonObject;
}
