/** A pretrained model and data for the sides of `npm run bench -- real`, as benchmarks/train/peers/make_fixture.py writes them for a small one. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomStream } from "@mrlm/kit";
import { requireGguf } from "../models/packages.ts";
import { prepareFixture } from "../train/ours.ts";

const MRLM = fileURLToPath(new URL("../../core/cli/bin/mrlm.js", import.meta.url));
const NAMES = ["Ada", "Ben", "Chen", "Dora", "Emil", "Farah", "Goran", "Hana"];
const THINGS = ["apples", "books", "coins", "cards", "stamps", "shells", "pens", "marbles"];

/** Returns the directory of SmolLM2-135M-Instruct. It is fetched and converted where it is missing. */
export function modelDirectory(enginePython: string): string {
  const command = [MRLM, "models", "get", requireGguf(enginePython, "smollm2"), "--json"];
  const output = execFileSync(process.execPath, command, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return (JSON.parse(output) as { directory: string }).directory;
}

/** Writes model and data below the environment of the peers' `python`; returns the folder. */
export function makeRealFixture(model: string, python: string): string {
  const fixture = join(dirname(dirname(python)), "fixture-real");
  rmSync(fixture, { recursive: true, force: true });
  mkdirSync(fixture, { recursive: true });
  symlinkSync(model, join(fixture, "model"));
  const draw = randomStream("bench-real", 0);
  const number = (): number => draw.integer(2, 98);
  /** A task of about 40 tokens, and its answer of about 30. No token spans the two. */
  const task = (): { prompt: string; answer: (sum: number) => string; sum: number } => {
    const [name, thing, first, more] = [draw.pick(NAMES), draw.pick(THINGS), number(), number()];
    return {
      prompt: `${name} has ${first} ${thing} and buys ${more} more at the market. How many ${thing} does ${name} have now? Answer:`,
      answer: (sum) => ` ${name} had ${first} ${thing} and bought ${more} more, so ${name} now has ${sum} ${thing}.`,
      sum: first + more,
    };
  };
  const prompts = Array.from({ length: 256 }, () => task().prompt);
  const rows = Array.from({ length: 1024 }, () => {
    const { prompt, answer, sum } = task();
    return { prompt, completion: answer(sum) };
  });
  const pairs = Array.from({ length: 512 }, () => {
    const { prompt, answer, sum } = task();
    return { prompt, chosen: answer(sum), rejected: answer(sum + number()) };
  });
  for (const [name, data] of Object.entries({ grpo: { prompts }, sft: { rows }, dpo: { pairs } }))
    writeFileSync(join(fixture, `${name}.json`), JSON.stringify(data));
  prepareFixture(fixture);
  return fixture;
}
