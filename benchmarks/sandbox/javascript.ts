import plugin from "@mrlm/sandbox-javascript";
import type { Sandbox } from "@mrlm/spec";
import type { SandboxTestSuite } from "@mrlm/spec/host";
import { barePluginContext } from "@mrlm/testing";
import { round } from "./measure.ts";
import type { Figures } from "./python.ts";

interface Workload {
  readonly code: string;
  readonly suite: SandboxTestSuite;
}

const suiteOf = (name: string, tests: readonly string[]): SandboxTestSuite => ({
  entryPoints: [name],
  tests: tests.map((code, index) => ({ name: `${index}`, code })),
});

/** Submissions as models write them, with five tests each. */
const WORKLOADS: readonly Workload[] = [
  {
    code: "function sumOfSquares(numbers: number[]): number {\n  return numbers.map((n) => n * n).reduce((a, b) => a + b, 0);\n}",
    suite: suiteOf(
      "sumOfSquares",
      ["[]", "[1]", "[1, 2, 3]", "[-4]", "[0.5, 0.5]"].map(
        (items) => `assert.equal(sumOfSquares(${items}), ${items}.reduce((a, b) => a + b * b, 0));`,
      ),
    ),
  },
  {
    code: "const isPalindrome = (text) => {\n  const plain = text.toLowerCase().replace(/[^a-z0-9]/g, '');\n  return plain === [...plain].reverse().join('');\n};",
    suite: suiteOf(
      "isPalindrome",
      [
        ["", true],
        ["Anna", true],
        ["ab", false],
        ["A man, a plan, a canal: Panama", true],
        ["no", false],
      ].map(([text, is]) => `assert.equal(isPalindrome(${JSON.stringify(text)}), ${is});`),
    ),
  },
  {
    code: "function groupBy(items, key) {\n  const groups = {};\n  for (const item of items) (groups[item[key]] ??= []).push(item);\n  return groups;\n}",
    suite: suiteOf(
      "groupBy",
      [1, 2, 3, 4, 5].map(
        (n) => `assert.deepEqual(groupBy([{ a: ${n} }, { a: 1, b: 2 }, { a: ${n} }], "a")[${n}][0], { a: ${n} });`,
      ),
    ),
  },
  {
    code: "export function primes(limit) {\n  const found = [];\n  outer: for (let n = 2; n < limit; n++) {\n    for (const p of found) { if (p * p > n) break; if (n % p === 0) continue outer; }\n    found.push(n);\n  }\n  return found;\n}",
    suite: suiteOf(
      "primes",
      [2, 3, 10, 30, 1000].map(
        (n) => `assert.equal(primes(${n}).length, ${[0, 1, 4, 10, 168][[2, 3, 10, 30, 1000].indexOf(n)]});`,
      ),
    ),
  },
];

const WARM_UP = 40;

/** Measures the submissions a second of two processes, each submission in a separate isolate. */
export async function javascriptFigures(count: number): Promise<Figures> {
  const sandbox = (await plugin.sandboxes?.["javascript"]?.(barePluginContext(), {
    children: 2,
    queue: 1024,
    sessions: 1,
    session_queue: 256,
    session_wait_ms: 60_000,
    limits: {},
  })) as Sandbox;
  try {
    await sandbox.warm();
    await runAll(sandbox, WARM_UP);
    const start = performance.now();
    const wallMs = (await runAll(sandbox, count)).sort((a, b) => a - b);
    const perSecond = (count / (performance.now() - start)) * 1000;
    const wallMsAt = (share: number): number => round(wallMs[Math.floor(count * share)] as number);
    return {
      javascript_per_s: Math.round(perSecond),
      javascript_p50_ms: wallMsAt(0.5),
      javascript_p99_ms: wallMsAt(0.99),
    };
  } finally {
    await sandbox.close();
  }
}

/** Runs `count` submissions. Returns the wall-clock milliseconds of each, from its start. */
function runAll(sandbox: Sandbox, count: number): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { code, suite } = WORKLOADS[index % WORKLOADS.length] as Workload;
      const { tests, wallMs, error } = await sandbox.test({ code }, suite);
      const failed = tests.find(({ verdict }) => verdict !== "passed");
      if (failed !== undefined)
        throw new Error(`a correct submission failed: ${JSON.stringify({ code, failed, error })}`);
      return wallMs;
    }),
  );
}
