import { expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, MrlmError, type ScriptedPolicy } from "@mrlm/spec";
import { counterEnvironment, never } from "./support/counter-environment.ts";
import { localHost } from "./support/rollouts.ts";

const replying =
  (text: string): ScriptedPolicy =>
  (_context, options, seed) => ({
    act: async ({ agent }) => ({
      agent,
      message: textMessage("assistant", `${text} ${JSON.stringify(options)} ${seed}`),
      finishReason: "stop",
    }),
  });
const scriptedPolicies: NonNullable<EnvironmentDefinition["scriptedPolicies"]> = {
  optimal: replying("best"),
  random: (context, _options, seed) => ({
    act: async ({ agent }) => ({
      agent,
      message: textMessage("assistant", String(context.random("guess", seed).integer(0, 999))),
      finishReason: "stop",
    }),
  }),
  picky: () => {
    throw new MrlmError("OPTIONS_INVALID", 'The policy picky takes no option "depth".');
  },
  broken: () => {
    throw new TypeError("no table");
  },
  wordless: () => ({}) as never,
  other: () => ({ act: async () => ({ agent: "b", message: textMessage("assistant", ""), finishReason: "stop" }) }),
  spent: () => ({
    act: async ({ agent }) => ({ agent, message: textMessage("assistant", ""), finishReason: "exhausted" }),
  }),
  mute: () => ({ act: async ({ agent }) => ({ agent }) as never }),
};
const observation = { agent: "agent", messages: [] };

async function act(name: string, seed = 1): Promise<string> {
  const host = await localHost(counterEnvironment({ scriptedPolicies }));
  const policy = await host.scripted({ id: "counter" }, { name, options: { depth: 2 }, seed });
  const { message } = await policy.act(observation, { signal: never });
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

test("a scripted policy receives its options and seed, and the environment's random streams", async () => {
  expect(await act("optimal", 5)).toBe('best {"depth":2} 5');
  expect(await act("random", 5)).toBe(await act("random", 5));
  expect(await act("random", 5)).not.toBe(await act("random", 6));
});

test.each([
  ["optimol", "PLAYER_NOT_FOUND", /counter@1 has no scripted policy "optimol"\. Did you mean "optimal"\?/],
  ["constructor", "PLAYER_NOT_FOUND", /"constructor"/],
  ["picky", "OPTIONS_INVALID", /no option "depth"/],
  ["broken", "ENVIRONMENT_FAILED", /"broken" of environment counter@1 threw in its creation: TypeError: no table/],
  ["wordless", "ENVIRONMENT_FAILED", /"wordless" of environment counter@1 has no act\(\)/],
  ["other", "ENVIRONMENT_FAILED", /"other" .* acted as "b" while it was "agent"'s turn/],
  ["mute", "ENVIRONMENT_FAILED", /"mute" .* returned something malformed from act: message/],
])("the scripted policy %s is refused: %s", async (name, code, message) => {
  await expect(act(name)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test.each([[], [""], ["a b"], ["b#1"], ["a", "1"]])("an environment with the roles %j is refused", async (...ids) => {
  const roles = Object.fromEntries(ids.map((id) => [id, {}]));
  const host = await localHost(counterEnvironment({ roles }));
  await expect(host.describe({ id: "counter" })).rejects.toMatchObject({
    code: "PLUGIN_INVALID",
    message: expect.stringContaining("Environment counter@1 defines"),
  });
});
