import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type ChatServer, startChatServer } from "@mrlm/testing";
import { type Finished, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
let server: ChatServer;
let isDown = false;

beforeAll(async () => {
  // The pile is the last number of the question. `good` leaves a multiple of four, `bad` takes one.
  server = await startChatServer(({ body }) => {
    if (isDown) throw new Error("down");
    const pile = Number(/(\d+)\D*$/.exec(JSON.stringify(body.messages.at(-1)))?.[1] ?? 1);
    return body.model === "good" ? String(pile % 4 === 0 ? 1 : pile % 4) : "1";
  });
});
afterAll(() => server.close());

const evaluation = (...args: readonly string[]): Promise<Finished> => run(["eval", "--json", ...args]);
const summaryOf = ({ events }: Finished) => events.find(({ event }) => event === "summary");

/** Configuration of two models in two environments, which differ in the opponent. */
function matrix(): string {
  const path = join(folder, "matrix.yaml");
  const model = (name: string) => ({ model: `openai:${name}`, base_url: server.baseUrl, options: { max_retries: 0 } });
  writeFileSync(
    path,
    JSON.stringify({
      models: { good: model("good"), bad: model("bad") },
      eval: {
        ...{ tasks: 8, samples: 2 },
        environments: [
          { id: "nim", players: { second: { scripted: "random" } } },
          { id: "nim@1", players: { second: { scripted: "optimal" } } },
        ],
      },
      output: join(folder, "runs"),
    }),
  );
  return path;
}

test("a matrix of models and players is measured, compared, shown, scored again and reported; resumed, it plays nothing and starts no engine", async () => {
  const [log, file] = [join(folder, "log.eval"), join(folder, "result.json")];
  const finished = await evaluation("--config", matrix(), "--inspect", log, "-o", file);
  expect([finished.code, finished.stderr]).toEqual([0, expect.not.stringContaining("starting the engine")]);
  const results = finished.events.filter(({ event }) => event === "evaluation");
  expect(results.map(({ name, environment }) => [name, environment])).toEqual([
    ...[
      ["good", "nim@1"],
      ["good", "nim@1#2"],
      ["bad", "nim@1"],
      ["bad", "nim@1#2"],
    ],
  ]);
  const directory = summaryOf(finished)?.["directory"] as string;
  const comparisons = summaryOf(finished)?.["comparisons"] as { first: string; second: string; difference: number }[];
  expect(comparisons).toHaveLength(4);
  expect(comparisons[0]).toMatchObject({
    first: "good",
    second: "bad",
    environment: "nim@1",
    kind: "greedy",
    tasks: 8,
  });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ results: { length: 4 }, comparisons: { length: 4 } });
  expect(readdirSync(folder).filter((name) => name.endsWith(".eval"))).toHaveLength(8);

  const played = server.requests.length;
  const again = await evaluation("--resume", directory);
  expect([again.code, server.requests.length]).toEqual([0, played]);
  const figures = ({ events }: Finished): unknown =>
    JSON.parse(JSON.stringify(events, (key, value: unknown) => (key === "seconds" ? 0 : value)));
  expect(figures(again)).toEqual(figures(finished));

  const query = await run([
    "query",
    "--json",
    directory,
    "select policy, count(*) as n from v_episodes where player_kind = 'policy' group by 1 order by 1",
  ]);
  expect(query.events.filter(({ event }) => event === "row").map(({ row }) => row)).toEqual([
    { policy: "bad", n: 48 },
    { policy: "good", n: 48 },
  ]);
  expect((await run(["show", "--json", directory, "--task", "eval/0", "-n", "2"])).events).toHaveLength(2);
  const scored = await run(["score", "--json", "--run", directory]);
  expect(scored.events.at(-1)).toMatchObject({ event: "scored", episodes: 96, equal: 96, differ: 0, lost: 0 });
  expect(await run(["doctor", directory])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/: finished, 4 results\n/),
  });
  const page = join(folder, "report.html");
  expect((await run(["report", directory, "--html", page])).code).toBe(0);
  expect(readFileSync(page, "utf8")).toMatch(
    /<h2>Results<\/h2>[^]*<td>good<\/td>[^]*<h2>Differences, second - first<\/h2>/,
  );
}, 600_000);

test("D3: an evaluation whose endpoint is down fails its requirement, and --retry plays what failed", async () => {
  const flags = ["--model", "openai:good", "--base-url", server.baseUrl, "--model-options", '{"max_retries": 0}'];
  const sizes = ["--environment", "nim", "--player", "second={scripted: random}", "-n", "4", "--samples", "0"];
  const place = ["--set", `output=${join(folder, "runs")}`];
  isDown = true;
  const required = ["--require", "accuracy >= 0.1"];
  const failed = await evaluation(...flags, ...sizes, ...place, ...required);
  isDown = false;
  expect(failed.code).toBe(4);
  expect(summaryOf(failed)?.["unmet"]).toMatchObject([{ condition: "accuracy >= 0.1", found: 0 }]);
  const directory = summaryOf(failed)?.["directory"] as string;
  const kept = await evaluation("--resume", directory, ...required);
  expect([kept.code, kept.events[0]]).toMatchObject([4, { greedy: { failed: 4 } }]);
  const retried = await evaluation("--resume", directory, "--retry", ...required);
  expect([retried.code, retried.events[0]]).toMatchObject([0, { greedy: { failed: 0, scored: 4 } }]);
  expect(existsSync(join(directory, "run.json"))).toBe(true);
}, 600_000);

test("two evaluations are compared, and an evaluation is not trained", async () => {
  const flags = (name: string) => ["--model", `openai:${name}`, "--base-url", server.baseUrl, "--environment", "nim"];
  const common = ["--player", "second={scripted: random}", "-n", "6", "--set", `output=${join(folder, "runs")}`];
  const first = summaryOf(await evaluation(...flags("bad"), ...common))?.["directory"] as string;
  const compared = summaryOf(await evaluation(...flags("good"), ...common, "--compare", first));
  expect(compared?.["comparisons"]).toMatchObject([
    { kind: "greedy", tasks: 6, mcnemar: { p: expect.any(Number) } },
    { kind: "sampled", tasks: 6 },
  ]);

  const log = join(folder, "late.eval");
  writeFileSync(join(folder, "late-2.eval"), "");
  const other = ["--player", "second={scripted: optimal}", "--compare", first, "--inspect", log];
  const alone = await evaluation(...flags("good"), ...common, ...other);
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining(`note: ${first} has no episodes of nim@1`) });
  const directory = summaryOf(alone)?.["directory"] as string;
  expect(JSON.parse(readFileSync(join(directory, "run.json"), "utf8"))).toMatchObject({ status: "finished" });

  const trained = await run(["train", "--resume", first]);
  expect([trained.code, trained.stderr]).toEqual([2, expect.stringContaining("mrlm eval --resume")]);
}, 600_000);
