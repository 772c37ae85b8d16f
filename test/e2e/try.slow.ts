import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type ChatServer, startChatServer } from "@mrlm/testing";
import { type Finished, Mrlm, ROOT, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
const OUTPUT = ["--set", `output=${join(folder, "runs")}`];
let server: ChatServer;
let model: readonly string[];

beforeAll(async () => {
  server = await startChatServer(() => "<answer>1</answer>");
  model = ["--model", "openai:one", "--base-url", server.baseUrl];
});
const closing: (() => unknown)[] = [];
afterAll(() => Promise.all([...closing.map((close) => close()), server.close()]));

/** Runs `mrlm try` with lines on its standard input. */
function tryWith(lines: readonly string[], ...args: readonly string[]): Promise<Finished> {
  const input = join(folder, "input");
  writeFileSync(input, lines.map((line) => `${line}\n`).join(""));
  const shell = ["/bin/sh", "-c", `exec "$0" "$@" < '${input}'`];
  return new Mrlm(["try", ...args, ...OUTPUT], {}, ROOT, shell).finished;
}

const rowsOf = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const directoryOf = ({ stderr }: Finished): string => /^run: (.*)$/m.exec(stderr)?.[1] ?? "";

test("a person plays beside a model, prefers an episode, and the ratings are data of dpo@1", async () => {
  const file = join(folder, "ratings.jsonl");
  const lines = ["<answer>96</answer>", "4", "1", "no idea", "2", "/quit"];
  const played = await tryWith(lines, "math", "-n", "3", ...model, "-o", file);
  expect(played).toMatchObject({ code: 0, stdout: expect.stringContaining("What is 12 * 8?") });
  expect(played.stdout).toMatch(/your episode\n {2}reward 1 .*\n.*\n\nepisode 2: task eval\/0[^]*<answer>1<\/answer>/);
  expect(
    rowsOf(file).map(({ task, reward, components, player, member }) => [task, reward, components, player, member]),
  ).toEqual([
    ["eval/0", 1, { environment: 1 }, { kind: "policy", name: "person", policy: "policy" }, 0],
    ["eval/0", 0, { environment: 0 }, expect.objectContaining({ kind: "policy" }), 1],
    ["eval/1", 0, { environment: 0 }, expect.anything(), 0],
    ["eval/1", 1, { environment: expect.any(Number) }, expect.anything(), 1],
  ]);
  expect(new Set(rowsOf(file).map(({ group }) => group)).size).toBe(2);

  const config = join(folder, "dpo.yaml");
  const learnt = (loss: string) => {
    writeFileSync(
      config,
      `model: { random: { config: { model_type: llama, hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 2, num_key_value_heads: 1, intermediate_size: 16 } } }
stages: [{ algorithm: dpo@1, steps: 1, batch_size: 2, data: ${file}, ${loss} }]
`,
    );
    return run(["train", "--config", config, "--dry-run", ...OUTPUT]);
  };
  for (const loss of ["loss: sigmoid", "loss: kto, desirable_reward: 1"])
    expect(await learnt(loss)).toMatchObject({ code: 0 });

  const directory = directoryOf(played);
  const shown = await run(["show", "--json", directory, "--task", "eval/0"]);
  expect(shown.events).toHaveLength(2);
  const compared = await run([
    "eval",
    "--json",
    "--environment",
    "math",
    "-n",
    "2",
    ...model,
    ...OUTPUT,
    "--compare",
    directory,
  ]);
  expect(compared.events.find(({ event }) => event === "summary")?.["comparisons"]).toMatchObject([
    { kind: "greedy", first: "openai:one" },
    { kind: "greedy", first: "person", tasks: 2 },
  ]);
  expect(await run(["eval", "--resume", directory])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("was played by a person"),
  });
}, 600_000);

