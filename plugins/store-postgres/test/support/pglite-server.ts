// Thread that serves a PGlite database over the protocol of Postgres. A thread of its own: a store in the thread of a test blocks it while it waits.
import { existsSync, mkdirSync, openAsBlob, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parentPort } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

const server = new PGLiteSocketServer({ db: await newDatabase(), host: "127.0.0.1", port: 0, maxConnections: 20 });
await server.start();
parentPort?.postMessage(Number(server.getServerConn().split(":").at(-1)));

/** Makes an empty database. Its files take four seconds of CPU and are always the same, so they are kept for each version of PGlite. */
async function newDatabase(): Promise<PGlite> {
  const folder = join(fileURLToPath(import.meta.resolve("@electric-sql/pglite")), "..", "..");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly version: string };
  const kept = fileURLToPath(new URL(`../../../../node_modules/.cache/mrlm/pglite-${version}.tar`, import.meta.url));
  if (existsSync(kept)) return PGlite.create({ loadDataDir: await openAsBlob(kept) });
  const database = await PGlite.create();
  const files = await database.dumpDataDir("none");
  mkdirSync(dirname(kept), { recursive: true });
  const partial = `${kept}.${process.pid}`;
  writeFileSync(partial, Buffer.from(await files.arrayBuffer()));
  renameSync(partial, kept);
  return database;
}
