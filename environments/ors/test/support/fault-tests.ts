import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit";
import { type Change, FaultyProxy, type Passed } from "./faulty-proxy.ts";
import { callOf, play } from "./play.ts";
import { bridge, serve, type Served } from "./served.ts";

const ANSWER = "7";
const ADD = callOf("add", { a: 1, b: 2 });
const TASK = { task: "train/3" };

/** Registers the faults of a bridged server, each `count` times. */
export function faultTests(count: number): void {
  let served: Served;
  let proxy: FaultyProxy;
  let host: Awaited<ReturnType<typeof bridge>>;
  beforeAll(async () => {
    served = await serve();
    proxy = await FaultyProxy.start(served.url);
    host = await bridge();
  });
  beforeEach(() => {
    proxy.change = () => undefined;
  });
  afterAll(async () => {
    await host.close();
    await proxy.close();
    await served.close();
  });

  const each = async (body: (i: number) => Promise<void>): Promise<void> => {
    await Promise.all(Array.from({ length: count }, (_, i) => body(i)));
  };
  /** Plays a call and the answer, whose result ends the episode. */
  const played = (more: JsonObject = {}) =>
    play(host.open, { url: `${proxy.url}/sums@1`, ...more }, [ADD, ANSWER], TASK);
  const isAnswer = ({ path, body }: Passed): boolean => path.endsWith("/call") && body?.["name"] === "submit";
  const atAnswer = (change: (text: string, passed: Passed) => Change | undefined) => (passed: Passed, text: string) =>
    isAnswer(passed) ? change(text, passed) : undefined;
  /** Replaces a part of the output of the answer. */
  const inOutput = (change: (output: JsonObject) => JsonObject, raw?: string) =>
    atAnswer((text) => ({
      text: text.replace(/(event: end\ndata: )(.*)/, (_all, head: string, json: string) => {
        const { output } = JSON.parse(json) as { output: JsonObject };
        const changed = JSON.stringify({ ok: true, output: change(output) });
        return head + (raw === undefined ? changed : changed.replace('"@"', raw));
      }),
    }));

  test(`${count} episodes without a fault earn 1`, () =>
    each(async () => expect((await played()).rewards).toEqual([undefined, expect.objectContaining({ value: 1 })])));

  test.each<[string, string]>([
    ["NaN", "NaN"],
    ["Infinity", "Infinity"],
    ["-Infinity", "-Infinity"],
    ["a number above all doubles", "1e999"],
    ["a text", '"1"'],
    ["an object", '{"value":1}'],
  ])(`${count} rewards that are %s are unscored`, async (_name, reward) => {
    proxy.change = inOutput((output) => ({ ...output, reward: "@" }), reward);
    await each(async () => {
      const { code, steps } = await played();
      expect([code, steps.at(-1)?.truncated]).toEqual(["BRIDGE_REWARD_INVALID", { agent: true }]);
    });
  });

  test.each([
    ["null", (output: JsonObject) => ({ ...output, reward: null })],
    ["absent", ({ reward: _reward, ...output }: JsonObject) => output],
  ])(`${count} episodes whose reward is %s are unscored`, async (_name, change) => {
    proxy.change = inOutput(change);
    await each(async () => expect((await played()).code).toBe("BRIDGE_REWARD_MISSING"));
  });

  test.each([
    ["null", (output: JsonObject) => ({ ...output, reward: null })],
    ["absent", ({ reward: _reward, ...output }: JsonObject) => output],
  ])(`D19: ${count} episodes with rewards of steps, whose last one is %s, are unscored`, async (_name, change) => {
    const ending = inOutput(change);
    proxy.change = (passed, text) =>
      ending(passed, text) ??
      (passed.path.endsWith("/call") ? { text: text.replace('"reward":null', '"reward":0') } : undefined);
    await each(async () => {
      const { rewards, code } = await played();
      expect([code, rewards[0]]).toEqual(["BRIDGE_REWARD_MISSING", expect.objectContaining({ value: 0 })]);
    });
  });

  test.each<[string, (output: JsonObject) => JsonObject]>([
    ["output.blocks", ({ blocks: _blocks, ...output }) => output],
    ["output.blocks", (output) => ({ ...output, blocks: "text" })],
    ["output.finished", (output) => ({ ...output, finished: "yes" })],
    ["output.metadata", (output) => ({ ...output, metadata: [] })],
  ])(`${count} answers with a wrong %s are unscored and name it`, async (field, change) => {
    proxy.change = inOutput(change);
    await each(async () => {
      const { rewards, code } = await played();
      expect(code).toBe("BRIDGE_RESPONSE_INVALID");
      expect(rewards.at(-1)).toMatchObject({ message: expect.stringContaining(`\`${field}\``) });
    });
  });

  test(`${count} answers that are no JSON are unscored`, async () => {
    proxy.change = atAnswer(() => ({ text: "event: end\ndata: <html>\n\n" }));
    await each(async () => expect((await played()).code).toBe("BRIDGE_RESPONSE_INVALID"));
  });

  test(`${count} lists of tools of another form fail the reset with the field`, async () => {
    proxy.change = ({ path }) => (path.endsWith("/task_tools") ? { text: '{"tools":[{"name":7}]}' } : undefined);
    await each(async () => {
      await expect(played()).rejects.toMatchObject({
        code: "BRIDGE_RESPONSE_INVALID",
        message: expect.stringContaining("`tools.0.name`"),
      });
    });
  });

  test(`${count} errors of the server in a call are unscored`, async () => {
    proxy.change = atAnswer(() => ({ text: "event: task_id\ndata: 1\n\nevent: error\ndata: it broke\n\n" }));
    await each(async () =>
      expect((await played()).rewards.at(-1)).toMatchObject({
        code: "BRIDGE_FAILED",
        message: expect.stringContaining("it broke"),
      }),
    );
  });

  test(`${count} answers of status 500 are unscored`, async () => {
    proxy.change = atAnswer(() => ({ status: 500, text: "broken" }));
    await each(async () => expect((await played()).code).toBe("BRIDGE_FAILED"));
  });

  test(`${count} connections that break before the id of the call leave the step unscored, and no call is repeated`, async () => {
    proxy.change = atAnswer(() => "terminate");
    const before = proxy.passed.filter(isAnswer).length;
    await each(async () => expect((await played()).code).toBe("BRIDGE_LOST"));
    expect(proxy.passed.filter(isAnswer).length - before).toBe(count);
  });

  test(`${count} connections that break after the id of the call are replaced, and the answer earns 1`, async () => {
    proxy.change = atAnswer((text, { body }) =>
      body?.["task_id"] === undefined ? { cutTo: text.indexOf("event: end") + 20 } : undefined,
    );
    await each(async () => expect((await played()).rewards.at(-1)).toMatchObject({ value: 1 }));
  });

  test(`${count} connections that break again and again leave the step unscored`, async () => {
    proxy.change = atAnswer((text) => ({ cutTo: text.indexOf("event: end") }));
    await each(async () => expect((await played()).code).toBe("BRIDGE_LOST"));
  });

  test(`${count} slow steps are unscored, and the next episode begins`, async () => {
    proxy.change = atAnswer(() => "silence");
    await each(async () => expect((await played({ timeouts: { step_ms: 300 } })).code).toBe("BRIDGE_TIMEOUT"));
    proxy.change = () => undefined;
    expect((await played()).rewards.at(-1)).toMatchObject({ value: 1 });
  });

  test(`${count} slow resets fail with BRIDGE_TIMEOUT`, async () => {
    proxy.change = ({ path }) => (path.endsWith("/task_tools") ? "silence" : undefined);
    await each(async () => {
      await expect(played({ timeouts: { reset_ms: 300 } })).rejects.toMatchObject({ code: "BRIDGE_TIMEOUT" });
    });
  });

  test(`${count} servers that start are waited for`, async () => {
    const refused = new Map<unknown, number>();
    const headers = { "retry-after": "0", "x-backend-state": "starting" };
    proxy.change = ({ path, body }) => {
      if (!path.endsWith("/create")) return undefined;
      const times = refused.get(body?.["index"]) ?? 0;
      refused.set(body?.["index"], times + 1);
      return times < 2 ? { status: 503, text: "{}", headers } : undefined;
    };
    await each(async (i) => {
      const task = `train/${i % 40}`;
      const { rewards } = await play(host.open, { url: `${proxy.url}/sums@1` }, [ADD, String(2 * (i % 40) + 1)], {
        task,
      });
      expect(rewards.at(-1)).toMatchObject({ value: 1 });
    });
  });

  test(`${count} sessions that the server has ended leave the step unscored`, () =>
    each(async () => {
      const own = await serve({ leaseMs: 200 });
      const { code } = await play(host.open, { url: `${own.url}/sums@1` }, [ADD, ANSWER], {
        ...TASK,
        between: (turn) => (turn === 1 ? new Promise((resolve) => setTimeout(resolve, 900)) : undefined),
      });
      expect(code).toBe("BRIDGE_LOST");
      await own.close();
    }));

  test(`${count} servers that end in mid-episode: unscored, and resets wait until they are there again`, () =>
    each(async () => {
      const own = await serve();
      const { port } = own.server;
      const url = `${own.url}/sums@1`;
      const { code } = await play(host.open, { url }, [ADD, ANSWER], {
        ...TASK,
        between: async (turn) => (turn === 1 ? own.close() : undefined),
      });
      expect(code).toBe("BRIDGE_LOST");
      const later = play(host.open, { url }, [ADD, ANSWER], TASK);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const next = await serve({ address: `127.0.0.1:${port}` });
      expect((await later).rewards.at(-1)).toMatchObject({ value: 1 });
      await next.close();
    }));

  test(`${count} servers that restart between steps: the session is unknown and the step unscored`, () =>
    each(async () => {
      let own = await serve();
      const { port } = own.server;
      const { code } = await play(host.open, { url: `${own.url}/sums@1` }, [ADD, ANSWER], {
        ...TASK,
        between: async (turn) => {
          if (turn !== 1) return;
          await own.close();
          own = await serve({ address: `127.0.0.1:${port}` });
        },
      });
      expect(code).toBe("BRIDGE_LOST");
      await own.close();
    }));

  test("a server that is not there fails with its address", async () => {
    const own = await serve();
    await own.close();
    const refused = play(host.open, { url: `${own.url}/sums@1`, timeouts: { reset_ms: 300 } }, []);
    await expect(refused).rejects.toMatchObject({
      code: "BRIDGE_UNREACHABLE",
      message: expect.stringContaining(own.url),
    });
  });

  test(`${count} aborted steps end at once`, async () => {
    proxy.change = atAnswer(() => "silence");
    await each(async () => {
      const session = await host.open({ url: `${proxy.url}/sums@1` });
      const { agent } = await session.reset({ signal: new AbortController().signal, ...TASK });
      const controller = new AbortController();
      const message = { role: "assistant", parts: [{ type: "text", text: ANSWER }] } as const;
      const step = session.step({ agent, message, finishReason: "stop" }, { signal: controller.signal });
      setTimeout(() => controller.abort(), 50);
      await expect(step).rejects.toMatchObject({ code: "CANCELLED" });
      await session.close();
    });
  });
}
