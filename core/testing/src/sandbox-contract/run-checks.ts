import assert from "node:assert/strict";
import { expectCode } from "../contract/expect-code.ts";
import type { SandboxCheck } from "./sandbox-check.ts";

const MEGABYTE = 1024 * 1024;

/** Checks of programs and of calls of their functions. */
export const runChecks: readonly SandboxCheck[] = [
  {
    code: "SANDBOX_RESULT",
    name: "a program's output is returned",
    async run({ sandbox, programs }) {
      const result = await sandbox.run({ code: programs.hello });
      assert.equal(result.verdict, "ok", JSON.stringify(result));
      assert.equal(result.stdout, "hello\n");
      assert.equal(result.stdoutTruncated, false);
      assert(result.wallMs > 0 && result.cpuMs >= 0 && result.peakMemoryBytes >= 0);
    },
  },
  {
    code: "SANDBOX_RESULT",
    name: "a function is called with JSON and its value is JSON",
    async run({ sandbox, programs }) {
      const result = await sandbox.run({ code: programs.library, call: { name: "add", arguments: [20, 22] } });
      assert.deepEqual([result.verdict, result.value, result.shown], ["ok", 42, "42"]);
    },
  },
  {
    code: "SANDBOX_RESULT",
    name: "a value that JSON lacks is shown",
    async run({ sandbox, programs }) {
      const result = await sandbox.run({ code: programs.notJson, call: { name: "answer", arguments: [] } });
      assert.equal(result.verdict, "ok");
      assert.equal(result.value, undefined);
      assert.match(result.shown ?? "", /1.*2/);
    },
  },
  {
    code: "SANDBOX_RESULT",
    name: "an error has the submission's own line",
    async run({ sandbox, programs }) {
      const { verdict, error } = await sandbox.run({ code: programs.raises });
      assert.equal(verdict, "error");
      assert.match(error?.name ?? "", /TypeError|AttributeError/);
      assert.equal(error?.line, 3);
      assert(!/node:|file:|site-packages|\/app\//.test(error?.trace ?? ""), `frames of the sandbox: ${error?.trace}`);
    },
  },
  {
    code: "SANDBOX_RESULT",
    name: "what cannot be read is a SyntaxError with its line",
    async run({ sandbox, programs }) {
      const { verdict, error } = await sandbox.run({ code: programs.malformed });
      assert.deepEqual([verdict, error?.name, error?.line], ["error", "SyntaxError", 2]);
    },
  },
  {
    code: "SANDBOX_RESULT",
    name: "standard input and files can be read",
    async run({ sandbox, programs }) {
      assert.equal((await sandbox.run({ code: programs.shout, stdin: "grüße" })).stdout.trim(), "GRÜSSE");
      for (const [text, read] of [
        ["a line", "a line"],
        ["a\ud800\udfffb\udc00c", "a\ud800\udfffb\ufffdc"],
      ] as const) {
        const { stdout } = await sandbox.run({ code: programs.readsFile, files: { "data.txt": text } });
        assert.equal(stdout.trim(), read);
        assert.equal((await sandbox.run({ code: programs.shout, stdin: text })).stdout.trim(), read.toUpperCase());
      }
    },
  },
  {
    code: "SANDBOX_LIMIT",
    name: "a loop ends at its deadline, and the next submission is as ever",
    async run({ sandbox, programs }) {
      const { verdict } = await sandbox.run({ code: programs.loops, limits: { wallMs: 400 } });
      assert(verdict === "timeout" || verdict === "cpu-limit", verdict);
      assert.equal((await sandbox.run({ code: programs.hello })).stdout, "hello\n");
    },
  },
  {
    code: "SANDBOX_LIMIT",
    name: "a program that its limit of processor time ends keeps the lines that it printed",
    quick: false,
    async run({ sandbox, programs }) {
      const limits = { cpuMs: 300, wallMs: 60_000 };
      const { stdout } = await sandbox.run({ code: `${programs.hello}\n${programs.loops}`, limits });
      assert.equal(stdout, "hello\n");
    },
  },
  {
    code: "SANDBOX_LIMIT",
    name: "a submission may ask for more memory than every one before it",
    quick: false,
    async run({ sandbox, programs }) {
      for (const megabytes of [16, 512, 768]) {
        assert.equal(
          (await sandbox.run({ code: programs.hello, limits: { memoryBytes: megabytes * MEGABYTE } })).stdout,
          "hello\n",
        );
      }
    },
  },
  {
    code: "SANDBOX_LIMIT",
    name: "memory ends at its limit, and the next submission is as ever",
    async run({ sandbox, programs }) {
      const result = await sandbox.run({
        code: programs.eatsMemory,
        limits: { memoryBytes: 64 * MEGABYTE, wallMs: 60_000, cpuMs: 60_000 },
      });
      const isCaught = result.verdict === "error" && /Memory|Range/.test(result.error?.name ?? "");
      assert(result.verdict === "memory-limit" || isCaught, JSON.stringify(result));
      assert.equal((await sandbox.run({ code: programs.hello })).stdout, "hello\n");
    },
  },
  {
    code: "SANDBOX_LIMIT",
    name: "endless output is cut at the byte limit and flagged",
    quick: false,
    async run({ sandbox, programs }) {
      const { stdout, stdoutTruncated, verdict } = await sandbox.run({
        code: programs.floods,
        limits: { outputBytes: 1000, wallMs: 3000, cpuMs: 60_000 },
      });
      assert(Buffer.byteLength(stdout) <= 1000 && stdout.startsWith("ping\nping\n"), stdout);
      assert.equal(stdoutTruncated, true);
      assert.notEqual(verdict, "ok");
    },
  },
  {
    code: "CALLS_INTERFERE",
    name: "no submission notices an earlier one",
    async run({ sandbox, programs }) {
      for (let round = 0; round < 4; round++) {
        await sandbox.run({ code: programs.pollutes });
        assert.equal((await sandbox.run({ code: programs.checksPollution })).stdout, "clean\n");
      }
    },
  },
  {
    code: "CALL_ABORT_IGNORED",
    name: "an aborted run rejects with CANCELLED, and the next submission is as ever",
    quick: false,
    async run({ sandbox, programs }) {
      const controller = new AbortController();
      const running = sandbox.run(
        { code: programs.loops, limits: { wallMs: 60_000, cpuMs: 60_000 } },
        { signal: controller.signal },
      );
      setTimeout(() => controller.abort(), 200);
      await expectCode(running, "CANCELLED");
      await expectCode(sandbox.run({ code: programs.hello }, { signal: AbortSignal.abort() }), "CANCELLED");
      assert.equal((await sandbox.run({ code: programs.hello })).stdout, "hello\n");
    },
  },
  {
    code: "CALLS_INTERFERE",
    name: "submissions at the same time do not mix",
    async run({ sandbox, programs }) {
      const calls = Array.from({ length: 12 }, (_, index) =>
        sandbox.run({ code: programs.library, call: { name: "add", arguments: [index, 100] } }),
      );
      assert.deepEqual(
        (await Promise.all(calls)).map(({ value }) => value),
        Array.from({ length: 12 }, (_, index) => index + 100),
      );
    },
  },
];
