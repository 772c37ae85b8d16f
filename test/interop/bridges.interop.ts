import { afterAll, beforeAll, expect } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { JsonObject, Message, Observation, Part, StepResult, ToolCallPart } from "@mrlm/spec";
import openenvPlugin from "../../environments/openenv/src/index.ts";
import orsPlugin from "../../environments/ors/src/index.ts";
import { testPeerServer } from "./support/peer-python.ts";

let host: LocalHost;
beforeAll(async () => {
  host = new LocalHost({ source: await PluginHost.of([openenvPlugin, orsPlugin]) });
});
afterAll(() => host.close());

const { signal } = new AbortController();

/** Episode of a test. */
interface Played {
  readonly first: Observation;
  readonly steps: readonly StepResult[];
  /** Rewards of the steps, or the code of an unscored one. */
  readonly rewards: readonly (number | string | undefined)[];
  /** Texts of all observations after the first. */
  readonly texts: readonly string[];
}

const call = (name: string, args: JsonObject): ToolCallPart => ({ type: "tool-call", id: name, name, arguments: args });

/** Plays the messages of an episode, up to its end. A message is a text, or calls of tools. */
async function play(
  id: string,
  options: JsonObject,
  messages: readonly (string | readonly ToolCallPart[])[],
  task?: string,
): Promise<Played> {
  const session = await host.open({ id, options });
  try {
    const first = await session.reset({ signal, ...(task !== undefined && { task }) });
    const steps: StepResult[] = [];
    for (const given of messages) {
      const message: Message =
        typeof given === "string" ? textMessage("assistant", given) : { role: "assistant", parts: given };
      steps.push(await session.step({ agent: first.agent, message, finishReason: "stop" }, { signal }));
      if (steps.at(-1)?.observation.agent === "") break;
    }
    return {
      first,
      steps,
      rewards: steps.map(({ rewards: { agent: reward } }) => (reward?.scored === false ? reward.code : reward?.value)),
      texts: steps.flatMap(({ observation }) => textsOf(observation.messages)),
    };
  } finally {
    await session.close();
  }
}

function textsOf(messages: readonly Message[]): string[] {
  return messages
    .flatMap((message) => message.parts)
    .flatMap((part): readonly Part[] => (part.type === "tool-result" ? part.content : [part]))
    .flatMap((part) => (part.type === "text" ? [part.text] : []));
}

const OPENENV = { folder: "test/interop/openenv", program: "server.py" };

