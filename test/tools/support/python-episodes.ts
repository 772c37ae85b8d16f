import { setTimeout as delay } from "node:timers/promises";
import {
  defineEnvironment,
  definePlugin,
  messageText,
  observe,
  randomStream,
  singleStep,
  textMessage,
} from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import sandboxPython from "@mrlm/sandbox-python";
import { score, type ToolResult } from "@mrlm/spec";
import toolPython from "@mrlm/tool-python";
import { z } from "zod";

/** Limit of a step, shorter than the waits for a session: these must not count. */
const STEP_MS = 20_000;

/** Environment that runs each action as Python. */
const environment = defineEnvironment({
  id: "python-calls@1",
  description: "Runs each message in the Python tool.",
  determinism: "full",
  options: z.strictObject({}),
  requires: ["tool:python@1"],
  deadlines: { stepMs: STEP_MS },
  create: (context) => {
    let call: (code: string, signal: AbortSignal) => Promise<ToolResult>;
    return {
      async reset({ seed = 0, signal }) {
        const { tools } = await context.tools("python@1").open({ seed, signal });
        call = async (code, stop) => (await tools[0]?.call({ code }, { signal: stop })) as ToolResult;
        return observe([]);
      },
      async step({ message }, { signal }) {
        const { content, isError } = await call(messageText(message), signal);
        const text = `${isError ? "ERROR " : ""}${content[0]?.type === "text" ? content[0].text : ""}`;
        return singleStep({ messages: [textMessage("user", text)], reward: score(0) });
      },
    };
  },
});

/** Counts of a play of episodes. */
export interface PythonPlay {
  readonly finished: number;
  /** Messages of steps that had no reward. */
  readonly unscored: readonly string[];
  /** Calls whose result reported a lost state. */
  readonly lost: number;
  /** Calls with a value that is neither that of the episode's state nor that of a new session. */
  readonly wrong: readonly string[];
}

/** Plays episodes in which a model calls Python three times and waits before each call. */
export async function playPython(given: {
  readonly sandbox: Readonly<Record<string, number | string>>;
  readonly episodes: number;
  readonly concurrency: number;
  /** Longest time before a call. */
  readonly thinkMs: number;
}): Promise<PythonPlay> {
  const { sandbox, episodes, concurrency, thinkMs } = given;
  const source = await PluginHost.of(
    [definePlugin({ name: "test", environments: [environment] }), toolPython, sandboxPython],
    {
      plugins: { [sandboxPython.name]: sandbox },
    },
  );
  const host = new LocalHost({ source });
  const play = { finished: 0, unscored: [] as string[], lost: 0, wrong: [] as string[] };
  const { signal } = new AbortController();
  let next = 0;
  const playNext = async (): Promise<void> => {
    for (let episode = next++; episode < episodes; episode = next++) {
      const random = randomStream("think", episode);
      const session = await host.open({ id: "python-calls@1" });
      let { agent } = await session.reset({ seed: episode, signal });
      let expected = episode * 1000;
      for (let turn = 0; turn < 3; turn++) {
        await delay(random.next() * thinkMs);
        const code = `x = globals().get('x', ${episode * 1000}) + 1\nx`;
        const { observation, rewards } = await session.step(
          { agent, message: textMessage("assistant", code), finishReason: "stop" },
          { signal },
        );
        agent = observation.agent;
        const [reward] = Object.values(rewards);
        if (reward?.scored !== true) {
          play.unscored.push(`${reward?.code}: ${reward?.message}`);
          break;
        }
        const text = observation.messages.map(messageText).join("");
        const isLost = text.startsWith("[The state of earlier calls was lost: other sessions needed its place.");
        if (isLost) play.lost++;
        expected = isLost ? episode * 1000 + 1 : expected + 1;
        if (text.split("\n").at(-1) !== String(expected)) play.wrong.push(`${text} in place of ${expected}`);
        if (turn === 2) play.finished++;
      }
      await session.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, playNext));
    return play;
  } finally {
    await host.close();
  }
}
