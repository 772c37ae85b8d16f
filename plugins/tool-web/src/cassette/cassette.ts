import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileFault, MrlmError } from "@mrlm/spec";
import type { Exchange, HttpRequest, HttpResponse } from "../network/http-exchange.ts";
import { WebError, type WebErrorKind } from "../network/web-error.ts";

/**
 * Use of recorded responses. `record`: every request is sent, and its response replaces the recorded one. `replay`: a recorded response is used; a
 * request without one is sent and recorded. `replay-or-fail`: no request is sent; one without a recording rejects with TOOL_FAILED.
 */
export type CassetteMode = "record" | "replay" | "replay-or-fail";

/** File of one request. It holds no header of the request but those of the key. */
interface Recording {
  readonly version: 1;
  readonly request: Key;
  readonly response?: { status: number; headers: Record<string, string>; isTruncated: boolean; body: string };
  readonly error?: { kind: WebErrorKind; message: string };
}

/** The part of a request that decides its response. Other headers (keys, cookies) are neither compared nor written. */
interface Key {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  /** SHA-256 of the body. */
  readonly body: string;
  readonly maxBytes: number;
}

/** Options of a cassette. */
export interface CassetteOptions {
  readonly mode: CassetteMode;
  readonly folder: string;
  /** Whether an outcome is recorded. Default: each one. An outcome that makes a step unscored must not stay. */
  readonly keeps?: (response: HttpResponse | undefined) => boolean;
}

interface RecordOptions {
  readonly keeps: (response: HttpResponse | undefined) => boolean;
  readonly file: string;
  readonly key: Key;
  readonly mode: CassetteMode;
  readonly send: () => Promise<HttpResponse>;
}

const KEY_HEADERS = ["accept", "accept-language", "content-type"];

/**
 * Wraps an exchange by recorded responses in the files of a folder, one per request. Failures of a server are recorded too. In `replay` the first
 * recording of a request stays: all episodes, processes and resumed runs that share the folder receive the same response.
 */
export function withCassette(exchange: Exchange, { mode, folder, keeps = () => true }: CassetteOptions): Exchange {
  const pending = new Map<string, Promise<Recording>>();
  return async (request, options) => {
    const key = keyOf(request);
    const file = join(folder, `${createHash("sha256").update(JSON.stringify(key)).digest("hex")}.json`);
    const recorded = mode === "record" ? undefined : await read(file);
    if (recorded !== undefined) return play(recorded);
    if (mode === "replay-or-fail")
      throw new MrlmError("TOOL_FAILED", `The cassette ${folder} has no response to ${key.method} ${key.url}.`, {
        hint: "Record it with the mode `replay`, or check that the run has the options of the recording.",
      });
    if (mode === "record")
      return play(await record({ file, key, mode, keeps, send: () => exchange(request, options) }));
    // Equal requests at the same time are sent once. The signal of the first caller decides; another caller sends its own request then.
    const other = pending.get(file);
    if (other !== undefined) {
      const shared = await other.catch(() => undefined);
      options.signal.throwIfAborted();
      if (shared !== undefined) return play(shared);
    }
    const own = record({ file, key, mode, keeps, send: () => exchange(request, options) });
    pending.set(file, own);
    try {
      return play(await own);
    } finally {
      if (pending.get(file) === own) pending.delete(file);
    }
  };
}

/**
 * Checks the folder of a cassette before an episode begins, and creates it if it may be written.
 * @throws DATA_INVALID
 */
export async function prepareCassette({ mode, folder }: CassetteOptions): Promise<void> {
  const work = mode === "replay-or-fail" ? readdir(folder) : mkdir(folder, { recursive: true });
  await work.catch((cause: unknown) => {
    throw new MrlmError("DATA_INVALID", `The folder ${folder} of recordings cannot be used: ${fileFault(cause)}.`, {
      hint: "Check `cassette.folder`. It is relative to the folder of the configuration.",
      cause,
    });
  });
}

function keyOf({ method, url, headers, body, maxBytes }: HttpRequest): Key {
  const kept = KEY_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
  const hash = createHash("sha256")
    .update(body ?? "")
    .digest("hex");
  return { method, url: url.href, headers: Object.fromEntries(kept), body: hash, maxBytes };
}

async function record({ file, key, mode, keeps, send }: RecordOptions): Promise<Recording> {
  const outcome = await send().catch((error: unknown) => {
    if (error instanceof WebError) return error;
    throw error;
  });
  const recording = recordingOf(key, outcome);
  if (!keeps(outcome instanceof WebError ? undefined : outcome)) return recording;
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, JSON.stringify(recording), { flush: true });
  if (mode === "record") {
    await rename(temporary, file);
    return recording;
  }
  // A link fails if another process recorded the request meanwhile. That recording is the first one.
  const isFirst = await link(temporary, file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
  await rm(temporary);
  return isFirst ? recording : ((await read(file)) ?? recording);
}

function recordingOf(request: Key, outcome: HttpResponse | WebError): Recording {
  if (outcome instanceof WebError)
    return { version: 1, request, error: { kind: outcome.kind, message: outcome.message } };
  const { status, headers, body, isTruncated } = outcome;
  return {
    version: 1,
    request,
    response: { status, headers: { ...headers }, isTruncated, body: Buffer.from(body).toString("base64") },
  };
}

async function read(file: string): Promise<Recording | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const recording = JSON.parse(text) as Recording;
    if (recording.version === 1 && (recording.response !== undefined || recording.error !== undefined))
      return recording;
  } catch {
    // reported below
  }
  throw new MrlmError("TOOL_FAILED", `The recorded response ${file} is damaged.`, {
    hint: "Delete the file and record the request again.",
  });
}

function play({ response, error }: Recording): HttpResponse {
  if (response === undefined) throw new WebError(error?.kind ?? "network", error?.message ?? "The server failed.");
  return { ...response, body: Buffer.from(response.body, "base64") };
}
