import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { randomStream } from "@mrlm/kit";
import { type ChatServer, startChatServer } from "@mrlm/testing";
import { COMMAND, ROOT } from "../../e2e/support/mrlm.ts";

/** Tasks and samples of the command; evaluated.ts has as many episodes. */
const [TASKS, SAMPLES] = [16, 5];
const EPISODES = TASKS * (1 + SAMPLES);
/** Evaluations that are killed at the same time. */
const LANES = 4;
/** Milliseconds of an answer of the endpoint. */
const ANSWER_MS = 25;

/** Returns the arguments of the Node that begins an evaluation in a folder, or continues the run in it. */
export type Begin = (folder: string, run: string | undefined) => readonly string[];

/** Stored episodes by stage, task and member, with their numbers. */
type Stored = ReadonlyMap<string, readonly number[]>;

/** Result of the kills. */
export interface KilledEvaluations {
  readonly killed: number;
  readonly evaluations: number;
  /** Episodes of an evaluation. */
  readonly episodes: number;
  /** Kills after which some episodes were stored, and some were missing. */
  readonly kept: number;
  readonly twice: number;
  readonly lost: number;
  /** Stored episodes that a later process has replaced. */
  readonly replayed: number;
  /** Evaluations whose figures are others than those of the undisturbed one. */
  readonly differing: number;
}

/** Evaluations that are killed. */
export class EvaluationKills {
  readonly #directory: string;
  readonly #arguments: Begin;
  readonly #random: () => number;
  #undisturbed = { figures: "", ms: 0 };

  private constructor(directory: string, begin: Begin, seed: number) {
    this.#directory = directory;
    this.#arguments = begin;
    const stream = randomStream("evaluation-kills", seed);
    this.#random = () => stream.next();
  }

  /** Plays an evaluation without a kill. */
  static async prepare(directory: string, begin: Begin, seed: number): Promise<EvaluationKills> {
    const kills = new EvaluationKills(directory, begin, seed);
    // The first process fills the cache of compiled modules.
    await kills.#begin("warm", undefined);
    const began = performance.now();
    const code = await kills.#begin("undisturbed", undefined);
    if (code !== 0) throw new Error(`The undisturbed evaluation ended with ${code}.`);
    kills.#undisturbed = { figures: figuresOf(kills.#run("undisturbed")), ms: performance.now() - began };
    return kills;
  }

  /** Kills and resumes evaluations until the number of kills is reached, and each has finished. */
  async kill(wanted: number): Promise<KilledEvaluations> {
    const sum = { killed: 0, evaluations: 0, kept: 0, twice: 0, lost: 0, replayed: 0, differing: 0 };
    const lane = async (name: string): Promise<void> => {
      for (let number = 0; sum.killed < wanted; number++) {
        const folder = `${name}-${number}`;
        let before: Stored = new Map();
        let isFinished = false;
        while (!isFinished) {
          const code = await this.#begin(
            folder,
            sum.killed < wanted ? this.#random() * this.#undisturbed.ms : undefined,
          );
          isFinished = code === 0;
          if (code !== null && code !== 0) throw new Error(`An evaluation ended with ${code}.`);
          if (!isFinished) sum.killed++;
          const after = storedIn(this.#run(folder));
          for (const [id, numbers] of before)
            if (!numbers.every((each) => after.get(id)?.includes(each))) sum.replayed++;
          if (!isFinished && after.size > 0 && after.size < EPISODES) sum.kept++;
          before = after;
        }
        sum.evaluations++;
        sum.lost += EPISODES - before.size;
        sum.twice += [...before.values()].filter(({ length }) => length > 1).length;
        if (figuresOf(this.#run(folder)) !== this.#undisturbed.figures) sum.differing++;
        process.stderr.write(`${sum.killed} of ${wanted} kills, ${sum.evaluations} evaluations\n`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, i) => lane(`lane-${i}`)));
    return { ...sum, episodes: EPISODES };
  }

  /** Begins or resumes an evaluation, and kills it after some time. Returns its exit code; `null` if it was killed. */
  async #begin(folder: string, killMs: number | undefined): Promise<number | null> {
    const output = join(this.#directory, folder);
    mkdirSync(output, { recursive: true });
    const child = spawn(process.execPath, [...this.#arguments(output, this.#run(folder))], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "ignore"],
      env: { ...process.env, NODE_OPTIONS: "", NODE_COMPILE_CACHE: join(this.#directory, "compiled") },
    });
    const timer = killMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killMs);
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(timer);
    return code;
  }

  /** Returns the directory of an evaluation that a process has begun. */
  #run(folder: string): string | undefined {
    const output = join(this.#directory, folder);
    return [output, ...readdirSync(output).map((name) => join(output, name))].find((path) => {
      const file = join(path, "run.json");
      return existsSync(join(path, "episodes.sqlite")) || (existsSync(file) && readFileSync(file, "utf8") !== "");
    });
  }
}

/** Evaluations by the parts of the command: a process begins within a fraction of a second. */
export const beginParts: Begin = (folder) => [
  "--conditions=mrlm-source",
  join(ROOT, "core/runtime/test/support/evaluated.ts"),
  folder,
];

/** Starts an endpoint, and returns the evaluations by `mrlm eval` of its model. */
export async function commandOfEndpoint(): Promise<{ readonly server: ChatServer; readonly begin: Begin }> {
  // The answer follows from the question alone, so that it does not depend on the order of the requests.
  const server = await startChatServer(async ({ body }) => {
    await sleep(ANSWER_MS);
    return String(1 + (Number.parseInt(hash("sha256", JSON.stringify(body.messages)).slice(0, 6), 16) % 3));
  });
  const begun = [
    ...["--model", "openai:tiny", "--base-url", server.baseUrl, "--environment", "nim"],
    ...["--player", "second={scripted: random}", "-n", String(TASKS), "--samples", String(SAMPLES)],
  ];
  const begin: Begin = (folder, run) => [
    ...[COMMAND, "eval"],
    ...(run === undefined
      ? [...begun, "--set", `output=${folder}`, "--set", "sampling.concurrency=4"]
      : ["--resume", run]),
  ];
  return { server, begin };
}

function storedIn(run: string | undefined): Stored {
  const path = join(run ?? "", "episodes.sqlite");
  if (run === undefined || !existsSync(path)) return new Map();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database
      .prepare("SELECT DISTINCT stage || ' ' || task || ' ' || member AS id, episode_key AS number FROM v_episodes")
      .all();
    const byId = Map.groupBy(rows, ({ id }) => String(id));
    return new Map(Array.from(byId, ([id, same]) => [id, same.map(({ number }) => Number(number))]));
  } catch {
    // The process was killed before the store had its tables.
    return new Map();
  } finally {
    database.close();
  }
}

/** Returns the figures of an evaluation, without those that follow from the clock. */
function figuresOf(run: string | undefined): string {
  const { results } = JSON.parse(readFileSync(join(run ?? "", "run.json"), "utf8")) as { results: unknown };
  return JSON.stringify(results, (key, value: unknown) => (key === "seconds" ? undefined : value));
}
