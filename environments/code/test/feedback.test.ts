import { describe, expect, test } from "@jest/globals";
import { messageText } from "@mrlm/kit";
import type { SandboxTestReport } from "@mrlm/kit/service";
import fc from "fast-check";
import { problemOf, type FunctionProblem } from "../src/problem/problem.ts";
import { prepare } from "./support/environment.ts";
import { type Script, scriptedSandbox } from "./support/scripted-sandbox.ts";

const reply = "```python\ndef rewrite(text): return text\n```";
const feedbackOn = async (script: Script, given = {}): Promise<string> => {
  const { play } = await prepare({ families: ["strings"], difficulty_range: 4, ...given }, scriptedSandbox(script));
  return (await play("train/0", [reply]))[0]?.observation.messages.map(messageText).join("\n") ?? "";
};
const all = (verdict: "failed" | "not-run", rest: Partial<SandboxTestReport> = {}): Script => ({
  test: (_, { tests }) => ({
    tests: tests.map(({ name }) => ({ name, verdict, message: `secret of ${name}` })),
    ...rest,
  }),
});

describe("feedback to the policy", () => {
  test("failed visible tests with their messages", async () => {
    const feedback = await feedbackOn(all("failed"));
    expect(feedback).toMatch(
      /^It fails these tests:\n(- rewrite\('.*'\) should be '.*': secret of test [123]\n){3}Try again\.$/,
    );
  });

  test("that hidden ones fail, and nothing of them", async () => {
    expect(
      await feedbackOn({
        test: (_, { tests }) => ({
          tests: tests.map(({ name }, i) => ({ name, verdict: i < 3 ? "passed" : "failed", message: "secret" })),
        }),
      }),
    ).toBe("It fails hidden tests.\nTry again.");
  });

  test("an error before the tests, with the lines of the response", async () => {
    const error = { name: "NameError", message: "name 'y' is not defined", trace: "", line: 2 };
    expect(await feedbackOn(all("not-run", { verdict: "error", error }))).toBe(
      "The code raised an error: NameError: name 'y' is not defined in line 2.\nTry again.",
    );
    expect(await feedbackOn(all("not-run", { verdict: "error", error: { ...error, name: "SyntaxError" } }))).toMatch(
      /^The code cannot be parsed: SyntaxError: .* in line 2\./,
    );
  });

  test("no error that a hidden test could have had a part in", async () => {
    const script: Script = {
      test: (_, { tests }) => ({
        verdict: "error",
        error: { name: "Revealed", message: "a hidden input", trace: "" },
        tests: tests.map(({ name }, i) => ({ name, verdict: i < 5 ? "passed" : "not-run" })),
      }),
    };
    expect(await feedbackOn(script)).toBe("The code raised an error.\nTry again.");
  });

  test("limits, and less in the terse style", async () => {
    expect(await feedbackOn(all("not-run", { verdict: "timeout" }))).toMatch(
      /^The code ran out of time\.\nIt fails these tests:/,
    );
    expect(await feedbackOn(all("not-run", { verdict: "memory-limit" }), { style: "terse", visible_tests: 0 })).toBe(
      "The code used too much memory",
    );
  });
});

test("no message to a policy contains a hidden test or the reference", async () => {
  const verdicts = fc.array(fc.constantFrom("passed", "failed", "not-run"), { minLength: 13, maxLength: 13 });
  const endings = fc.constantFrom("ok", "error", "timeout", "killed");
  await fc.assert(
    fc.asyncProperty(fc.nat(5_000), verdicts, endings, async (index, given, verdict) => {
      // The message of each test contains its code.
      const script: Script = {
        test: (_, { tests }) =>
          ({
            verdict,
            ...(verdict === "error" ? { error: { name: "Error", message: tests.at(-1)?.code ?? "", trace: "" } } : {}),
            tests: tests.map(({ name, code }, i) => ({
              name,
              verdict: i === 0 ? "failed" : (given[i] ?? "passed"),
              message: code,
            })),
          }) as never,
      };
      const { play, tasks } = await prepare({ difficulty_range: [1, 10], tests: 13 }, scriptedSandbox(script));
      const { reference, tests } = problemOf(await tasks.get("train", index)) as FunctionProblem;
      const heardOf = JSON.stringify(await play(`train/${index}`, [reply, reply]));
      for (const secret of [reference as string, ...tests.filter(({ visible }) => !visible).map(({ shown }) => shown)])
        expect(heardOf).not.toContain(JSON.stringify(secret).slice(1, -1));
    }),
    { numRuns: 60 },
  );
});
