// Thread that owns the connection of a store, so that writes do not block the event loop of the run.
import { parentPort } from "node:worker_threads";
import { threadChannel } from "@mrlm/process";
import { serveDatabase } from "./store-database.ts";

serveDatabase(threadChannel(parentPort as NonNullable<typeof parentPort>));
