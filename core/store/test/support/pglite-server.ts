// Thread that serves a PGlite database over the protocol of Postgres. A thread of its own: a store in the thread of a test blocks it while it waits.
import { parentPort } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

const server = new PGLiteSocketServer({ db: await PGlite.create(), host: "127.0.0.1", port: 0, maxConnections: 20 });
await server.start();
parentPort?.postMessage(Number(server.getServerConn().split(":").at(-1)));
