import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomStream } from "@mrlm/kit";
import { cacheDirectory } from "@mrlm/kit/service";
import { EXAMPLES, type Row } from "./rows.ts";
import { gainInterval, type Interval, wilsonInterval } from "./share-intervals.ts";

const MRLM = fileURLToPath(new URL("../../core/cli/bin/mrlm.js", import.meta.url));
const SHOWN = 20;

export interface Share {
  readonly share: number;
  readonly interval: Interval;
}

/** A held-out question with the greedy answers before and after. */
export interface Answers {
  readonly question: string;
  readonly before: string;
  readonly after: string;
  readonly solvedBefore: boolean;
  readonly solvedAfter: boolean;
}

export interface SeedResult {
  readonly seed: number;
  readonly commit: string;
  readonly machine: string;
  /** Wall time from the start of the run to its end, with evaluations, and with pauses of a run that was continued. */
  readonly minutes: number;
  /** Different held-out questions. */
  readonly tasks: number;
  readonly before: Share;
  /** Shares of the evaluations between: after SFT, and during a stage. */
  readonly between: readonly number[];
  readonly after: Share;
  /** Of the difference of the shares, of the same questions. */
  readonly difference: Interval;
  /** Rules of `mrlm doctor` that found something. */
  readonly findings: readonly string[];
}

interface Played {
  readonly solved: number | null;
  /** Messages of the first observation, as JSON. */
  readonly question: string;
  /** Its responses, and what it received between them. */
  readonly answer: string;
}

interface PlayedTurn {
  readonly run_step: number;
  readonly task: string;
  readonly solved: number | null;
  readonly turn: number;
  readonly messages: string;
  readonly response: string;
}

/** Trains a row, or continues its interrupted run, and returns what the evaluations show. */
export async function trainRow(
  row: Row,
  seed: number,
  gguf: string,
): Promise<{ figures: SeedResult; answers: Answers[] }> {
  const output = join(cacheDirectory(), "bench", "models", `${row.name}-${seed}`);
  mkdirSync(output, { recursive: true });
  const interrupted = readdirSync(output).map((name) => join(output, name));
  const config = join(EXAMPLES, `${row.name}.yaml`);
  const started =
    interrupted[0] !== undefined && existsSync(join(interrupted[0], "checkpoints"))
      ? ["--resume", interrupted[0]]
      : ["--config", config, "--seed", String(seed), "--set", `model.gguf=${gguf}`, "--output", output];
  const finished = interrupted[0] !== undefined && isFinished(interrupted[0]);
  if (started[0] === "--config") for (const folder of interrupted) rmSync(folder, { recursive: true, force: true });
  if (!finished) await runTraining(["train", ...started]);
  const run = join(output, readdirSync(output)[0] as string);
  const { answers, ...compared } = compare(questionsOf(run, row), seed);
  const figures: SeedResult = {
    seed,
    commit: git("rev-parse", "--short=8", "HEAD"),
    machine: cpus()[0]?.model ?? "unknown",
    minutes: minutesOf(run),
    ...compared,
    findings: findingsOf(run),
  };
  rmSync(dirname(run), { recursive: true, force: true });
  return { figures, answers };
}

function runTraining(args: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [MRLM, ...args], { stdio: ["ignore", 2, 2] });
    child.on("error", fail);
    child.on("exit", (code, signal) =>
      code === 0 ? done() : fail(new Error(`Training ended with ${code ?? signal}.`)),
    );
  });
}

