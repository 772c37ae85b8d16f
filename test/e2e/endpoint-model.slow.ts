import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import type { RecordedRow } from "@mrlm/kit/learning";
import { sft } from "@mrlm/sft";
import type { JsonObject } from "@mrlm/spec";
import { type BigramOutcome, startChatServer, trainBigram } from "@mrlm/testing";
import { run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
const KEY = "sk-test-0123456789";
const ALPHABET = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("");

const train = (stage: JsonObject): Promise<BigramOutcome> =>
  trainBigram({
    algorithms: [sft, dpo],
    stages: [stage],
    config: {
      model: { random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: ALPHABET } } } },
      environments: [],
    },
  });

test("mrlm collect plays a model of an endpoint without an engine; sft and dpo learn from its messages, and its key is in no file", async () => {
  const [file, store] = [join(folder, "nim.jsonl"), join(folder, "episodes.sqlite")];
  const server = await startChatServer((_request, index) => String(1 + (index % 3)));
  const collected = await run(
    [
      ...["collect", "--json", "--model", "openai:tiny", "--base-url", server.baseUrl, "--environment", "nim"],
      ...["-n", "8", "--group-size", "4", "--player", "second={scripted: random}", "-o", file, "--store", store],
      // One episode at a time: the answers of the server depend on the order of the requests.
      ...["--set", "sampling.concurrency=1"],
    ],
    { OPENAI_API_KEY: KEY },
  ).finally(() => void server.close());
  expect([collected.code, collected.stderr]).toEqual([0, expect.not.stringContaining("starting the engine")]);
  expect(collected.events).toMatchObject([{ event: "collection", episodes: 8, rows: 16, failed: 0, unscored: 0 }]);
  expect(server.requests[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
  const rows = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RecordedRow);
  const own = rows.filter(({ role }) => role === "first");
  const name = `tiny@${new URL(server.baseUrl).host}`;
  expect(own.map(({ player }) => player)).toEqual(own.map(() => ({ kind: "policy", name, policy: "policy" })));
  expect(rows.map(({ segments }) => segments.length)).toEqual(rows.map(() => 0));
  expect(own.flatMap(({ messages }) => messages).some(({ role }) => role === "assistant")).toBe(true);

  const learnt = await train({ algorithm: "sft", steps: 1, data: file, batch_size: 4 });
  expect(learnt.reports[0]?.notices).toEqual([expect.stringMatching(/: 8 rows are used; 8 of other players\.$/)]);
  const paired = await train({ algorithm: "dpo", steps: 1, data: file, batch_size: 1 });
  expect(paired.reports[0]?.metrics).toHaveProperty("preference/accuracy");

  const written = readdirSync(folder).map((each) => readFileSync(join(folder, each), "latin1"));
  expect([...written, collected.stdout, collected.stderr].filter((text) => text.includes(KEY))).toEqual([]);
});

test("mrlm collect states why every episode failed, and its exit code is not 0", async () => {
  const server = await startChatServer(() => "1");
  await server.close();
  const args = [
    "--environment",
    "nim",
    "-n",
    "2",
    "--player",
    "second={scripted: random}",
    "-o",
    join(folder, "down.jsonl"),
  ];
  const options = ["--model-options", '{"max_retries": 0}'];
  const { code, stderr } = await run(
    ["collect", "--model", "openai:tiny", "--base-url", server.baseUrl, ...options, ...args],
    { OPENAI_API_KEY: KEY },
  );
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/the first failed episode: ENDPOINT_UNREACHABLE: .*\n(.*\n)*.*Every episode failed/),
  ]);
});
