import { afterEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { MrlmError, type Sandbox, type SandboxResult } from "@mrlm/spec";
import type { Submission } from "@mrlm/spec/host";
import { ClientSandbox } from "../src/index.ts";
import { begin, raw, type RawResponse } from "./support/raw.ts";
import { type Served, served, until } from "./support/served.ts";

let server: Served;

afterEach(() => server.close());

const LIMITS = { wallMs: 10_000, cpuMs: 10_000, memoryBytes: 1 << 28, outputBytes: 1 << 16 };
const RAN: SandboxResult = {
  verdict: "ok",
  stdout: "out",
  stderr: "",
  stdoutTruncated: false,
  stderrTruncated: false,
  wallMs: 250,
  cpuMs: 100,
  peakMemoryBytes: 1,
};

/** Sandbox whose verdicts a test chooses, which real ones give in `test/e2e/run-code.slow.ts`. */
function scripted(run: (submission: Submission, signal: AbortSignal) => Promise<SandboxResult>, children = 2): Sandbox {
  const none = (): never => {
    throw new Error("not used");
  };
  return {
    language: "python",
    limits: LIMITS,
    children,
    run: (submission, { signal } = {}) => run(submission, signal ?? new AbortController().signal),
    test: none,
    session: none,
    warm: none,
    layers: none,
    close: async () => undefined,
  };
}

const serve = async (
  run: Parameters<typeof scripted>[0],
  options: Parameters<typeof served>[0] = {},
): Promise<(body: unknown, headers?: Record<string, string>) => Promise<RawResponse>> => {
  server = await served({
    dialects: ["sandbox-fusion"],
    sandboxes: { python: new ClientSandbox(scripted(run)) },
    ...options,
  });
  return (body, headers = {}) => raw(server.url("/run_code"), { body, headers });
};

const PYTHON = { language: "python", code: "" };

describe("the end of a program", () => {
  test.each<[Partial<SandboxResult>, string, string, number | null, RegExp]>([
    [{}, "Success", "Finished", 0, /^$/],
    [{ exitCode: 0 }, "Success", "Finished", 0, /^$/],
    [{ verdict: "error", exitCode: 3, stderr: "why\n" }, "Failed", "Finished", 3, /^why$/],
    [
      { verdict: "error", stderr: "a\n", error: { name: "E", message: "m", trace: "File 1\nE: m" } },
      ...(["Failed", "Finished", 1, /^a\nFile 1\nE: m$/] as const),
    ],
    [{ verdict: "timeout" }, "Failed", "TimeLimitExceeded", null, /time limit/],
    [{ verdict: "cpu-limit" }, "Failed", "TimeLimitExceeded", null, /time limit/],
    [{ verdict: "memory-limit" }, "Failed", "Finished", 137, /memory limit/],
    [{ verdict: "killed" }, "Failed", "Finished", 137, /broke its interpreter/],
    [{ stdoutTruncated: true }, "Failed", "Error", 1, /output limit/],
    [{ verdict: "error", exitCode: 2, stderrTruncated: true }, "Failed", "Error", 1, /output limit/],
  ])("%j is %s, %s, %j", async (result, status, command, code, stderr) => {
    const send = await serve(async () => ({ ...RAN, ...result }));
    const response = await send(PYTHON);
    expect([response.status, response.body]).toEqual([
      200,
      {
        status,
        message: "",
        compile_result: null,
        run_result: {
          status: command,
          execution_time: 0.25,
          return_code: code,
          stdout: "out",
          stderr: expect.stringMatching(stderr),
        },
        executor_pod_name: null,
        files: {},
      },
    ]);
  });
});

test("a request has the limits, input and files that the sandbox gets", async () => {
  const got: Submission[] = [];
  const send = await serve(async (submission) => {
    got.push(submission);
    return { ...RAN, files: { "d/out": "YQ==" } };
  });
  const response = await send({
    ...PYTHON,
    code: "print()",
    stdin: "in",
    run_timeout: 2.5,
    memory_limit_MB: 64,
    files: { "d/in": "AP8=", none: null },
    fetch_files: ["d/out", "absent"],
    unknown: 1,
  });
  await send({ ...PYTHON, stdin: null, files: {}, fetch_files: [], memory_limit_MB: -1 });
  expect(got).toEqual([
    {
      code: "print()",
      stdin: "in",
      files: { "d/in": { base64: "AP8=" } },
      fetchFiles: ["d/out", "absent"],
      limits: { wallMs: 2_500, cpuMs: 2_500, memoryBytes: 64 << 20, outputBytes: 1 << 20 },
    },
    {
      code: "",
      stdin: "",
      files: {},
      limits: { wallMs: 10_000, cpuMs: 10_000, memoryBytes: 1 << 28, outputBytes: 1 << 20 },
    },
  ]);
  expect(response.body).toMatchObject({ files: { "d/out": "YQ==" }, message: expect.stringContaining("absent") });
});

describe("a refused request", () => {
  test.each<[string, object]>([
    ["no code", { language: "python" }],
    ["a negative time", { ...PYTHON, run_timeout: -1 }],
    ["a time above the limit", { ...PYTHON, run_timeout: 121 }],
    ["memory above the limit", { ...PYTHON, memory_limit_MB: 2048 }],
    ["a file outside of the working directory", { ...PYTHON, files: { "../a": "" } }],
    ["a file of the host", { ...PYTHON, files: { "/etc/a": "" } }],
    ["a file that is not base64", { ...PYTHON, files: { a: "?" } }],
    ["a fetched file of the host", { ...PYTHON, fetch_files: ["/etc/passwd"] }],
    ["a fetched file outside of the working directory", { ...PYTHON, fetch_files: ["a/../../b"] }],
    ["a path with a null character", { ...PYTHON, fetch_files: ["a\0b"] }],
    ["too many files", { ...PYTHON, fetch_files: Array.from({ length: 257 }, (_, i) => `f${i}`) }],
    ["a list", []],
  ])("has status 422 for %s", async (_, body) => {
    const send = await serve(async () => RAN);
    expect(await send(body)).toMatchObject({ status: 422, body: { status: "SandboxError", run_result: null } });
  });

  test("is a SandboxError for a language that is not served", async () => {
    const send = await serve(async () => RAN);
    for (const language of ["cpp", "nodejs", "typescript", "__proto__"])
      expect(await send({ ...PYTHON, language })).toMatchObject({
        status: 200,
        body: { status: "SandboxError", message: expect.stringContaining("It runs: python.") },
      });
  });

  test("needs the token of the server, and has the form of the protocol in any case", async () => {
    const send = await serve(async () => RAN, { tokens: Tokens.of("secret"), maxRequestBytes: 1_000 });
    expect(await send(PYTHON)).toMatchObject({ status: 401, body: { status: "SandboxError" } });
    const headers = { authorization: "Bearer secret" };
    expect(await send(PYTHON, headers)).toMatchObject({ status: 200 });
    expect(await send("{", headers)).toMatchObject({ status: 400, body: { status: "SandboxError" } });
    expect(await send({ ...PYTHON, code: "x".repeat(1_000) }, headers)).toMatchObject({ status: 413 });
    expect(await raw(server.url("/run_code"), { headers })).toMatchObject({ status: 405, headers: { allow: "POST" } });
  });
});

describe("a fault of the server", () => {
  test.each(["RESOURCE_EXHAUSTED", "SANDBOX_FAILED", "CANCELLED"] as const)("%s that may pass is 504", async (code) => {
    const send = await serve(() => Promise.reject(new MrlmError(code, "The sandbox failed.")));
    expect(await send(PYTHON)).toMatchObject({
      status: 504,
      body: { status: "SandboxError", message: expect.stringContaining(code) },
    });
  });

  test("that is unexpected is 500, without its words", async () => {
    const send = await serve(() => Promise.reject(new Error("private words")));
    const response = await send(PYTHON);
    expect([response.status, response.body]).toMatchObject([500, { status: "SandboxError" }]);
    expect(response.text).not.toContain("private");
    expect(server.logged.join("")).toContain("private words");
  });
});

test("a client that disconnects ends its program, and a server that stops ends all", async () => {
  let running = 0;
  const send = await serve(async (_, signal) => {
    running++;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    running--;
    throw new MrlmError("CANCELLED", "The caller aborted.");
  });
  const lost = begin(server.url("/run_code"), {});
  lost.on("error", () => undefined);
  lost.end(JSON.stringify(PYTHON));
  await until(() => running === 1);
  lost.destroy();
  await until(() => running === 0);
  const open = send(PYTHON);
  await until(() => running === 1);
  await server.server.close();
  expect(await open).toMatchObject({ status: 504 });
});

describe("U9: places for programs", () => {
  /** Serves clients whose programs run until the test ends them; `running` has their code. */
  async function held(children: number, names: readonly string[], isShared = false) {
    const running = new Map<string, () => void>();
    const run = (submission: Submission): Promise<SandboxResult> =>
      new Promise((resolve) => running.set(submission.code, () => (running.delete(submission.code), resolve(RAN))));
    const tokens = new Tokens(names.map((name) => ({ name, token: name })));
    const sandbox = new ClientSandbox(scripted(run, children), { isShared, clientCount: () => tokens.names.length });
    server = await served({ dialects: ["sandbox-fusion"], sandboxes: { python: sandbox }, tokens });
    const send = (code: string): Promise<RawResponse> =>
      raw(server.url("/run_code"), {
        body: { ...PYTHON, code },
        headers: { authorization: `Bearer ${code.split(" ")[0]}` },
      });
    return { running, send };
  }

  test("a client that holds all of its places delays no other", async () => {
    const { running, send } = await held(2, ["alice", "bob"]);
    const loops = [send("alice 1"), send("alice 2"), send("alice 3")];
    await until(() => running.size === 1);
    const print = send("bob 1");
    await until(() => running.has("bob 1"));
    expect([...running.keys()]).toEqual(["alice 1", "bob 1"]);
    running.get("bob 1")?.();
    expect(await print).toMatchObject({ status: 200, body: { status: "Success" } });
    for (const code of ["alice 1", "alice 2", "alice 3"]) {
      await until(() => running.has(code));
      expect([...running.keys()]).toEqual([code]);
      running.get(code)?.();
    }
    expect((await Promise.all(loops)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test("places are granted to the clients in turn", async () => {
    const running = new Map<string, () => void>();
    const run = ({ code }: Submission): Promise<SandboxResult> =>
      new Promise((resolve) => running.set(code, () => (running.delete(code), resolve(RAN))));
    const sandbox = new ClientSandbox(scripted(run, 1), { clientCount: () => 2 });
    const codes = ["alice 1", "alice 2", "alice 3", "bob 1", "bob 2"];
    const { signal } = new AbortController();
    const sent = codes.map((code) => sandbox.run(code.split(" ")[0] as string, { code }, signal));
    const order: string[] = [];
    while (order.length < codes.length) {
      await until(() => running.size === 1);
      const [code] = running.keys();
      order.push(code as string);
      running.get(code as string)?.();
    }
    await Promise.all(sent);
    expect(order).toEqual(["alice 1", "alice 2", "bob 1", "alice 3", "bob 2"]);
  });

  test.each([
    [4, false, ["alice"], 4],
    [4, true, ["alice"], 2],
    [4, true, ["alice", "bob"], 1],
    [1, true, ["alice", "bob"], 1],
  ])(
    "of %d children, shared with environments: %s, a client of %j has %d",
    async (children, isShared, names, count) => {
      const { running, send } = await held(children, names, isShared);
      const sent = Array.from({ length: 5 }, (_, i) => send(`alice ${i}`));
      let most = 0;
      for (let ended = 0; ended < 5; ended++) {
        await until(() => running.size === Math.min(count, 5 - ended));
        most = Math.max(most, running.size);
        running.values().next().value?.();
      }
      await Promise.all(sent);
      expect(most).toBe(count);
    },
  );
});
