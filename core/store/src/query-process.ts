// Process of one query: reads a request from standard input and writes lines of JSON.
import { readFileSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { toErrorRecord, toKnownError } from "@mrlm/process";
import type { QueryLine, QueryRequest } from "./query-messages.ts";
import { runQuery } from "./run-query.ts";
import { storeProviderOf } from "./store-provider.ts";

const BUFFER_CHARACTERS = 65_536;

/** Ends the process when it needs too much memory. SQLite of Node counts none, and the query holds the main thread. */
const WATCH = `
  const { workerData } = require("node:worker_threads");
  setInterval(() => { if (process.memoryUsage.rss() > workerData) process.kill(process.pid, "SIGKILL"); }, 20);
`;

let buffer = "";
const request = JSON.parse(readFileSync(0, "utf8")) as QueryRequest;
const watch = new Worker(WATCH, { eval: true, workerData: request.megabytes * 1_048_576, execArgv: [] });
try {
  const provider = storeProviderOf(request);
  if (provider === undefined) runQuery(request, write);
  else await provider.query(request, write);
} catch (error) {
  write({ error: toErrorRecord(toKnownError(error)) });
}
flush();
watch.unref();

function write(line: QueryLine): void {
  buffer += `${JSON.stringify(line)}\n`;
  if (buffer.length > BUFFER_CHARACTERS) flush();
}

function flush(): void {
  let bytes = Buffer.from(buffer);
  buffer = "";
  while (bytes.length > 0) bytes = bytes.subarray(writtenBytes(bytes));
}

/** A pipe may be full for a while. */
function writtenBytes(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return 0;
  }
}
