import { expect, test } from "@jest/globals";
import type { EnvironmentDefinition, Observation } from "@mrlm/spec";
import type { AnyPlugin } from "../src/any-plugin.ts";
import { overlapChecks } from "../src/checks/overlap-checks.ts";
import { privateChecks } from "../src/checks/private-checks.ts";
import { makeSubject } from "../src/contract/subject.ts";
import { inProcess } from "../src/index.ts";

const { default: plugin } = (await import(new URL("../fixtures/sound/questions/index.js", import.meta.url).href)) as {
  readonly default: AnyPlugin;
};
const ENVIRONMENTS = plugin.environments ?? [];

/** Returns the messages of the defects that the checks of tasks find in an environment. */
async function defectsOf(definition: EnvironmentDefinition): Promise<string[]> {
  const subject = await makeSubject([{ ...plugin, environments: [definition] }], definition.id, inProcess, undefined);
  const messages: string[] = [];
  for (const check of [...privateChecks, ...overlapChecks])
    await check.run(subject).catch((error: Error) => messages.push(error.message));
  await subject.close();
  return messages;
}

/** Private parts of the tasks of all three environments. */
interface Hidden {
  readonly answer: string;
  readonly solution: readonly string[];
  readonly world: { readonly key: string; readonly chest: string };
}

type Change = (first: Observation, hidden: Hidden) => Observation;

/** Returns the environment whose first observation is changed by what is private. */
function showing(id: string, change: Change): EnvironmentDefinition {
  const definition = ENVIRONMENTS.find((each) => each.id === id) as EnvironmentDefinition;
  return {
    ...definition,
    create: async (context, options) => {
      const environment = await definition.create(context, options);
      return {
        ...environment,
        reset: async (given) => {
          const [split = "", index] = (given.task ?? "").split("/");
          const { private: hidden } = await context.tasks.get(split, Number(index));
          return change(await environment.reset(given), hidden as unknown as Hidden);
        },
      };
    },
  };
}

test.each(ENVIRONMENTS.map(({ id }) => id))(
  "%s shows private texts that are observation, question or choice, and has no finding",
  async (id) => {
    expect(await defectsOf(ENVIRONMENTS.find((each) => each.id === id) as EnvironmentDefinition)).toEqual([]);
  },
);

const asBase64 = (text: string): string => Buffer.from(text).toString("base64");
const rot13 = (text: string): string =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97));

const LEAKS: readonly (readonly [name: string, id: string, change: Change, message: string])[] = [
  [
    "the answer in info",
    "choices@1",
    (first, { answer }) => ({ ...first, info: { key: answer } }),
    "`private.answer` of 24 of 24 tasks can be read in `info.key` before the first action, as it is",
  ],
  [
    "the answer in a tool",
    "choices@1",
    (first, { answer }) => ({
      ...first,
      tools: [{ name: "check", description: `Compares with ${rot13(answer)}.`, parameters: { type: "object" } }],
    }),
    "`tools[0].description` before the first action, in ROT13",
  ],
  [
    "the plan of a world",
    "rooms@1",
    (first, { solution }) => ({ ...first, info: { state: asBase64(JSON.stringify(solution)) } }),
    "`info.state` before the first action, in base64",
  ],
  [
    "where the key is",
    "rooms@1",
    (first, { world }) => ({ ...first, info: { hash: Buffer.from(world.key).toString("hex") } }),
    "`private.world.key` of 24 of 24 tasks can be read in `info.hash` before the first action, in hexadecimal",
  ],
  [
    "where the chest is",
    "rooms@1",
    (first, { world }) => ({ ...first, info: { hash: [...world.chest].reverse().join("") } }),
    "before the first action, backwards",
  ],
];

test.each(LEAKS)("%s is found", async (_name, id, change, message) => {
  expect(await defectsOf(showing(id, change))).toEqual([expect.stringContaining(message)]);
});
