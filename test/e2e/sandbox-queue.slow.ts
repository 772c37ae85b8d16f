import { MessageChannel } from "node:worker_threads";
import { afterAll, expect, test } from "@jest/globals";
import codePlugin, { code } from "@mrlm/environment-code";
import { definePlugin, textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost, remoteServices, serveServices } from "@mrlm/runtime";
import sandboxPlugin from "@mrlm/sandbox-javascript";
import { type Message, MrlmError, type Reward } from "@mrlm/spec";

/** Deadline of a step. The loops together take more than twice as long. */
const STEP_MS = 1_500;
const LOOP_MS = 300;
const LOOPS = 12;
const { signal } = new AbortController();

const plugins = await PluginHost.of(
  [
    definePlugin({ name: codePlugin.name as string, environments: [{ ...code, deadlines: { stepMs: STEP_MS } }] }),
    sandboxPlugin,
  ],
  { plugins: { "@mrlm/sandbox-javascript": { children: 1 } } },
);
afterAll(() => plugins.close());

/** Channel of two threads, as a server and its workers have one. */
function channelOf(port: MessageChannel["port1"]): Parameters<typeof remoteServices>[0] {
  return {
    closed: new AbortController().signal,
    send: (body) => port.postMessage(body),
    onMessage(listener) {
      port.on("message", listener);
      return () => void port.off("message", listener);
    },
  };
}

test.each(["this process", "the process of the server, as with --workers"])(
  "U4: no time in the queue of a sandbox of %s counts against the deadline of a step",
  async (where) => {
    const { port1, port2 } = new MessageChannel();
    serveServices(channelOf(port1), plugins);
    const services = where === "this process" ? plugins : remoteServices(channelOf(port2));
    const host = new LocalHost({
      source: {
        environments: () => plugins.environments(),
        environment: (name) => plugins.environment(name),
        packageOf: (id) => plugins.packageOf(id),
        service: (kind, id, asker) => services.service(kind, id, asker),
        close: async () => undefined,
      },
    });
    const [ref] = [code].map(({ id }) => ({ id, options: { language: "typescript", attempts: 1 } }));
    const [solved] = await host.demonstrate(ref as { id: string }, ["train/3"]);
    const play = async (message: Message, limits: object): Promise<Reward | string> => {
      const session = await host.open({ id: code.id, options: { ...ref?.options, limits: { ...limits } } });
      const { agent } = await session.reset({ task: "train/3", signal });
      const step = session.step({ agent, message, finishReason: "stop" }, { signal });
      const outcome = await step.then(
        ({ rewards }) => rewards[agent] as Reward,
        (error: unknown) => (MrlmError.isInstance(error) ? error.code : String(error)),
      );
      await session.close();
      return outcome;
    };
    const loop = textMessage("assistant", "```ts\nwhile (true);\n```");
    const outcomes = await Promise.all([
      ...Array.from({ length: LOOPS }, () => play(loop, { wall_ms: LOOP_MS })),
      ...Array.from({ length: 3 }, () => play(solved?.messages.at(-1) as Message, {})),
    ]);
    await host.close();
    port1.close();
    expect(outcomes).toMatchObject([
      ...Array.from({ length: LOOPS }, () => ({ scored: true, value: 0 })),
      ...Array.from({ length: 3 }, () => ({ scored: true, value: 1 })),
    ]);
  },
);
