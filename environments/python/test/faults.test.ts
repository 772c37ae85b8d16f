import { describe, expect } from "@jest/globals";
import { bareEnvironment } from "@mrlm/testing";
import { python } from "../src/index.ts";
import { faulty, textOf } from "./support/play.ts";
import { pythonTest as test } from "./support/python.ts";

const pidOf = (text: string): number => Number(/pid (\d+)/.exec(text)?.[1]);
const unscored = (code: string, message: RegExp) => ({
  observation: { agent: "" },
  rewards: { agent: { scored: false, code, message: expect.stringMatching(message) } },
  truncated: { agent: true },
});

describe("a process", () => {
  test("serves many episodes, and what they print is no message", async () => {
    const begin = await faulty("Faulty");
    const episodes = await Promise.all(Array.from({ length: 20 }, () => begin()));
    expect(new Set(episodes.map(({ first }) => pidOf(first))).size).toBe(1);
    for (const episode of episodes.slice(0, 10)) await episode.act("go");
    expect(await Promise.all(episodes.map(async (each) => textOf(await each.act("go"))))).toEqual([
      ...Array.from({ length: 10 }, () => "step 2"),
      ...Array.from({ length: 10 }, () => "step 1"),
    ]);
    expect(textOf(await episodes[0]!.act("read"))).toBe("''");
  });

  test("that exits leaves its episodes unscored with its code and the end of its output, and the next one gets a new process", async () => {
    const begin = await faulty("Faulty", { kwargs: { case: "exit" } });
    const [one, other] = [await begin(), await begin()];
    const waiting = other.act("go");
    const lost = unscored("BRIDGE_LOST", /ended with code 9\..*about to leave/s);
    expect(await one.act("exit 9")).toMatchObject(lost);
    // The answer to the other one was written before.
    expect(textOf(await waiting)).toBe("step 1");
    expect(await other.act("go")).toMatchObject(unscored("BRIDGE_LOST", /ended with code 9/));
    const next = await begin();
    expect(pidOf(next.first)).not.toBe(pidOf(one.first));
    expect(await next.act("win")).toMatchObject({ rewards: { agent: { value: 1 } }, terminated: { agent: true } });
  });

  test("that crashes, or is killed while idle, is replaced too", async () => {
    const begin = await faulty("Faulty", { kwargs: { case: "crash" } });
    const first = await begin();
    expect(await first.act("crash")).toMatchObject(unscored("BRIDGE_LOST", /ended by SIGSEGV/));
    const second = await begin();
    process.kill(pidOf(second.first), "SIGKILL");
    const third = await begin();
    expect(pidOf(third.first)).not.toBe(pidOf(second.first));
    expect(await second.act("go")).toMatchObject(unscored("BRIDGE_LOST", /ended by SIGKILL/));
    expect(textOf(await third.act("go"))).toBe("step 1");
  });

  test("that ends in the middle of a message is one that has ended", async () => {
    const begin = await faulty("Faulty", { kwargs: { case: "half" } });
    expect(await (await begin()).act("half")).toMatchObject(unscored("BRIDGE_LOST", /ended/));
    expect(textOf(await (await begin()).act("go"))).toBe("step 1");
  });

  test("that hangs in a step is killed after step_seconds: that episode timed out, those behind it are lost", async () => {
    const begin = await faulty("Faulty", { step_seconds: 0.5 });
    const episodes = [await begin(), await begin(), await begin()] as const;
    // Each call has its own time, also behind others.
    const slow = await Promise.all(episodes.map((each) => each.act("sleep 0.3")));
    expect(slow.map(textOf)).toEqual(["step 1", "step 1", "step 1"]);
    const results = await Promise.all([episodes[0].act("spin"), episodes[1].act("go"), episodes[2].act("go")]);
    expect(results[0]).toMatchObject(unscored("BRIDGE_TIMEOUT", /a call of `step` took longer than 0\.5 s/));
    expect(results[1]).toMatchObject(unscored("BRIDGE_LOST", /was killed/));
    expect(results[2]).toMatchObject(unscored("BRIDGE_LOST", /was killed/));
    expect(textOf(await (await begin()).act("go"))).toBe("step 1");
  });

  test("of which a call is aborted serves others", async () => {
    const begin = await faulty("Faulty", { kwargs: { case: "abort" } });
    const [one, other] = [await begin(), await begin()];
    const controller = new AbortController();
    const slow = one.act("sleep 0.3", controller.signal);
    controller.abort(new Error("the client has gone"));
    await expect(slow).rejects.toThrow("the client has gone");
    await one.close();
    expect(textOf(await other.act("go"))).toBe("step 1");
    expect(pidOf((await begin()).first)).toBe(pidOf(other.first));
  });
});

