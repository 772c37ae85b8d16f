import assert from "node:assert/strict";
import { expectCode } from "../contract/expect-code.ts";
import type { SandboxCheck } from "./sandbox-check.ts";

const entryPoints = ["add", "sort_it"];

/** Checks of tests of a submission. */
export const testChecks: readonly SandboxCheck[] = [
  {
    code: "SANDBOX_TEST",
    name: "each test has a verdict, and changed arguments come back",
    async run({ sandbox, programs: { library, tests } }) {
      const names = ["passes", "fails", "expectsError", "mutates"] as const;
      const report = await sandbox.test(
        { code: library },
        { entryPoints, tests: names.map((name) => ({ name, code: tests[name] })) },
      );
      assert.equal(report.verdict, "ok", JSON.stringify(report));
      assert.deepEqual(
        report.tests.map(({ name, verdict }) => [name, verdict]),
        [
          ["passes", "passed"],
          ["fails", "failed"],
          ["expectsError", "passed"],
          ["mutates", "passed"],
        ],
      );
      assert(report.tests[1]?.message, "a failed test has a message");
    },
  },
  {
    code: "SANDBOX_TEST",
    name: "an error of the top-level code leaves every test unrun",
    async run({ sandbox, programs: { raises, tests } }) {
      const report = await sandbox.test(
        { code: raises },
        { entryPoints: ["add"], tests: [{ name: "one", code: tests.passes }] },
      );
      assert.equal(report.verdict, "error");
      assert.equal(report.error?.line, 3);
      assert.deepEqual(report.tests, [{ name: "one", verdict: "not-run" }]);
    },
  },
  {
    code: "SANDBOX_TEST",
    name: "an entry point that is not defined fails the tests that call it",
    async run({ sandbox, programs: { hello, tests } }) {
      const report = await sandbox.test(
        { code: hello },
        { entryPoints: ["add"], tests: [{ name: "one", code: tests.passes }] },
      );
      assert.equal(report.tests[0]?.verdict, "failed");
    },
  },
  {
    code: "SANDBOX_TEST",
    name: "at the deadline, finished tests keep their verdicts, the present one fails, the others are not run",
    quick: false,
    async run({ sandbox, programs: { hangsAtThree, tests } }) {
      const suite = [tests.passes, tests.third, tests.passes].map((code, index) => ({ name: `${index}`, code }));
      const report = await sandbox.test(
        { code: hangsAtThree, limits: { wallMs: 2500, cpuMs: 60_000 } },
        { entryPoints: ["add"], tests: suite },
      );
      assert.equal(report.verdict, "timeout");
      assert.deepEqual(
        report.tests.map(({ verdict }) => verdict),
        ["passed", "failed", "not-run"],
      );
    },
  },
  {
    code: "SANDBOX_SESSION",
    name: "a session keeps its state, and is apart from others",
    async run({ sandbox, programs: { session: lines, checksPollution } }) {
      const [one, other] = await Promise.all([sandbox.session(), sandbox.session()]);
      try {
        await one.evaluate({ code: lines.define });
        await other.evaluate({ code: lines.define });
        await one.evaluate({ code: lines.use });
        assert.equal((await one.evaluate({ code: lines.use })).value, 42);
        assert.equal((await other.evaluate({ code: lines.use })).value, 41);
        assert.equal((await one.evaluate({ code: checksPollution })).stdout, "clean\n");
      } finally {
        await Promise.all([one.close(), other.close()]);
      }
      await expectCode(one.evaluate({ code: lines.use }), "SESSION_NOT_FOUND");
    },
  },
  {
    code: "SANDBOX_SESSION",
    name: "an error leaves a session as it is; a limit ends it",
    async run({ sandbox, programs: { session: lines, raises, loops } }) {
      const session = await sandbox.session();
      try {
        await session.evaluate({ code: lines.define });
        assert.equal((await session.evaluate({ code: raises })).verdict, "error");
        assert.equal((await session.evaluate({ code: lines.use })).value, 41);
        assert.notEqual((await session.evaluate({ code: loops, limits: { wallMs: 400 } })).verdict, "ok");
        await expectCode(session.evaluate({ code: lines.use }), "SESSION_NOT_FOUND");
      } finally {
        await session.close();
      }
    },
  },
  {
    code: "CALLS_INTERFERE",
    name: "a session notices nothing of earlier ones",
    async run({ sandbox, programs: { pollutes, checksPollution } }) {
      for (let round = 0; round < 4; round++) {
        const session = await sandbox.session({ files: round === 0 ? { leaked: "" } : {} });
        if (round > 0) assert.equal((await session.evaluate({ code: checksPollution })).stdout, "clean\n");
        await session.evaluate({ code: pollutes });
        await session.close();
      }
    },
  },
  {
    code: "SANDBOX_SESSION",
    name: "a snapshot brings a session's state back, where there are snapshots",
    async run({ sandbox, programs: { session: lines } }) {
      const session = await sandbox.session();
      try {
        if (session.snapshot === undefined || session.restore === undefined) return;
        await session.evaluate({ code: lines.define });
        const snapshot = await session.snapshot();
        await session.evaluate({ code: lines.use });
        await session.restore(snapshot);
        assert.equal((await session.evaluate({ code: lines.use })).value, 41);
      } finally {
        await session.close();
      }
    },
  },
];
