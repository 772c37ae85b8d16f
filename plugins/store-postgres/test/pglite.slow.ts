import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll } from "@jest/globals";
import { describeAnnouncements } from "./support/announcements.ts";
import { PostgresPlace } from "./support/postgres-place.ts";
import { describeReaders } from "./support/readers.ts";
import { storeContract } from "../../../core/store/test/contract/store-contract.ts";

// npm run test:faults -- store-postgres runs the contract on a server of Postgres, and stops it.
let server: Worker;
let url: string;
beforeAll(async () => {
  server = new Worker(new URL("support/pglite-server.ts", import.meta.url), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const [port] = (await once(server, "message")) as [number];
  url = `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`;
});
afterAll(() => server.terminate());

storeContract("PGlite", { place: async () => new PostgresPlace(url), interleavings: 0, groups: 5 });
// PGlite has one session for all connections: readers leave it read-only.
describeAnnouncements("PGlite", () => url);
describeReaders("PGlite", () => url);
