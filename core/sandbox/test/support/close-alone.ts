// Closes sandboxes, one at a time, in a process that has nothing else to do. It exits with 13 if a close waits for what keeps no process alive.
import { closeEarly } from "./close-early.ts";

const [count, seed] = process.argv.slice(2).map(Number) as [number, number];
await closeEarly(count, seed, { atOnce: 1, withinMs: 800 });
