import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Reward } from "@mrlm/kit";
import { type ChatServer, startChatServer } from "@mrlm/testing";
import { clientPackages } from "../agents/support/client-packages.ts";
import { ROOT } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";

const run = promisify(execFile);
const TEST_MS = 240_000;
const EXAMPLES = join(ROOT, "examples/improve");
const folder = temporaryDirectory();

const evalite = await clientPackages(["evalite@0.19.0", "vitest@4.1.12"]);
/** Its binding of SQLite. Its other optional packages are 1.7 GB for providers that are not used. */
const binding = `@libsql/${process.platform}-${process.arch}${{ linux: "-gnu", win32: "-msvc" }[process.platform as string] ?? ""}@0.5.29`;
const promptfoo = await clientPackages(["promptfoo@0.123.1", binding], ["--omit=optional"]);
/** Test of an installed package, or one that is skipped with the reason. */
const testOf = (installed: typeof evalite, name: string, body: (packages: string) => Promise<void>): void =>
  "folder" in installed
    ? test(name, () => body(installed.folder), TEST_MS)
    : test.skip(`${name} (${installed.reason})`, () => undefined);

/** Case with an answer and its reward by cases@1. */
interface Graded {
  readonly prompt: string;
  readonly answer: string;
  readonly reward: Reward;
}

/** Answers of the server to prompts. */
const answers = new Map<string, string>();
let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer(({ body }) => {
    const { content } = body.messages.at(-1) as unknown as { readonly content: string };
    return answers.get(content) ?? "none";
  });
});
afterAll(() => server.close());

/** Grades answers to the cases of a file; the server gives the same ones. */
async function grade(path: string, kind: "mixed" | "expected"): Promise<Graded[]> {
  const script = join(ROOT, "test/interop/cases/grade-cases.ts");
  const { stdout } = await run(process.execPath, ["--conditions=mrlm-source", script, path, kind], {
    maxBuffer: 1 << 26,
  });
  const graded = JSON.parse(stdout) as Graded[];
  for (const { prompt, answer } of graded) answers.set(prompt, answer);
  return graded;
}

const environment = (more: object = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  ...{ NODE_OPTIONS: "", OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: "key" },
  ...more,
});

const valueOf = ({ reward }: Graded): number | undefined => (reward.scored ? reward.value : undefined);

testOf(evalite, "evalite runs the example, and gives each answer the score of cases@1", async (packages) => {
  const own = join(folder, "evalite");
  cpSync(EXAMPLES, own, { recursive: true });
  symlinkSync(join(packages, "node_modules"), join(own, "node_modules"));
  const graded = await grade(join(EXAMPLES, "support.eval.ts"), "mixed");
  // Its command keeps results in a database whose binary comes by an install script.
  const program = `
    import { runEvalite } from "evalite/runner";
    import { createInMemoryStorage } from "evalite/in-memory-storage";
    await runEvalite({ path: "support.eval.ts", cwd: process.cwd(), mode: "run-once-and-exit", outputPath: "out.json", storage: createInMemoryStorage(), hideTable: true, disableServer: true });`;
  await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: own, env: environment() });
  const { evals } = JSON.parse(readFileSync(join(own, "out.json"), "utf8")) as {
    readonly evals: readonly { readonly results: readonly { input: string; output: string; averageScore: number }[] }[];
  };
  const results = evals.flatMap((each) => each.results);
  expect(results.map(({ input, output, averageScore }) => [input, output, averageScore])).toEqual(
    graded.map((each) => [each.prompt, each.answer, valueOf(each)]),
  );
  expect(new Set(graded.map(valueOf))).toEqual(new Set([0, 1]));
});

testOf(
  evalite,
  "vitest runs the example, which passes and fails by the answers of the served model",
  async (packages) => {
    const own = join(folder, "vitest");
    cpSync(EXAMPLES, own, { recursive: true });
    symlinkSync(join(packages, "node_modules"), join(own, "node_modules"));
    const text = readFileSync(join(own, "served.test.mjs"), "utf8");
    const teams = [...text.matchAll(/^ {2}(\w+): \["(.*?)", "(.*?)"\],$/gm)];
    expect(teams).toHaveLength(6);
    const question = `Which team is this message for: ${teams.map(([, team]) => team).join(", ")}? Answer with one word.\n\n`;
    const vitest = () =>
      run(join(own, "node_modules/.bin/vitest"), ["run", "--root", own], { cwd: own, env: environment() });
    for (const [, , first, second] of teams)
      for (const each of [first, second]) answers.set(`${question}${each}`, "billing");
    await expect(vitest()).rejects.toMatchObject({ stdout: expect.stringContaining("1 failed") });
    for (const [, team = "", first, second] of teams)
      for (const each of [first, second]) answers.set(`${question}${each}`, `${team}\n`);
    expect((await vitest()).stdout).toContain("1 passed");
  },
);

/** Runs a configuration with promptfoo, and compares scores, passes and metrics. */
async function compareWithPromptfoo(packages: string, path: string, kind: "mixed" | "expected"): Promise<Graded[]> {
  const graded = await grade(path, kind);
  const output = join(folder, `${kind}.json`);
  const command = join(packages, "node_modules/promptfoo/dist/src/main.js");
  const flags = ["--no-table", "--no-progress-bar", "--no-cache", "--no-write", "-j", "1"];
  const quiet = {
    PROMPTFOO_DISABLE_TELEMETRY: "1",
    PROMPTFOO_DISABLE_UPDATE: "1",
    PROMPTFOO_CONFIG_DIR: join(folder, "pf"),
  };
  // The exit code is that of failed tests.
  await run(process.execPath, [command, "eval", "-c", path, "-o", output, ...flags], { env: environment(quiet) }).catch(
    (error: { readonly code?: number }) => expect(error).toMatchObject({ code: 100 }),
  );
  const { results } = JSON.parse(readFileSync(output, "utf8")) as {
    readonly results: {
      readonly results: readonly {
        readonly testIdx: number;
        readonly score: number;
        readonly success: boolean;
        readonly namedScores: Readonly<Record<string, number>>;
        readonly response: { readonly output: string };
      }[];
    };
  };
  const ordered = results.results.toSorted((one, other) => one.testIdx - other.testIdx);
  expect(
    ordered.map(({ score, success, namedScores, response }) => [
      response.output,
      expect.closeTo(score, 9),
      { ...namedScores, solved: success ? 1 : 0 },
    ]),
  ).toEqual(
    graded.map((each) => [each.answer, valueOf(each), each.reward.scored ? each.reward.components : undefined]),
  );
  return graded;
}

testOf(promptfoo, "promptfoo runs the example, and gives each answer the score of cases@1", async (packages) => {
  const graded = await compareWithPromptfoo(packages, join(EXAMPLES, "promptfooconfig.yaml"), "mixed");
  expect(new Set(graded.map(valueOf)).size).toBeGreaterThan(2);
});

testOf(promptfoo, "promptfoo scores assertions, weights, thresholds and sets as cases@1 does", async (packages) => {
  const graded = await compareWithPromptfoo(packages, join(ROOT, "test/interop/cases/assertions.yaml"), "expected");
  expect(graded).toHaveLength(25);
});
