import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { type ErrorCode, MrlmError } from "@mrlm/spec";
import { type EnvironmentHost, ERROR_CODES } from "@mrlm/spec/host";
import { counterEnvironment } from "./support/counter-environment.ts";
import { collect, localHost, runner, withOpen } from "./support/rollouts.ts";

const guide = readFileSync(new URL("../../../docs/operate/serving.md", import.meta.url), "utf8");
const rows = /### Errors and episodes\n[^]*?\n\n((?:\|.*\n)+)/
  .exec(guide)?.[1]
  ?.split("\n")
  .slice(2, -1)
  .map((line) => line.split("|").map((cell) => cell.trim())) as string[][];
const cases = rows.flatMap(([, codes, effect]) =>
  [...(codes as string).matchAll(/`([A-Z_]+)`( with a delay)?/g)].map(
    ([, code, delay]) => [code as ErrorCode, delay !== undefined, effect as string] as const,
  ),
);

/** Returns a host whose first step fails with an error, as of a server or of the environment. */
async function failingHost(error: MrlmError, isEnvironments: boolean): Promise<EnvironmentHost> {
  let isOver = false;
  const fail = (): void => {
    if (isOver) return;
    isOver = true;
    throw error;
  };
  const { create, ...definition } = counterEnvironment();
  const inner = await localHost({
    ...definition,
    create: async (...parts) => {
      const environment = await create(...parts);
      return {
        reset: (options) => environment.reset(options),
        async step(action, options) {
          if (isEnvironments) fail();
          return environment.step(action, options);
        },
      };
    },
  });
  return withOpen(inner, {
    async open(ref) {
      const session = await inner.open(ref);
      return {
        description: session.description,
        reset: (options) => session.reset(options),
        close: () => session.close(),
        async step(action, options) {
          if (!isEnvironments) fail();
          return session.step(action, options);
        },
      };
    },
  });
}

async function effectOf(code: ErrorCode, hasDelay: boolean, isEnvironments: boolean): Promise<string> {
  const host = await failingHost(new MrlmError(code, "test", hasDelay ? { retryDelayMs: 1 } : {}), isEnvironments);
  try {
    const [group] = await collect(await runner({ host }), { tasks: ["train/0"], groupSize: 1 });
    const [played] = group?.trajectories ?? [];
    if (played?.error !== undefined) return played.error.code === code ? "fails" : `fails with ${played.error.code}`;
    const { total, end } = played?.agents["agent"] ?? {};
    if (total?.scored === false) return total.code === code ? "has no score" : `has no score for ${total.code}`;
    return end?.terminated === true && played?.turns.length === 2 ? "is repeated" : "is incomplete";
  } catch (error) {
    return MrlmError.hasCode(error, code) ? "ends with the run" : String(error);
  } finally {
    await host.close();
  }
}

test.each(cases)("%s (with a delay: %s): the episode %s, as the guide states", async (code, hasDelay, effect) => {
  const mayWait = hasDelay || code === "RESOURCE_EXHAUSTED";
  expect(await effectOf(code, mayWait, effect === "has no score")).toBe(effect);
});

test("codes that the guide's table does not name fail their episode", async () => {
  const named = new Set(cases.map(([code]) => code));
  // Errors of the engine and of the policy, which no environment server sends.
  const others = new Set<string>(["ENGINE_EXITED", "ENGINE_UNAVAILABLE", "TOOLS_UNSUPPORTED"]);
  const rest = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => !named.has(code) && !others.has(code));
  expect([rows.at(-1)?.slice(1, 3), rest.length > 40]).toEqual([["all others", "fails"], true]);
  const effects = new Set<string>();
  for (const code of rest) effects.add(await effectOf(code, false, false));
  expect([...effects]).toEqual(["fails"]);
});
