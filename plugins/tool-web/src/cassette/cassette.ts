import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MrlmError } from "@mrlm/kit";
import { fileFault, parseJson, type RecordingMode, Recordings } from "@mrlm/kit/service";
import type { Exchange, HttpRequest, HttpResponse } from "../network/http-exchange.ts";
import { WebError, type WebErrorKind } from "../network/web-error.ts";

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

export interface CassetteOptions {
  readonly mode: RecordingMode;
  readonly folder: string;
  /** Whether an outcome is recorded. Default: each one. An outcome that makes a step unscored must not stay. */
  readonly keeps?: (response: HttpResponse | undefined) => boolean;
}

const KEY_HEADERS = ["accept", "accept-language", "content-type"];

/** Wraps an exchange by recorded responses in the files of a folder, one per request. Failures of a server are recorded too. */
export function withCassette(exchange: Exchange, { mode, folder, keeps = () => true }: CassetteOptions): Exchange {
  const recordings = new Recordings<Recording>(mode, {
    read: async (key) => await read(fileOf(folder, key)),
    write: async (key, recording, { replaces }) => await write(fileOf(folder, key), recording, replaces),
  });
  return async (request, options) => {
    const content = keyOf(request);
    const recording = await recordings.answer({
      key: createHash("sha256").update(JSON.stringify(content)).digest("hex"),
      signal: options.signal,
      send: async () => await recordingOf(content, exchange(request, options)),
      keeps: ({ response }) => keeps(response === undefined ? undefined : responseOf(response)),
      missing: () =>
        new MrlmError("TOOL_FAILED", `The cassette ${folder} has no response to ${content.method} ${content.url}.`, {
          hint: "Record it with the mode `replay`, or check that the run has the options of the recording.",
        }),
    });
    return play(recording);
  };
}

const fileOf = (folder: string, key: string): string => join(folder, `${key}.json`);

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

/** Writes a recording, and returns the one that stays. */
async function write(file: string, recording: Recording, replaces: boolean): Promise<Recording> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, JSON.stringify(recording), { flush: true });
  if (replaces) {
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

async function recordingOf(request: Key, sent: Promise<HttpResponse>): Promise<Recording> {
  try {
    const { status, headers, body, isTruncated } = await sent;
    const response = { status, headers: { ...headers }, isTruncated, body: Buffer.from(body).toString("base64") };
    return { version: 1, request, response };
  } catch (error) {
    if (!(error instanceof WebError)) throw error;
    return { version: 1, request, error: { kind: error.kind, message: error.message } };
  }
}

async function read(file: string): Promise<Recording | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const recording = parseJson(text) as Recording;
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
  return responseOf(response);
}

function responseOf(response: NonNullable<Recording["response"]>): HttpResponse {
  return { ...response, body: Buffer.from(response.body, "base64") };
}
