import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { JsonObject, JsonValue } from "@mrlm/kit";
import { FaultyProxy } from "./faulty-proxy.ts";
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

  const options = (more: JsonObject = {}): JsonObject => ({ url: `${proxy.url}/sums@1`, ...more });
  const each = async (body: (i: number) => Promise<void>): Promise<void> => {
    await Promise.all(Array.from({ length: count }, (_, i) => body(i)));
  };
  /** Plays a call and the answer. The second answer to a step is the one that a fault changes. */
  const played = (more: JsonObject = {}, between?: (turn: number) => void | Promise<void>) =>
    play(host.open, options(more), [ADD, ANSWER], { ...TASK, ...(between !== undefined && { between }) });
  /** Changes the data of observations that end an episode. */
  const atEnd = (change: (data: JsonObject) => JsonObject) => (text: string) => {
    const frame = JSON.parse(text) as { type: string; data: JsonObject };
    return frame.data["done"] === true ? { text: JSON.stringify({ ...frame, data: change(frame.data) }) } : undefined;
  };

  test(`${count} episodes without a fault earn 1`, () =>
    each(async () => {
      const { rewards } = await played();
      expect(rewards).toEqual([expect.objectContaining({ value: 0 }), expect.objectContaining({ value: 1 })]);
    }));

  test.each<[string, string]>([
    ["NaN", "NaN"],
    ["Infinity", "Infinity"],
    ["-Infinity", "-Infinity"],
    ["a number above all doubles", "1e999"],
    ["a text", '"1"'],
    ["an object", '{"value":1}'],
  ])(`${count} rewards that are %s are unscored`, async (_name, reward) => {
    proxy.change = (text) => {
      const changed = atEnd((data) => ({ ...data, reward: "@" }))(text);
      return changed && { text: changed.text.replace('"@"', reward) };
    };
    await each(async () => {
      const { code, steps } = await played();
      expect([code, steps.at(-1)?.truncated]).toEqual(["BRIDGE_REWARD_INVALID", { agent: true }]);
    });
  });

  test(`${count} episodes without any reward are unscored`, async () => {
    proxy.change = (text) => {
      const frame = JSON.parse(text) as { data: JsonObject };
      return { text: JSON.stringify({ ...frame, data: { ...frame.data, reward: null } }) };
    };
    await each(async () => expect((await played()).code).toBe("BRIDGE_REWARD_MISSING"));
  });

  test.each<[string, (data: JsonObject) => JsonObject]>([
    ["null", (data) => ({ ...data, reward: null })],
    ["absent", ({ reward: _reward, ...data }) => data],
  ])(`D19: ${count} episodes with rewards of steps, whose last one is %s, are unscored`, async (_name, change) => {
    proxy.change = atEnd(change);
    await each(async () => {
      for (const rule of ["sum", "last"]) {
        const { rewards, code, steps } = await played({ rewards: rule });
        expect([code, steps.at(-1)?.terminated]).toEqual(["BRIDGE_REWARD_MISSING", { agent: true }]);
        expect(rewards.at(-1)).toMatchObject({ message: expect.stringContaining("ended the episode by a step") });
      }
    });
  });

  test.each<[string, string, (data: JsonObject) => JsonValue]>([
    ["observation", "`observation`", ({ observation: _, ...rest }) => rest],
    ["observation", "`observation`", (data) => ({ ...data, observation: "text" })],
    ["done", "`done`", (data) => ({ ...data, done: "yes" })],
    ["metadata", "`metadata`", (data) => ({ ...data, metadata: [] })],
  ])(`${count} answers with a wrong %s are unscored and name it`, async (_name, field, change) => {
    proxy.change = atEnd(change as (data: JsonObject) => JsonObject);
    await each(async () => {
      const { rewards, code } = await played();
      expect(code).toBe("BRIDGE_RESPONSE_INVALID");
      expect(rewards.at(-1)).toMatchObject({ message: expect.stringContaining(field) });
    });
  });

  test.each([
    ["no JSON", "<html>"],
    ["no frame", "[]"],
    ["another type", '{"type":"greeting","data":{}}'],
  ])(`${count} answers that are %s are unscored`, async (_name, text) => {
    proxy.change = (given) =>
      (JSON.parse(given) as { data: JsonObject }).data["done"] === true ? { text } : undefined;
    await each(async () => expect((await played()).code).toBe("BRIDGE_RESPONSE_INVALID"));
  });

  test("an answer above 64 MiB is cut off, and its step is unscored", async () => {
    const text = "x".repeat(64 * 1_048_576 + 1);
    proxy.change = (given) =>
      (JSON.parse(given) as { data: JsonObject }).data["done"] === true ? { text } : undefined;
    const { rewards, code } = await played();
    expect(code).toBe("BRIDGE_RESPONSE_INVALID");
    expect(rewards.at(-1)).toMatchObject({ message: expect.stringContaining("is larger than 64 MiB") });
  });

  test(`${count} resets with a wrong answer fail with the field`, async () => {
    proxy.change = (text, nth) => (nth === 0 ? { text: text.replace('"done":false', '"done":0') } : undefined);
    await each(async () => {
      await expect(played()).rejects.toMatchObject({
        code: "BRIDGE_RESPONSE_INVALID",
        message: expect.stringContaining("`done`"),
      });
    });
  });

  test.each(["close", "terminate"] as const)(
    `${count} sockets that end in mid-step (%s) leave the step unscored`,
    async (change) => {
      proxy.change = (text) => ((JSON.parse(text) as { data: JsonObject }).data["done"] === true ? change : undefined);
      await each(async () => expect((await played()).code).toBe("BRIDGE_LOST"));
    },
  );

  test(`${count} sockets that end between steps are continued, and the answer earns 1`, async () => {
    for (let i = 0; i < count; i++) {
      const before = proxy.opened;
      const { rewards } = await played({}, (turn) => (turn === 1 ? lose() : undefined));
      expect(rewards.at(-1)).toMatchObject({ scored: true, value: 1 });
      expect(proxy.opened).toBeGreaterThanOrEqual(before + 2);
    }
  });

  test(`${count} sockets of another server that end between steps leave the step unscored`, async () => {
    // Only servers of mrlm state the session.
    proxy.change = (text) => ({ text: text.replaceAll('"session_id"', '"other_id"') });
    for (let i = 0; i < count; i++)
      expect(
        (
          await play(host.open, options(), [ADD, ADD], {
            ...TASK,
            between: (turn) => (turn === 1 ? lose() : undefined),
          })
        ).code,
      ).toBe("BRIDGE_LOST");
  });

  test(`${count} slow steps are unscored, and the next episode begins`, async () => {
    proxy.change = (text) => ((JSON.parse(text) as { data: JsonObject }).data["done"] === true ? "silence" : undefined);
    await each(async () => expect((await played({ timeouts: { step_ms: 300 } })).code).toBe("BRIDGE_TIMEOUT"));
    proxy.change = () => undefined;
    expect((await played()).rewards.at(-1)).toMatchObject({ value: 1 });
  });

  test(`${count} slow resets fail with BRIDGE_TIMEOUT`, async () => {
    proxy.change = () => "silence";
    await each(async () => {
      await expect(played({ timeouts: { reset_ms: 300 } })).rejects.toMatchObject({ code: "BRIDGE_TIMEOUT" });
    });
  });

  test(`${count} servers that end in mid-episode: unscored, and resets wait until they are there again`, () =>
    each(async () => {
      const own = await serve();
      const { port } = own.server;
      const url = `${own.url}/sums@1`;
      const { code } = await play(host.open, { url }, [ADD, ANSWER], {
        ...TASK,
        between: async (turn) => (turn === 1 ? own.close() : undefined),
      });
      expect(code).toMatch(/^BRIDGE_(LOST|UNREACHABLE)$/);
      const later = play(host.open, { url }, [ADD, ANSWER], TASK);
      const next = await new Promise((resolve) => setTimeout(resolve, 100)).then(() =>
        serve({ address: `127.0.0.1:${port}` }),
      );
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

  test("a server that is not there fails a reset with its address", async () => {
    const own = await serve();
    await own.close();
    const refused = play(host.open, { url: `${own.url}/sums@1`, timeouts: { reset_ms: 300 } }, []);
    await expect(refused).rejects.toMatchObject({
      code: "BRIDGE_UNREACHABLE",
      message: expect.stringContaining(own.url),
    });
  });

  test(`${count} aborted steps end at once, and their sessions end on the server`, async () => {
    proxy.change = (text) => ((JSON.parse(text) as { data: JsonObject }).data["done"] === true ? "silence" : undefined);
    await each(async () => {
      const session = await host.open(options());
      const { agent } = await session.reset({ signal: new AbortController().signal, ...TASK });
      const controller = new AbortController();
      const message = { role: "assistant", parts: [{ type: "text", text: ANSWER }] } as const;
      const step = session.step({ agent, message, finishReason: "stop" }, { signal: controller.signal });
      setTimeout(() => controller.abort(), 50);
      await expect(step).rejects.toMatchObject({ code: "CANCELLED" });
      await session.close();
    });
  });

  /** Breaks the connections, and waits until the bridge knows. */
  async function lose(): Promise<void> {
    proxy.breakAll();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
