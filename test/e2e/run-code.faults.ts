import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { request as send } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Mrlm } from "./support/mrlm.ts";

/** Seed of the random choices. FAULTS_SEED repeats a run. */
const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
const CANARY = "canary-of-the-host";
const canaryFile = join(mkdtempSync(join(tmpdir(), "run-code-")), "canary.txt");
writeFileSync(canaryFile, CANARY);

let server: Mrlm;
let url: string;
beforeAll(async () => {
  server = new Mrlm(
    ["serve", "--environments", "math", "--port", "0", "--http-port", "0", "--json", "--dialects", "sandbox-fusion"],
    { MRLM_CANARY: CANARY },
  );
  const { http } = await server.event(({ event }) => event === "listening");
  url = `http://${http as string}/run_code`;
}, 60_000);
afterAll(async () => {
  server.child.kill("SIGTERM");
  expect(await server.finished).toMatchObject({ code: 0, signal: null });
}, 60_000);

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: {
    readonly status?: string;
    readonly run_result?: { readonly status: string; readonly stdout: string };
    readonly files?: object;
  };
}

async function post(body: string | Uint8Array<ArrayBuffer>): Promise<Answer> {
  const response = await fetch(url, { method: "POST", body });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) };
}

const run = (code: string, more: object = {}): Promise<Answer> =>
  post(JSON.stringify({ language: "python", code, ...more }));

const anyValue = fc.oneof(
  fc.integer(),
  fc.string({ maxLength: 9 }),
  fc.constantFrom(null, 1.5, {}, [], true, -1, 1e300),
);
const path = fc.oneof(
  fc.constantFrom("a", "d/b", "../a", "/etc/passwd", canaryFile, "", ".", "a\0", "__proto__", "d", "x".repeat(600)),
  fc.string({ maxLength: 9 }),
);
const program = fc.constantFrom(
  "print(1)",
  "1 / 0",
  "import sys; sys.exit(7)",
  "print(open('a').read())",
  "open('d', 'w')",
  "(",
  "\0",
  "\ud800",
  "import os; os._exit(3)",
  "print(input())",
);
const body = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .record(
        {
          code: program,
          language: fc.constantFrom("python", "python", "nodejs", "typescript", "cpp"),
          run_timeout: fc.constantFrom(1, 2.5, 10, null),
          stdin: fc.constantFrom("in", "", null),
          files: fc.dictionary(fc.constantFrom("a", "d/b", "__proto__"), fc.constantFrom("YQ==", "/w==", "", null)),
          fetch_files: fc.array(fc.constantFrom("a", "d/b", "d", "absent"), { maxLength: 3 }),
        },
        { requiredKeys: ["code", "language"] },
      )
      .map((each) => JSON.stringify(each)),
  },
  {
    weight: 12,
    arbitrary: fc
      .record(
        {
          code: fc.oneof(program, anyValue),
          language: fc.oneof(fc.constantFrom("python", "__proto__"), anyValue),
          run_timeout: anyValue,
          compile_timeout: anyValue,
          memory_limit_MB: anyValue,
          stdin: anyValue,
          files: fc.oneof(fc.dictionary(path, fc.oneof(fc.constant("YQ=="), anyValue)), anyValue),
          fetch_files: fc.oneof(fc.array(path, { maxLength: 4 }), anyValue),
        },
        { requiredKeys: [] },
      )
      .map((each) => JSON.stringify(each)),
  },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Uint8Array.from(bytes)) },
  { weight: 2, arbitrary: fc.json() },
);

test("10,000 damaged bodies get responses of the protocol, and no file of the host", async () => {
  console.log(`FAULTS_SEED=${SEED}`);
  const counts = new Map<string, number>();
  const host = execFileSync("head", ["-c", "20", "/etc/passwd"], { encoding: "utf8" });
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 20, maxLength: 20 }), async (bodies) => {
      for (const { status, text, body: answer } of await Promise.all(bodies.map((each) => post(each)))) {
        const kind = `${status} ${answer.status}`;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        if (![200, 400, 422].includes(status)) throw new Error(`Status ${status}: ${text}`);
        if (!["Success", "Failed", "SandboxError"].includes(answer.status ?? "")) throw new Error(text);
        if ((status === 200) === (answer.status === "SandboxError") && !/runs no/.test(text)) throw new Error(text);
        if (typeof answer.files !== "object" || text.includes(CANARY) || text.includes(host)) throw new Error(text);
      }
    }),
    { numRuns: 500, seed: SEED },
  );
  console.log(counts);
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000);
  expect(await run("print(6 * 7)")).toMatchObject({ status: 200, body: { status: "Success" } });
}, 600_000);

test("300 clients that disconnect while their programs run or wait block no other", async () => {
  const loops = { python: "while True: pass", nodejs: "for (;;);" };
  const lost = Array.from({ length: 300 }, (_, i) => {
    const language = i % 2 === 0 ? "python" : "nodejs";
    const request = send(url, { method: "POST", agent: false });
    request.on("error", () => undefined);
    request.end(JSON.stringify({ language, code: loops[language], run_timeout: 100 }));
    return request;
  });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const request of lost) request.destroy();
  const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => run(`print(${i})`)));
  expect(answers.map(({ body: { run_result: result } }) => result?.stdout)).toEqual(
    Array.from({ length: 64 }, (_, i) => `${i}\n`),
  );
}, 600_000);

test("200 programs find nothing of an earlier one, nor of the server", async () => {
  const leave = `
import builtins, os, sys
builtins.left = sys.left = 1
os.environ["LEFT"] = "1"
for folder in (".", "/tmp", "/dev/shm"):
    try: open(folder + "/left", "w").write("left")
    except OSError: pass`;
  const look = `
import builtins, os, sys
found = [hasattr(builtins, "left"), hasattr(sys, "left"), "LEFT" in os.environ, "MRLM_CANARY" in os.environ]
for path in ("left", "/tmp/left", "/dev/shm/left", ${JSON.stringify(canaryFile)}):
    found.append(os.path.exists(path))
for path in ("/proc/1/environ", "/proc/self/environ", "/proc/%d/environ" % os.getppid()):
    try: found.append("canary" in open(path).read())
    except OSError: found.append(False)
print(any(found))`;
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      run(i % 2 === 0 ? leave : look, i % 2 === 0 ? {} : { fetch_files: ["left"] }),
    ),
  );
  const looked = answers.filter((_, i) => i % 2 === 1);
  expect(new Set(looked.map(({ body: { run_result: result } }) => result?.stdout))).toEqual(new Set(["False\n"]));
  expect(looked.filter(({ body: { files = {} } }) => Object.keys(files).length > 0)).toEqual([]);
}, 600_000);
