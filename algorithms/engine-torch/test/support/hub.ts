import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Request to the hub for one file, or for the list of files. */
export interface HubCall {
  /** `info`: the list; `head` and `get`: a file at the hub; `cdn`: a large file behind its redirect. */
  readonly step: "info" | "head" | "get" | "cdn";
  /** Name of the file; empty for the list. */
  readonly file: string;
  /** 0 for the first request of this step and file. */
  readonly attempt: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly content: Buffer;
}

/** Repository of the hub, with what it does wrong. */
export interface HubRepository {
  readonly files: Readonly<Record<string, Buffer>>;
  readonly commit: string;
  readonly licence?: string;
  /** Changes the list of files before it is sent. */
  readonly list?: (info: HubInfo) => unknown;
  /** Changes the headers of a file. */
  readonly headers?: (headers: Record<string, string>, call: HubCall) => void;
  /** Answers a request in place of the hub; returns false to leave the answer to it. */
  readonly answer?: (call: HubCall) => boolean;
}

/** Answer of `/api/models/REPOSITORY/revision/REVISION?blobs=true`. */
export interface HubInfo {
  id: string;
  sha: string;
  cardData: { license: string };
  siblings: {
    rfilename: string;
    size: number;
    blobId: string;
    lfs?: { size: number; sha256: string; pointerSize: number };
  }[];
}

/** Hub on loopback, as `HF_ENDPOINT` names it. Large files are redirected to a second port, as LFS is to a content delivery network. */
export interface Hub {
  readonly url: string;
  readonly cdn: string;
  /** Number of requests so far. */
  requests(): number;
  add(repository: string, content: HubRepository): void;
  close(): Promise<void>;
}

const isLarge = (name: string): boolean => name.endsWith(".safetensors");
export const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
const blobOf = (content: Buffer): string =>
  createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");

/** Starts a hub without repositories. */
export async function startHub(): Promise<Hub> {
  const repositories = new Map<string, HubRepository>();
  const attempts = new Map<string, number>();
  let requests = 0;
  const handle = (request: IncomingMessage, response: ServerResponse, isCdn: boolean): void => {
    requests++;
    const path = decodeURIComponent((request.url ?? "").split("?")[0] as string);
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/(.+)$/.exec(path);
    const resolved = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(path);
    const [, name = "", revision = "", file = ""] = api ?? resolved ?? [];
    const repository = repositories.get(name);
    if (repository === undefined) return refuse(response, 401, "RepoNotFound");
    const step = api !== null ? "info" : isCdn ? "cdn" : request.method === "HEAD" ? "head" : "get";
    const key = `${name} ${step} ${file}`;
    const attempt = attempts.get(key) ?? 0;
    attempts.set(key, attempt + 1);
    const content = repository.files[file] ?? Buffer.alloc(0);
    const call = { step, file, attempt, request, response, content } as const;
    if (repository.answer?.(call) === true) return;
    if (step === "info") {
      if (![repository.commit, "main"].includes(revision)) return refuse(response, 404, "RevisionNotFound");
      return sendJson(response, listOf(name, repository));
    }
    if (repository.files[file] === undefined) return refuse(response, 404, "EntryNotFound");
    if (isCdn) return sendContent(call);
    const headers: Record<string, string> = {
      "X-Repo-Commit": repository.commit,
      ETag: `"${isLarge(file) ? sha256(content) : blobOf(content)}"`,
    };
    if (isLarge(file)) {
      headers["X-Linked-Size"] = String(content.length);
      headers["X-Linked-ETag"] = `"${sha256(content)}"`;
      headers["Location"] = `${cdnUrl}${path}`;
    }
    repository.headers?.(headers, call);
    if (headers["Location"] !== undefined)
      return void response.writeHead(302, { "Content-Length": "0", ...headers }).end();
    sendContent(call, headers);
  };
  const hub = createServer((request, response) => handle(request, response, false));
  const cdn = createServer((request, response) => handle(request, response, true));
  const [url, cdnUrl] = (await Promise.all([hub, cdn].map(listen))) as [string, string];
  return {
    url,
    cdn: cdnUrl,
    requests: () => requests,
    add: (name, repository) => void repositories.set(name, repository),
    close: async () => {
      for (const server of [hub, cdn]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** Answers with the content, or with the part of it that `Range` names. */
export function sendContent(
  { request, response, content }: Pick<HubCall, "request" | "response" | "content">,
  headers: Readonly<Record<string, string>> = {},
): void {
  const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const rest = content.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, {
    "Content-Length": String(rest.length),
    ...(from > 0 && { "Content-Range": `bytes ${from}-${content.length - 1}/${content.length}` }),
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : rest);
}

/** Begins to send the content from `Range` on, and ends the connection after `bytes`. */
export function breakOff({ request, response, content }: HubCall, bytes: number, hasRanges = true): void {
  const asked = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const from = hasRanges ? asked : 0;
  response.writeHead(from > 0 ? 206 : 200, {
    "Content-Length": String(content.length - from),
    ...(from > 0 && { "Content-Range": `bytes ${from}-${content.length - 1}/${content.length}` }),
  });
  response.write(content.subarray(from, from + bytes), () => response.destroy());
  if (bytes === 0) setTimeout(() => response.destroy(), 20);
}

/** Answers with a status and a code of the hub. */
export function refuse(response: ServerResponse, status: number, code?: string): void {
  response.writeHead(status, { "Content-Length": "0", ...(code !== undefined && { "X-Error-Code": code }) }).end();
}

/** Answers with JSON, or with a text that is none. */
export function sendJson(response: ServerResponse, value: unknown): void {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text);
}

function listOf(id: string, { files, commit, licence = "apache-2.0", list }: HubRepository): unknown {
  const info: HubInfo = {
    id,
    sha: commit,
    cardData: { license: licence },
    siblings: Object.entries(files).map(([rfilename, content]) => ({
      rfilename,
      size: content.length,
      blobId: blobOf(content),
      ...(isLarge(rfilename) && { lfs: { size: content.length, sha256: sha256(content), pointerSize: 130 } }),
    })),
  };
  return list === undefined ? info : list(info);
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Files of a model: configuration, tokenizer, template, and random weights in one file or in shards. */
export function modelFiles(
  options: { readonly shards?: number; readonly bytes?: number; readonly config?: object } = {},
): Record<string, Buffer> {
  const { shards = 1, bytes = 200_000, config = {} } = options;
  const names =
    shards === 1
      ? ["model.safetensors"]
      : Array.from({ length: shards }, (_, i) => `model-0000${i + 1}-of-0000${shards}.safetensors`);
  return {
    "README.md": Buffer.from("# A model\n"),
    "modeling_own.py": Buffer.from("raise SystemExit('code of the repository ran')\n"),
    "pytorch_model.bin": randomBytes(1_000),
    "config.json": json({ model_type: "llama", ...config }),
    "tokenizer.json": json({ model: { type: "BPE" }, filler: "x".repeat(20_000) }),
    "tokenizer_config.json": json({ chat_template: "{{ messages }}" }),
    LICENSE: Buffer.from("Apache License\n"),
    ...(shards > 1 && {
      "model.safetensors.index.json": json({
        weight_map: Object.fromEntries(names.map((name, i) => [`layer.${i}`, name])),
      }),
    }),
    ...Object.fromEntries(names.map((name) => [name, randomBytes(bytes)])),
  };
}

/** Returns a commit that no other repository has. */
export function newCommit(): string {
  return randomBytes(20).toString("hex");
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
}