describe("an environment", () => {
  test.each([
    ["raise broken", /`step` raised ValueError: broken\nTraceback.*faulty\.py/s],
    ["quit 3", /`step` raised SystemExit: 3/],
    ["big 300000", /has 300000 characters/],
  ])("that fails by %p is unscored, others are not", async (command, message) => {
    const begin = await faulty("Faulty", { kwargs: { case: "raise" } });
    const [one, other] = [await begin(), await begin()];
    expect(await one.act(command)).toMatchObject(unscored("BRIDGE_FAILED", message));
    expect(textOf(await other.act("go"))).toBe("step 1");
    await expect(one.act("go")).rejects.toMatchObject({ code: "EPISODE_ENDED" });
  });

  test("that raises in a step or a reset is closed, also where that fails", async () => {
    const begin = await faulty("Faulty", { kwargs: { case: "close" } });
    await (await begin()).act("raise broken");
    const next = await begin();
    expect(textOf(await next.act("closed"))).toBe("1");
    await next.act("refuse");
    await expect(begin()).rejects.toMatchObject({ message: expect.stringContaining("ValueError: refused") });
    expect(textOf(await next.act("closed"))).toBe("2");
  });

  test.each(["nan", "inf", "-inf"])("that returns the reward %s is unscored", async (reward) => {
    const begin = await faulty("Faulty", { kwargs: { case: "reward" } });
    const result = await (await begin()).act(`reward ${reward}`);
    expect(result).toMatchObject(unscored("BRIDGE_REWARD_INVALID", /no finite number/));
  });

  test("is truncated after max_turns", async () => {
    const begin = await faulty("Faulty", { max_turns: 2 });
    const episode = await begin();
    expect(await episode.act("go")).toMatchObject({ truncated: {} });
    expect(await episode.act("go")).toMatchObject({ truncated: { agent: true }, rewards: { agent: { value: 0 } } });
  });
});

describe("options", () => {
  const open = (options: object) => bareEnvironment(python, { reward_range: [0, 1], ...options } as never, {});
  test("of an environment that ends its process are refused before any episode", async () => {
    await expect(faulty("Faulty", { kwargs: { fails: true } })).rejects.toMatchObject({
      code: "BRIDGE_LOST",
      message: expect.stringMatching(/ended with code 7\..*no licence found/s),
    });
  });

  test.each([
    [{ kind: "gymnasium", name: "no_such_module:make" }, "BRIDGE_FAILED", /No module named 'no_such_module'/],
    [{ kind: "gymnasium", name: "json:loads", kwargs: { a: 1 } }, "BRIDGE_FAILED", /TypeError/],
    [{ kind: "gymnasium", name: "json:loads", python: "/no/such/python" }, "BRIDGE_LOST", /could not be started/],
  ])("%j are refused", async (options, code, message) => {
    const expected = { code, message: expect.stringMatching(message) };
    await expect(
      open({ requirements: [], ...options, ...("python" in options && { requirements: undefined }) }),
    ).rejects.toMatchObject(expected);
  });

  test.each([
    { kind: "gymnasium", name: "a", requirements: ["gymnasium"] },
    { kind: "gymnasium", name: "a", requirements: ["gymnasium==1.0; python_version > '3'"] },
    { kind: "gymnasium", name: "a", agents: ["one"] },
    { kind: "pettingzoo", name: "a" },
    { kind: "gymnasium", name: "a", reward_range: [1, 0] },
    { kind: "gymnasium", name: "a", reward_range: undefined },
  ])("%j do not fit the schema", async (options) => {
    await expect(open(options)).rejects.toThrow("The options are refused");
  });
});