test("episodes of a model alone are rated, and tasks begin anywhere", async () => {
  const file = join(folder, "rated.jsonl");
  const args = ["math", "--task", "5", "-n", "2", ...model, "-o", file, "--rate-only", "--samples", "0"];
  expect(await tryWith(["y", "n"], ...args)).toMatchObject({ code: 0 });
  expect(rowsOf(file).map(({ task, reward }) => [task, reward])).toEqual([
    ["eval/5", 1],
    ["eval/6", 0],
  ]);
}, 600_000);

test("tools are called, a wrong call is explained, and another role has its own player", async () => {
  const tools = await tryWith(
    ["/calculatr 1", "/calculator 6480*9896-6123", "<answer>64119957</answer>"],
    "tools",
    "-n",
    "1",
  );
  expect(tools.stdout).toMatch(
    /Not sent: there is no tool "calculatr"[^]*calculator: 64119957[^]*reward 0.96 .*answer 1/,
  );
  const nim = await tryWith(["1", "/quit"], "nim", "-n", "2", "--player", "second={scripted: random}");
  expect(nim).toMatchObject({ code: 0, stdout: expect.stringContaining("You are first.") });
}, 600_000);

test("what cannot be played is refused before anything begins", async () => {
  const refused: readonly (readonly [readonly string[], string])[] = [
    [["math", "--rate-only"], "--rate-only is for the episodes of a model"],
    [["math", "--samples", "2"], "--samples is for the episodes of a model"],
    [["math", "-o", join(folder, "a.parquet")], "does not end in .jsonl"],
    [["mth"], "Did you mean"],
    [["math", "--task", "999999999"], "There is no task eval/999999999"],
  ];
  for (const [args, text] of refused)
    expect(await tryWith([], ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
}, 600_000);

test("a page of the viewer is a seat: it asks, is answered once, and shows all of it again", async () => {
  const played = new Mrlm(["try", "math", "-n", "1", "--ui", "--json", ...OUTPUT]);
  closing.push(() => played.child.kill("SIGKILL"));
  const url = new URL(String((await played.event(({ event }) => event === "listening"))["url"]));
  const seat = new URL(`/api/seat?key=${url.hash.slice(1)}`, url);
  expect((await fetch(new URL("/api/seat?key=x", url))).status).toBe(403);
  const answer = (id: number, text: string): Promise<Response> =>
    fetch(seat, { method: "POST", body: JSON.stringify({ id, text }) });
  expect(await eventsUntil(seat, "question")).toMatchObject([
    { kind: "text" },
    { kind: "message", author: "user" },
    { id: 1 },
  ]);
  expect((await fetch(seat, { method: "POST", body: "[]" })).status).toBe(400);
  expect((await answer(7, "1")).status).toBe(409);
  const elsewhere = await fetch(seat, { method: "POST", body: "{}", headers: { origin: "https://example.com" } });
  expect(elsewhere.status).toBe(403);
  expect((await answer(1, "<answer>96</answer>")).status).toBe(200);
  const shown = await eventsUntil(seat, "end");
  expect(shown.slice(2)).toMatchObject([
    { kind: "question" },
    { kind: "answer", text: "<answer>96</answer>" },
    { kind: "text", text: expect.stringContaining("reward 1 ") },
    { kind: "end" },
  ]);
  const { runs } = (await (await fetch(new URL("/api/runs", url))).json()) as { runs: readonly object[] };
  expect(runs).toHaveLength(1);
  played.child.kill("SIGINT");
  expect(await played.finished).toMatchObject({ code: 0 });
}, 600_000);

/** Returns the events of a seat up to the first one of a kind. */
async function eventsUntil(seat: URL, kind: string): Promise<{ readonly kind: string }[]> {
  const reader = (await fetch(seat)).body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let events: { readonly kind: string }[] = []; ;) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    text += decoder.decode(value, { stream: true });
    events = [...text.matchAll(/^data: (.*)\n$/gm)].map(([, json = ""]) => JSON.parse(json) as { kind: string });
    if (!done && !events.some((event) => event.kind === kind)) continue;
    await reader?.cancel();
    return events;
  }
}