await testPeerServer("openenv@2 plays environments of OpenEnv's own server classes", OPENENV, async (start) => {
  const { ports } = await start();
  const echo: JsonObject = { url: `http://127.0.0.1:${ports["echo"]}`, max_sessions: 1 };
  const safe: JsonObject = { url: `http://127.0.0.1:${ports["safe"]}` };

  // Without a catalogue, tasks are seeds.
  const echoed = await play("openenv@2", echo, ["one", "three", "seven"], "eval/1");
  expect(textsOf(echoed.first.messages)).toEqual(["Write something (seed 1000001)."]);
  expect(echoed).toMatchObject({ rewards: [0.3, 0.5, 0.5], texts: ["one", "three", "seven"] });
  expect(echoed.steps.at(-1)?.terminated).toEqual({ agent: true });
  // The server has one session: others wait.
  const many = await Promise.all(["a", "b", "c"].map((text) => play("openenv@2", echo, [text, text, text])));
  expect(many.map(({ rewards }) => rewards)).toEqual(Array(3).fill([0.1, 0.1, 0.1]));

  expect((await host.describe({ id: "openenv@2", options: safe })).splits).toEqual({ train: 30, eval: 5 });
  const opened = await play(
    "openenv@2",
    safe,
    [
      "Open it.",
      [call("read_digit", { place: 0 }), call("read_digit", { place: 1 })],
      [call("read_digit", { place: "x" })],
      [call("no_tool", {})],
      [call("open_safe", { code: "00" })],
      [call("open_safe", { code: "93" })],
    ],
    "eval/3",
  );
  expect(opened.first.tools).toMatchObject([
    { name: "read_digit", parameters: { required: ["place"] } },
    { name: "open_safe" },
  ]);
  expect(opened.texts.slice(0, 3)).toEqual(["Call a tool. Available tools: read_digit, open_safe.", "9", "3"]);
  expect(opened.texts.slice(-2)).toEqual(["It stays closed.", "It is open."]);
  expect(opened.rewards).toEqual([undefined, undefined, undefined, undefined, undefined, 1]);
  for (const turn of [2, 3])
    expect(opened.steps[turn]?.observation.messages).toMatchObject([{ parts: [{ isError: true }] }]);
  // The server has four sessions, and refuses others at the handshake.
  const codes = Array.from({ length: 10 }, (_, i) => [[call("open_safe", { code: `0${i}` })]]);
  const safes = await Promise.all(codes.map((calls, i) => play("openenv@2", safe, calls, `train/${i}`)));
  expect(safes.map(({ rewards }) => rewards)).toEqual(Array(10).fill([1]));

  // Faults of the server are never a reward of 0.
  expect((await play("openenv@2", echo, ["nan"])).rewards).toEqual([expect.stringMatching(/^BRIDGE_REWARD_/)]);
  expect((await play("openenv@2", echo, ["raise"])).rewards).toEqual(["BRIDGE_FAILED"]);
  const slow = { ...echo, timeouts: { step_ms: 300 } };
  expect((await play("openenv@2", slow, ["sleep"])).rewards).toEqual(["BRIDGE_TIMEOUT"]);
  expect((await play("openenv@2", safe, [[call("open_safe", { code: "99" })]])).rewards).toEqual([undefined]);
  expect((await play("openenv@2", echo, ["exit"])).rewards).toEqual(["BRIDGE_LOST"]);
});

const ORS = { folder: "test/interop/ors-sdk", program: "server.py" };

await testPeerServer("ors@2 plays an environment of ors-sdk", ORS, async (start) => {
  const { ports } = await start();
  const url = `http://127.0.0.1:${ports["higherlower"]}`;
  const options: JsonObject = { url, text_tool: "answer" };
  expect((await host.describe({ id: "ors@2", options })).splits).toEqual({ train: 20, eval: 5 });

  const found = await play(
    "ors@2",
    options,
    [
      [call("guess", { number: 50 }), call("guess", { number: 93 })],
      [call("guess", { number: "x" })],
      [call("look", {})],
      "93",
    ],
    "eval/3",
  );
  expect(textsOf(found.first.messages)).toEqual(["Find the number from 1 to 100."]);
  expect(found.first.tools).toMatchObject([{ name: "guess", parameters: { required: ["number"] } }]);
  expect(found.texts.slice(0, 2)).toEqual(["higher", "equal"]);
  expect(found.rewards).toEqual([undefined, undefined, undefined, 1]);
  for (const turn of [1, 2])
    expect(found.steps[turn]?.observation.messages).toMatchObject([{ parts: [{ isError: true }] }]);
  expect(found.steps[0]?.info).toMatchObject({ guessed: 93 });
  const played = await Promise.all(
    Array.from({ length: 20 }, (_, i) => play("ors@2", options, [String(10 + i + (i % 2))], `train/${i}`)),
  );
  expect(played.map(({ rewards }) => rewards)).toEqual(Array.from({ length: 20 }, (_, i) => [1 - (i % 2)]));
  // An answer in several chunks.
  expect((await play("ors@2", options, ["long"])).texts).toEqual(["long ".repeat(4_000)]);

  // Faults of the server are never a reward of 0.
  expect((await play("ors@2", options, ["nan"])).rewards).toEqual([expect.stringMatching(/^BRIDGE_REWARD_/)]);
  expect((await play("ors@2", options, ["none"])).rewards).toEqual(["BRIDGE_REWARD_MISSING"]);
  expect((await play("ors@2", options, ["raise"])).rewards).toEqual(["BRIDGE_FAILED"]);
  expect((await play("ors@2", options, ["exit"])).rewards).toEqual(["BRIDGE_LOST"]);
});
