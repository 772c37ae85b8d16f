// A run of programs in its own process, for tests that kill it: `node training-programs.ts OUTPUT FOLDER`. Each checkpoint is a line on stdout.
import { trainRun } from "@mrlm/runtime";
import { BigramEngine } from "@mrlm/testing";
import { processPrograms } from "./process-programs.ts";
import { prepare, PROGRAMS_CONFIG } from "./training.ts";

const [, , output = "", folder = ""] = process.argv;
const { prepared, host } = await prepare({ ...PROGRAMS_CONFIG, output }, processPrograms(folder));
await trainRun({
  prepared,
  host,
  engine: new BigramEngine(),
  onEvent: (event) => event.kind === "checkpoint" && console.log(event.path),
});