/** Returns the greedy episodes of each evaluation, in order, by their question. The same question of several tasks counts once. */
function questionsOf(run: string, { solved }: Row): Map<string, Played>[] {
  const sql = `select e.run_step, e.task, ${solved} as solved, t.turn, t.messages, t.response
    from v_episodes e join v_turns t on t.episode_key = e.episode_key
    where e.purpose = 'eval' and e.stage = 'evaluation/greedy' order by e.run_step, e.task, t.turn`;
  const turns = askMrlm<{ row?: PlayedTurn }>(["query", run, sql, "--limit", "100000", "--json"]);
  const evaluations = new Map<number, Map<string, Played>>();
  let question = "";
  for (const { row } of turns) {
    if (row === undefined) continue;
    const evaluation = evaluations.get(row.run_step) ?? new Map<string, Played>();
    evaluations.set(row.run_step, evaluation);
    const earlier = row.turn === 0 ? undefined : evaluation.get(question);
    if (earlier === undefined) question = row.messages;
    const answer =
      earlier === undefined
        ? textOf(`[${row.response}]`)
        : [earlier.answer, `> ${textOf(row.messages)}`, textOf(`[${row.response}]`)].join("\n");
    evaluation.set(question, { solved: row.solved, question, answer });
  }
  return [...evaluations.values()];
}

function compare(evaluations: ReturnType<typeof questionsOf>, seed: number) {
  const [before, after] = [evaluations[0], evaluations.at(-1)];
  if (before === undefined || after === undefined) throw new Error("The run has no evaluation.");
  const questions = [...before.keys()].filter((question) => after.has(question));
  const isSolved = (played: Played | undefined): boolean => Number(played?.solved ?? 0) === 1;
  const shareOf = (evaluation: Map<string, Played>): Share => {
    const share = questions.filter((question) => isSolved(evaluation.get(question))).length / questions.length;
    return { share, interval: wilsonInterval(share, questions.length) };
  };
  const pairs = questions.map((question) => [isSolved(before.get(question)), isSolved(after.get(question))] as const);
  const shown = randomStream("models", seed).shuffle(questions).slice(0, SHOWN);
  return {
    tasks: questions.length,
    before: shareOf(before),
    between: evaluations.slice(1, -1).map((evaluation) => shareOf(evaluation).share),
    after: shareOf(after),
    difference: gainInterval(pairs),
    answers: shown.map((question): Answers => ({
      question: textOf(question),
      before: before.get(question)?.answer ?? "",
      after: after.get(question)?.answer ?? "",
      solvedBefore: isSolved(before.get(question)),
      solvedAfter: isSolved(after.get(question)),
    })),
  };
}

interface StoredPart {
  readonly text?: string;
  readonly name?: string;
  readonly arguments?: unknown;
  readonly content?: readonly StoredPart[];
}

/** Returns the text of messages of the store, with calls of tools and their results. */
function textOf(messages: string): string {
  const parts = (JSON.parse(messages) as { parts?: StoredPart[] }[]).flatMap((message) => message.parts ?? []);
  const written = ({ text, name, arguments: given, content }: StoredPart): string =>
    text ?? (content === undefined ? `${name}(${JSON.stringify(given)})` : content.map(written).join("\n"));
  return parts.map(written).join("\n");
}

function findingsOf(run: string): string[] {
  const [diagnosis] = askMrlm<{ findings: { rule: string }[] }>(["doctor", run, "--json"], [0, 4]);
  return (diagnosis?.findings ?? []).map(({ rule }) => rule);
}

const recordOf = (run: string): string => join(run, "run.json");

function isFinished(run: string): boolean {
  return existsSync(recordOf(run)) && /"status": "finished"/.test(readFileSync(recordOf(run), "utf8"));
}

function minutesOf(run: string): number {
  const { started } = JSON.parse(readFileSync(recordOf(run), "utf8")) as { started: string };
  // The record is written last when a run ends.
  return Math.round((statSync(recordOf(run)).mtimeMs - Date.parse(started)) / 6_000) / 10;
}

/** Returns the events that `mrlm ARGS` prints, a JSON object a line. */
function askMrlm<Event>(args: readonly string[], codes: readonly number[] = [0]): Event[] {
  const { status, stdout } = spawnSync(process.execPath, [MRLM, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status === null || !codes.includes(status)) throw new Error(`mrlm ${args[0]} ended with ${status}.`);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Event);
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { encoding: "utf8", cwd: EXAMPLES }).trim();
}
