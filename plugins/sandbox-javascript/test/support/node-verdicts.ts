// A program: reads programs as JSON from standard input and prints the verdict of each test under plain Node.
import assert from "node:assert";
import { text } from "node:stream/consumers";
import type { GeneratedProgram } from "./programs.ts";

const AsyncFunction = (async () => {}).constructor as new (...args: string[]) => (...args: unknown[]) => Promise<void>;
const programs = JSON.parse(await text(process.stdin)) as GeneratedProgram[];
const verdicts: boolean[][] = [];
for (const { code, tests } of programs) {
  const passed: boolean[] = [];
  for (const test of tests) {
    try {
      await new AsyncFunction("assert", `${code}\n${test}`)(assert);
      passed.push(true);
    } catch {
      passed.push(false);
    }
  }
  verdicts.push(passed);
}
console.log(JSON.stringify(verdicts));
