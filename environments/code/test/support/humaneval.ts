import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sandbox, Score } from "@mrlm/kit";
import { problemOf, type FunctionProblem } from "../../src/problem/problem.ts";
import { type Prepared, prepare } from "./environment.ts";

/** File of HumanEval in the parent folder of the repository, or at the path in the environment variable. */
export const HUMANEVAL =
  process.env["HUMANEVAL"] ?? fileURLToPath(new URL("../../../../../shared/data/HumanEval.jsonl", import.meta.url));
export const hasHumanEval = existsSync(HUMANEVAL);

const MUTATOR = fileURLToPath(new URL("mutate.py", import.meta.url));
/** Limits for a busy machine: the tests are about verdicts, not times. */
const LIMITS = { wall_ms: 120_000, cpu_ms: 20_000 };

/** Result of the answers to a problem. */
export interface Graded {
  readonly id: string;
  readonly reward: Score;
}

/** Result of the mutants of a problem: the first that its own tests refuse, and its reward. */
export interface GradedMutant extends Graded {
  readonly kind: string;
  readonly source: string;
}

/** Returns the environment with HumanEval and one attempt. */
export function prepareHumanEval(sandbox: Sandbox): Promise<Prepared> {
  return prepare({ data: { path: HUMANEVAL, eval_share: 0 }, attempts: 1, limits: LIMITS }, sandbox);
}

/** Returns the reward of the reference solution of every `stride`-th problem. `before` returns the beginning of an answer. */
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
 * Returns the reward of one mutant of the reference of every `stride`-th problem. The `check` of the problem must refuse a mutant; it runs whole, in one interpreter
 * with the mutant and without this environment. A mutant that it accepts, or that does not end, is replaced by the next one.
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

/** Runs two at a time, the default number of children of a pool. */
async function inParallel<T>(count: number, stride: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i * stride < count; i = next++) results[i] = await work(i * stride);
  };
  await Promise.all([worker(), worker()]);
  return results;
}
