// Process with a launcher: prints the ids of the process that it starts and of that one's child, which leads a group of its own, and waits.
import { LocalLauncher } from "../../src/local-launcher.ts";

const wait = "setInterval(() => 0, 1000)";
const program = `const { spawn } = require("node:child_process");
const child = spawn(process.execPath, ["-e", ${JSON.stringify(wait)}], { detached: true, stdio: "ignore" });
console.log(process.pid + " " + child.pid); ${wait}`;
await new LocalLauncher().start(
  [{ kind: "rollouts", count: 1, command: [process.execPath, "-e", program] }],
  (event) => {
    if (event.kind === "output") process.stdout.write(`${event.line}\n`);
  },
);
setInterval(() => undefined, 1000);
