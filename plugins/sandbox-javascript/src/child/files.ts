import type { EncodedFile } from "@mrlm/spec/host";
import { Uncaught } from "./uncaught.ts";

/** Limit of the files that a run returns, all together. */
const MAX_FETCHED_BYTES = 4 << 20;

/** Returns files as texts. Throws Uncaught for other bytes than UTF-8, which programs here cannot read. */
export function textFiles(files: Readonly<Record<string, string | EncodedFile>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, file]) => [path, typeof file === "string" ? file : textOf(path, file)]),
  );
}

function textOf(path: string, { base64 }: EncodedFile): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, "base64"));
  } catch {
    const message = `The file ${path} is no text in UTF-8, and JavaScript programs of this sandbox read text only.`;
    throw new Uncaught({ name: "Error", message, trace: `Error: ${message}` });
  }
}

/** Returns the files of `paths` in base64, from their texts by path as JSON, which the submission may have written. Leaves out what does not fit into the limit. */
export function base64Of(textsJson: unknown, paths: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  let left = MAX_FETCHED_BYTES;
  const texts = textsOf(textsJson);
  for (const path of paths) {
    const text = Object.hasOwn(texts, path) ? texts[path] : undefined;
    if (typeof text !== "string" || text.length > left) continue;
    const bytes = Buffer.from(text);
    if (bytes.length > left) continue;
    left -= bytes.length;
    found[path] = bytes.toString("base64");
  }
  return found;
}

function textsOf(json: unknown): Record<string, unknown> {
  try {
    const texts: unknown = typeof json === "string" ? JSON.parse(json) : undefined;
    return typeof texts === "object" && texts !== null ? (texts as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
