// Process with a server of Postgres, for suites that start programs: prints its URL, then a line after each command of standard input, `stop` or `start`.
import { createInterface } from "node:readline";
import { PostgresServer } from "./postgres-server.ts";

const server = await PostgresServer.create();
console.log(server.url);
for await (const line of createInterface({ input: process.stdin })) {
  await (line === "stop" ? server.stop("crash") : server.start());
  console.log(line);
}
await server.remove();
