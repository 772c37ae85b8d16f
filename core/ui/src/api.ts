import type { Exchange } from "@mrlm/kit/http";
import { encodeBytes } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { LIST_COLUMNS } from "@mrlm/store";
import { episodePage } from "./episode-query.ts";
import type { FoundRun } from "./find-runs.ts";
import type { LiveChanges } from "./live-changes.ts";
import type { RunReader } from "./run-reader.ts";
import type { EnvironmentServers } from "./servers/environment-servers.ts";
import { type Table, toCsv, toParquet } from "./tables.ts";

/** Sources of the API. */
export interface ApiContext {
  readonly reader: RunReader;
  readonly runs: () => ReadonlyMap<string, FoundRun>;
  readonly changes: LiveChanges;
  readonly servers: EnvironmentServers;
}

/** Largest exported table. */
const MAX_EXPORTED = 100_000;
/** A stream without a change has a comment in this interval, so that a lost browser is noticed. */
const PING_MS = 15_000;

/** Answers a request below `/api/`. Throws RUN_NOT_FOUND, EPISODE_NOT_FOUND or QUERY_INVALID. */
export async function answerApi(exchange: Exchange, { reader, runs, changes, servers }: ApiContext): Promise<void> {
  const [, , part, runId, section, episode, view, ...rest] = exchange.url.pathname.split("/").map(decoded);
  const { searchParams: search } = exchange.url;
  if (part === "events" && runId === undefined) return streamChanges(exchange, changes);
  if (part === "servers" && runId === undefined) return send(exchange, { servers: await servers.read() });
  if (part !== "runs" || rest.length > 0) throw noRoute(exchange);
  if (runId === undefined) {
    const found = [...runs().values()];
    const summaries = await reader.read(
      "summaries",
      found.map(({ path }) => path),
    );
    const states = found.map(({ id }, i) => ({ id, ...(summaries[i] as (typeof summaries)[number]) }));
    return send(exchange, { runs: states.toSorted(newestFirst) });
  }
  const run = runs().get(runId);
  if (run === undefined)
    throw new MrlmError("RUN_NOT_FOUND", `There is no run ${JSON.stringify(runId.slice(0, 200))}.`);
  const { path } = run;
  if (section === undefined) return send(exchange, { id: runId, ...(await reader.read("detail", path)) });
  if (episode === undefined) {
    if (section === "config") return send(exchange, await reader.read("config", path));
    if (section === "choices") return send(exchange, await reader.read("choices", path));
    if (section === "workers") return send(exchange, await reader.read("workers", path));
    if (section === "tasks") return send(exchange, await reader.read("tasks", path));
    if (section === "metrics") return sendMetrics(exchange, reader, path, search);
    if (section === "episodes") return sendEpisodes(exchange, reader, path, search);
  } else if (section === "episodes") {
    const key = episodeKey(episode);
    if (view === undefined)
      return sendBytes(exchange, Buffer.from(encodeBytes(await reader.read("episode", path, key))), "application/json");
    if (view === "texts") return send(exchange, await reader.read("texts", path, key));
    if (view === "tokens")
      return sendBytes(exchange, await reader.read("tokens", path, key), "application/octet-stream");
  }
  throw noRoute(exchange);
}

/** Order of runs by their start; those without one come last, in the order of their paths. */
function newestFirst(one: { readonly started: string | null }, other: { readonly started: string | null }): number {
  return (Date.parse(other.started ?? "") || 0) - (Date.parse(one.started ?? "") || 0);
}

async function sendMetrics(
  exchange: Exchange,
  reader: RunReader,
  path: string,
  search: URLSearchParams,
): Promise<void> {
  const format = formatOf(search);
  const after = Number(search.get("after") ?? -1);
  const metrics = await reader.read("metrics", path, Number.isFinite(after) ? after : -1);
  if (format === undefined) return send(exchange, metrics);
  const rows = metrics.series.flatMap(({ name, kind, steps, values, low, high }) =>
    steps.map((step, i) => [name, kind, step, values[i] ?? null, low?.[i] ?? null, high?.[i] ?? null]),
  );
  const columns = [
    ...(["name", "kind"] as const).map((name) => ({ name, shape: "string" as const })),
    { name: "step", shape: "int64" as const },
    ...(["value", "low", "high"] as const).map((name) => ({ name, shape: "double" as const })),
  ];
  await sendTable(exchange, { columns, rows }, format, "metrics");
}

async function sendEpisodes(
  exchange: Exchange,
  reader: RunReader,
  path: string,
  search: URLSearchParams,
): Promise<void> {
  const format = formatOf(search);
  search.delete("format");
  if (format === undefined) return send(exchange, await reader.read("episodes", path, episodePage(search)));
  if (!search.has("limit")) search.set("limit", String(MAX_EXPORTED));
  const { columns, rows } = await reader.read("episodes", path, episodePage(search, MAX_EXPORTED));
  const types = new Map(LIST_COLUMNS.map(({ name, type }) => [name, type]));
  const shapes = { integer: "int64", real: "double", text: "string", json: "string" } as const;
  const shaped = columns.map((name) => ({ name, shape: shapes[types.get(name) ?? "text"] }));
  await sendTable(exchange, { columns: shaped, rows }, format, "episodes");
}

function formatOf(search: URLSearchParams): "csv" | "parquet" | undefined {
  const format = search.get("format");
  if (format === null || format === "csv" || format === "parquet") return format ?? undefined;
  throw new MrlmError("QUERY_INVALID", `The argument format=${format.slice(0, 40)} is neither csv nor parquet.`);
}

async function sendTable(exchange: Exchange, table: Table, format: "csv" | "parquet", name: string): Promise<void> {
  const isCsv = format === "csv";
  const bytes = isCsv ? Buffer.from(toCsv(table)) : await toParquet(table);
  const type = isCsv ? "text/csv; charset=utf-8" : "application/vnd.apache.parquet";
  sendBytes(exchange, bytes, type, { "content-disposition": `attachment; filename="${name}.${format}"` });
}

function streamChanges({ request, response }: Exchange, changes: LiveChanges): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.write(": open\n\n");
  const end = changes.listen((runs) => response.write(`data: ${JSON.stringify({ runs })}\n\n`));
  const ping = setInterval(() => response.write(": ping\n\n"), PING_MS).unref();
  request.once("close", () => {
    clearInterval(ping);
    end();
    response.end();
  });
}

function send(exchange: Exchange, body: unknown): void {
  exchange.send(200, body, { "cache-control": "no-store" });
}

function sendBytes(
  { response }: Exchange,
  bytes: Uint8Array,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { "content-type": type, "cache-control": "no-store", ...headers }).end(bytes);
}

/** Reads the number of an episode. Its id does not name one alone: each evaluation of a run has the same ids. */
function episodeKey(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new MrlmError("EPISODE_NOT_FOUND", `${JSON.stringify(text.slice(0, 200))} is no number of an episode.`, {
    hint: "The column episode_key of the list of episodes has it.",
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new MrlmError("MESSAGE_INVALID", "The path of the request is not encoded as a URL.");
  }
}

function noRoute({ url }: Exchange): MrlmError {
  return new MrlmError("MESSAGE_INVALID", `There is no route ${url.pathname.slice(0, 200)}.`, {
    hint: "docs/train/viewer.md lists the routes.",
  });
}
