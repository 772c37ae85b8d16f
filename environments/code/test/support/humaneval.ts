import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sandbox, Score } from "@mrlm/spec";
import { problemOf, type FunctionProblem } from "../../src/problem/problem.ts";
import { type Prepared, prepare } from "./environment.ts";

/** HumanEval, where the machine has it: beside the repository, or where the variable of that name says. */
export const HUMANEVAL =
  process.env["HUMANEVAL"] ?? fileURLToPath(new URL("../../../../../shared/data/HumanEval.jsonl", import.meta.url));
export const hasHumanEval = existsSync(HUMANEVAL);

const MUTATOR = fileURLToPath(new URL("mutate.py", import.meta.url));
/** A machine may be busy: what is tested is the verdict, not the time. */
const LIMITS = { wall_ms: 120_000, cpu_ms: 20_000 };

/** What a problem's answers came to. */
export interface Graded {
  readonly id: string;
  readonly reward: Score;
}

/** What came of a problem's mutants: the first that the problem's own tests refuse, and its reward. */
export interface GradedMutant extends Graded {
  readonly kind: string;
  readonly source: string;
}

/** HumanEval as the environment has it, one attempt each. */
export function prepareHumanEval(sandbox: Sandbox): Promise<Prepared> {
  return prepare({ data: { path: HUMANEVAL, eval_share: 0 }, attempts: 1, limits: LIMITS }, sandbox);
}

/** The reward of the reference solution of every `stride`-th problem. `before`: what the answer of a number begins with. */
export async function gradeReferences(
  sandbox: Sandbox,
  stride: number,
  before: (index: number) => string = () => "",
): Promise<Graded[]> {
  const { tasks, play } = await prepareHumanEval(sandbox);
  return inParallel(tasks.splits["train"] as number, stride, async (index) => {
    const task = await tasks.get("train", index);
    return {
      id: String(task.public["task_id"]),
      reward: await only(
        play(task.id, [`\`\`\`python\n${before(index)}${(problemOf(task) as FunctionProblem).reference}\n\`\`\``]),
      ),
    };
  });
}

/**
 * The reward of one mutant of the reference of every `stride`-th problem. Whether a mutant is one is for the problem's own tests to say: its `check`, whole, in one interpreter
 * with the mutant, without anything of this environment. One that they accept, or that never ends, is replaced by the next.
 */
export async function gradeMutants(sandbox: Sandbox, stride: number): Promise<GradedMutant[]> {
  const { tasks, play } = await prepareHumanEval(sandbox);
  const rows = readFileSync(HUMANEVAL, "utf8")
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as Record<"prompt" | "canonical_solution" | "entry_point" | "test" | "task_id", string>,
    );
  const limits = { wallMs: LIMITS.wall_ms, cpuMs: 1_500 };
  return inParallel(tasks.splits["train"] as number, stride, async (index) => {
    const task = await tasks.get("train", index);
    const id = String(task.public["task_id"]);
    const row = rows.find((each) => each.task_id === id) as (typeof rows)[number];
    const { stdout } = await sandbox.run({
      code: readFileSync(MUTATOR, "utf8"),
      stdin: JSON.stringify({ source: row.prompt + row.canonical_solution, function: row.entry_point, seed: index }),
      limits: { outputBytes: 2 ** 22, wallMs: LIMITS.wall_ms },
    });
    for (const { kind, source } of JSON.parse(stdout) as { kind: string; source: string }[]) {
      const own = await sandbox.run({ code: `${source}\n\n${row.test}\n\ncheck(${row.entry_point})\n`, limits });
      if (own.verdict === "error")
        return { id, kind, source, reward: await only(play(task.id, [`\`\`\`python\n${source}\n\`\`\``])) };
    }
    throw new Error(`the tests of ${id} accept every mutant`);
  });
}

async function only(played: ReturnType<Prepared["play"]>): Promise<Score> {
  const reward = (await played)[0]?.rewards["agent"];
  if (!reward?.scored) throw new Error(`unscored: ${JSON.stringify(reward)}`);
  return reward;
}

/** Two at a time, as many as a pool has children by default. */
async function inParallel<T>(count: number, stride: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i * stride < count; i = next++) results[i] = await work(i * stride);
  };
  await Promise.all([worker(), worker()]);
  return results;
}
