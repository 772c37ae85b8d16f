// A run in a separate process, for tests that kill it: argv[2] is where runs are written. Each checkpoint is a line on stdout.
import { trainRun } from "@mrlm/runtime";
import { BigramEngine } from "@mrlm/testing";
import { CONFIG, prepare } from "./training.ts";

const [, , output] = process.argv;
const { prepared, host } = await prepare({
  ...CONFIG,
  output,
  stages: [{ algorithm: "reinforce", steps: 400 }],
  eval: { tasks: 0 },
});
await trainRun({
  prepared,
  host,
  engine: new BigramEngine(),
  onEvent: (event) => event.kind === "checkpoint" && console.log(event.path),
});
