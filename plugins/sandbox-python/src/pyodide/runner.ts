// Process in which submissions run one by one, each in a restored interpreter. It has no tests and no verdicts: it passes messages to Python,
// and reports the ending of a submission if Python cannot.
import type { SandboxLimits } from "@mrlm/spec";
import type { SandboxVerdict } from "@mrlm/spec/host";
import { readBootImage } from "./boot-image.ts";
import { ProgramBroken, ProgramExit } from "./imports.ts";
import { Interpreter, type InterpreterImage } from "./interpreter.ts";
import { Interrupted, Interrupter } from "./interrupt.ts";
import { Link } from "./link.ts";
import { type Ending, RUNNER_FD, type RunnerRequest } from "./runner-protocol.ts";
import { pythonFolder } from "./python-folder.ts";

const link = new Link(RUNNER_FD);
const interpreter = await Interpreter.start(pythonFolder(), readBootImage(process.argv[2] as string));
interpreter.begin("runner");
const interrupter = new Interrupter(
  new URL(import.meta.url.endsWith(".ts") ? "./interrupt-worker.ts" : "./interrupt-worker.js", import.meta.url),
  Number(process.argv[3]),
);
interpreter.streams.onOutput = (name, text) => void link.write(`output\n${name}\n${text}`);
const snapshots: InterpreterImage[] = [];
link.write("pristine");
interrupter.keepReady(serve);
process.exit(0);

function serve(): void {
  for (let message = link.read(); message !== undefined; message = link.read()) {
    const line = message.indexOf("\n");
    const [kind, rest] = line < 0 ? [message, ""] : [message.slice(0, line), message.slice(line + 1)];
    switch (kind as RunnerRequest) {
      case "begin":
        begin(JSON.parse(rest) as SandboxLimits & { stdin: string });
        break;
      case "reset":
        interpreter.reset();
        snapshots.length = 0;
        link.write("pristine");
        break;
      case "snapshot":
        link.write(String(snapshots.push(interpreter.capture()) - 1));
        break;
      case "restore":
        interpreter.restore(snapshots[Number(rest)] as InterpreterImage);
        link.write("restored");
        break;
      case "python":
        link.write(ask(rest));
    }
  }
}

/** Begins a submission or an input of a session, with its limits and standard input. */
function begin({ stdin, ...limits }: SandboxLimits & { stdin: string }): void {
  interpreter.streams.begin(stdin, limits.outputBytes);
  interpreter.limit(limits.memoryBytes);
  interrupter.limit(limits);
}

function ask(message: string): string {
  try {
    const answer = interrupter.run(() => interpreter.ask(message));
    interpreter.streams.flush();
    return `answer\n${usage()}\n${answer}`;
  } catch (error) {
    interpreter.streams.flush();
    return `ended\n${usage()}\n${JSON.stringify(endingOf(error))}`;
  }
}

/** Returns the Usage of the protocol as text. */
function usage(): string {
  return `${interrupter.cpuMs()} ${interpreter.usedBytes} ${interpreter.grownBytes}`;
}

/** Returns the ending of a program that returned no answer. */
function endingOf(error: unknown): Ending {
  if (error instanceof Interrupted) return { verdict: error.verdict };
  if (error instanceof ProgramExit) return exitOf(error.code);
  if (error instanceof ProgramBroken) return killed(error.reason);
  if (error instanceof RangeError && /call stack/.test(error.message))
    return killed("its calls were nested too deeply for the interpreter");
  if (error instanceof RangeError) return { verdict: "memory-limit" };
  return killed(error instanceof Error ? error.message : "it broke its interpreter");
}

function exitOf(exitCode: number): Ending {
  if (exitCode === 0) return { verdict: "ok", exitCode };
  return {
    verdict: "error",
    exitCode,
    error: { name: "SystemExit", message: String(exitCode), trace: `SystemExit: ${exitCode}` },
  };
}

function killed(reason: string): Ending {
  return { verdict: "killed" satisfies SandboxVerdict, reason };
}
