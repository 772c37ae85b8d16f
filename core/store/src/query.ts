import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { MrlmError } from "@mrlm/spec";
import { fromErrorRecord, moduleFile } from "@mrlm/process";
import { tidyAfterRead } from "./open-to-read.ts";
import type { QueryLimits, QueryLine, QueryRequest, QueryValue } from "./query-messages.ts";
import type { StorePlace } from "./store-place.ts";

/** Rows of a query. */
export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly QueryValue[])[];
  /** Whether there are more rows than the limit. */
  readonly isCut: boolean;
  /** Time of the query itself, without the start of its process. */
  readonly seconds: number;
}

/**
 * Runs one SELECT on a store over a connection that can only read, in a process of its own, because SQLite cannot be interrupted in this
 * one. Rejects with QUERY_INVALID for SQL that is wrong or does more than read, with QUERY_LIMIT where it takes too long or too much memory,
 * with STORE_INVALID, STORE_FAILED or STORE_UNAVAILABLE where the store cannot be read.
 */
export async function queryStore(place: StorePlace, sql: string, limits: QueryLimits): Promise<QueryResult> {
  const { path } = place;
  const hadLog = existsSync(`${path}-wal`);
  const { path: file, execArgv } = moduleFile(import.meta.url, "./query-process");
  const child = spawn(process.execPath, [...execArgv, file], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const ended = new Promise<string>((resolve, reject) =>
    child.on("error", reject).on("close", (code, signal) => resolve(String(signal ?? code))),
  );
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, limits.seconds * 1000);
  child.stdin.on("error", () => undefined).end(JSON.stringify({ ...place, sql, ...limits } satisfies QueryRequest));
  try {
    let columns: readonly string[] = [];
    const rows: (readonly QueryValue[])[] = [];
    for await (const text of createInterface({ input: child.stdout })) {
      const line = JSON.parse(text) as QueryLine;
      if ("columns" in line) columns = line.columns;
      else if ("row" in line) rows.push(line.row);
      else if ("isCut" in line) return { columns, rows, isCut: line.isCut, seconds: line.seconds };
      else throw fromErrorRecord(line.error);
    }
    throw endedError(await ended, isLate, limits);
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
    await ended;
    if (!hadLog) tidyAfterRead(path);
  }
}

function endedError(how: string, isLate: boolean, { seconds, megabytes }: QueryLimits): MrlmError {
  if (isLate)
    return new MrlmError("QUERY_LIMIT", `The query took longer than ${seconds} s and was ended.`, {
      hint: "Select fewer rows or a smaller range of run_step, or allow more time.",
    });
  if (how === "SIGKILL")
    return new MrlmError("QUERY_LIMIT", `The query needed more than ${megabytes} MB of memory and was ended.`, {
      hint: "Select fewer columns or rows: a sort holds all of them.",
    });
  return new MrlmError("INTERNAL", `The process of the query ended (${how}) without a result.`);
}
