// Separate process, because Pyodide's module imports others after the test runner forbids it. Prints, as JSON, the differences from a new interpreter
// after each of two programs, before and after a reset.
import { bootImageFile } from "../../src/boot-image-file.ts";
import { readBootImage } from "../../src/pyodide/boot-image.ts";
import { Interpreter } from "../../src/pyodide/interpreter.ts";
import { pythonFolder } from "../../src/pyodide/python-folder.ts";

/** Program that changes memory and state outside of it. */
const NASTY = `
import builtins, math, os, random, sys
builtins.len = lambda _: 42
math.pi = 3
random.seed(1)
sys.modules["json"] = None
os.environ["LEFT"] = "behind"
os.makedirs("/tmp/left/behind")
open("/tmp/left/file", "w").write("x" * 100_000)
held = open("/tmp/left/open", "w")
os.chdir("/tmp/left")
os.close(1)
`;
/** Program that is interrupted. */
const DEEP = `
import os
def deep(n):
    return deep(n - 1) if n else os._exit(3)
deep(200)
`;

const interpreter = await Interpreter.start(pythonFolder(), readBootImage(await bootImageFile()));
interpreter.begin("runner");
const pristine = describe();
const found = [NASTY, DEEP, NASTY].map((code) => {
  const ending = run(code);
  const before = differences();
  interpreter.reset();
  return { ending, before, after: differences() };
});
console.log(JSON.stringify(found));

function run(code: string): unknown {
  try {
    return (JSON.parse(interpreter.ask(`run\n${JSON.stringify({ code, outputBytes: 1000 })}`)) as { verdict: unknown })
      .verdict;
  } catch (error) {
    return (error as object).constructor.name;
  }
}

/** Returns all state that the next submission could read. */
function describe(): Record<string, unknown> {
  const { memory, files, stackPointer } = interpreter.capture();
  return {
    stackPointer,
    memory: memory.runs
      .map(({ start, end, bytes }) =>
        [start, end, bytes === undefined ? 0 : Buffer.from(bytes).toString("base64")].join(),
      )
      .join("\n"),
    folder: files.currentPath,
    nodes: files.nodes
      .map(({ node, fields }) => `${node.id} ${fields.name} ${fields.mode} ${fields.usedBytes} ${String(fields.mtime)}`)
      .join("\n"),
    streams: files.streams.map(({ fd, shared }) => `${fd} ${JSON.stringify(shared)}`).join("\n"),
    nextInode: files.nextInode,
  };
}

function differences(): string[] {
  const now = describe();
  return Object.keys(pristine).filter((name) => pristine[name] !== now[name]);
}
