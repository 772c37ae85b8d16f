// Kills a child in a process that has nothing else to do. It exits with 13 if the child keeps it from no end.
import { Connection } from "../../src/pool/connection.ts";

const launch = { command: "sleep", args: ["60"], env: { PATH: process.env["PATH"] ?? "" }, descriptors: [] };
const connection = new Connection(launch, { onFrame: () => {}, onGarbage: () => {}, onExit: () => {} });
connection.kill();
connection.setReferenced(false);
await connection.exited;
