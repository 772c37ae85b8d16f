import { afterEach, describe, expect, test } from "@jest/globals";
import { type Connected, connect, type Served, served, textOf, until, factsOf } from "./support/served.ts";

let server: Served;
const clients: Connected[] = [];

async function client(path?: string, headers: Record<string, string> = {}): Promise<Connected> {
  const connected = await connect(server.url(path), headers);
  clients.push(connected);
  return connected;
}

afterEach(async () => {
  for (const { client: each } of clients.splice(0)) await each.close();
  await server.close();
});

describe("an episode", () => {
  test("begins with the connection, takes a step for each call, and ends with finish", async () => {
    server = await served({ revealRewards: true });
    const { client: mcp } = await client("/sums@1/mcp?task=train/20&seed=5");
    expect(mcp.getInstructions()).toContain("20 + 21? (seed 5)");
    expect(mcp.getInstructions()).toContain("You have 6 turns");
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "add",
      "picture",
      "refuse",
      "break",
      "wait",
      "long",
      "grow",
      "finish",
      "observe",
    ]);
    expect(tools[2]?.inputSchema).toEqual({ type: "object" });
    const added = await mcp.callTool({ name: "add", arguments: { a: 20, b: 21 } });
    expect(added).toMatchObject({ content: [{ type: "text", text: "41" }], isError: false });
    expect(factsOf(added)).toEqual({ mrlm: { terminated: false, truncated: false, reward: -0.01, components: {} } });
    expect(server.watch.calls).toEqual([{ id: expect.stringMatching(/^[A-Za-z0-9]{9}$/), name: "add" }]);
    expect(await mcp.callTool({ name: "picture" })).toMatchObject({
      content: [{ type: "image", data: "AQID", mimeType: "image/png" }],
    });
    const finished = await mcp.callTool({ name: "finish", arguments: { answer: "41" } });
    expect(textOf(finished)).toBe("The episode has ended. Reward: 0.98.");
    expect(factsOf(finished)).toEqual({
      mrlm: {
        terminated: true,
        truncated: false,
        reward: 1,
        components: { correct: 1 },
        total: { reward: 0.98, components: { correct: 1 } },
      },
    });
    // The place is free, and the tools are closed, before the client disconnects.
    await until(() => server.watch.closed === 1);
    expect(server.sessions.stats.sessions).toBe(0);
    const late = await mcp.callTool({ name: "add", arguments: { a: 1, b: 1 } });
    expect([late.isError, textOf(late)]).toEqual([true, expect.stringContaining("The episode has ended.")]);
    expect(textOf(await mcp.callTool({ name: "observe" }))).toContain("20 + 21?");
  });

  test("sends rewards, infos and messages of faults to no client that may not have them", async () => {
    server = await served();
    const { client: mcp } = await client();
    const added = await mcp.callTool({ name: "add", arguments: { a: 1, b: 2 } });
    const broken = await mcp.callTool({ name: "break" });
    expect(factsOf(added)).toEqual({ mrlm: { terminated: false, truncated: false } });
    expect([broken.isError, textOf(broken)]).toEqual([
      true,
      "The episode has ended without a reward, because it could not be computed (TOOL_FAILED).",
    ]);
    expect(JSON.stringify([added, broken, mcp.getInstructions()])).not.toMatch(/canary|private words|reward"/);
  });

  test("leaves failures to the environment: invalid arguments, an error, an unknown tool, the limit of turns", async () => {
    server = await served();
    const { client: mcp } = await client();
    const results = [];
    for (const name of ["add", "refuse", "nothing", "add", "add", "add"])
      results.push(await mcp.callTool({ name, arguments: { a: "1" } }));
    expect(results.map((result) => [result.isError, textOf(result)])).toEqual([
      [true, expect.stringContaining("Invalid arguments of add")],
      [true, "Not today."],
      [true, expect.stringContaining('There is no tool "nothing"')],
      [true, expect.anything()],
      [true, expect.anything()],
      [true, expect.stringContaining("The episode has ended: a limit was reached.")],
    ]);
    expect(server.watch.calls).toHaveLength(6);
  });

  test("may reply to an answer; observe shows the task and the latest observation, and is no step", async () => {
    server = await served();
    const { client: mcp } = await client("/sums@1/mcp?task=train/3");
    const again = await mcp.callTool({ name: "finish", arguments: { answer: "again" } });
    expect([again.isError, textOf(again)]).toEqual([false, "Try again."]);
    const invalid = await mcp.callTool({ name: "finish", arguments: { answer: 7 } });
    expect([invalid.isError, textOf(invalid)]).toEqual([true, expect.stringContaining("answer must be a string")]);
    expect(textOf(await mcp.callTool({ name: "observe" }))).toMatch(
      /You add\.\n3 \+ 4\?.*\nLatest observation:\nTry again\.$/,
    );
    expect(server.sessions.stats.steps).toBe(1);
    const { prompts } = await mcp.listPrompts();
    const { messages } = await mcp.getPrompt({ name: prompts[0]?.name as string });
    expect(messages.map(({ content }) => (content as { text: string }).text)).toEqual([
      "You add.",
      expect.stringMatching(/^3 \+ 4\?/),
    ]);
    await expect(mcp.getPrompt({ name: "other" })).rejects.toMatchObject({ code: -32_602 });
  });

  test("announces tools that were added", async () => {
    server = await served();
    const { client: mcp, changes } = await client();
    await mcp.callTool({ name: "grow" });
    await until(() => changes() === 1);
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain("extra");
    expect(textOf(await mcp.callTool({ name: "extra" }))).toBe("extra");
  });

  test("works without tools, by the header or by the only environment of a server", async () => {
    server = await served({}, ["plain@1"]);
    const { client: mcp } = await client("/mcp");
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toEqual(["finish", "observe"]);
    const unknown = await mcp.callTool({ name: "add", arguments: {} });
    expect([unknown.isError, textOf(unknown)]).toEqual([true, expect.stringContaining("There is no tool")]);
    expect(server.sessions.stats.steps).toBe(0);
    expect(textOf(await mcp.callTool({ name: "finish", arguments: { answer: "yes" } }))).toBe("The episode has ended.");
  });

  test("falls back from protocol versions without sessions", async () => {
    server = await served();
    const connected = await connect(server.url(), {}, "auto");
    clients.push(connected);
    expect((await connected.client.listTools()).tools).toHaveLength(9);
    expect(server.sessions.stats.opened).toBe(1);
  });
});

describe("the choice of an episode", () => {
  test("is by the URL or by headers", async () => {
    server = await served();
    const [one, other] = await Promise.all([
      client("/sums@1/mcp?task=eval/7&seed=-3&options=%7B%7D&lease_ms=5000"),
      client("/sums/mcp", { "mrlm-task": "eval/7", "mrlm-seed": "-3", "mrlm-options": "{}", "mrlm-lease-ms": "5000" }),
    ]);
    expect(one.client.getInstructions()).toContain("7 + 8? (seed -3)");
    expect(other.client.getInstructions()).toBe(one.client.getInstructions());
  });

  test.each([
    ["/sums@1/mcp?task=train/1000", "TASK_NOT_FOUND", /train\/0 to train\/999/],
    ["/sums@1/mcp?task=1", "TASK_NOT_FOUND", /no task "1"/],
    ["/sums@1/mcp?seed=x", "MESSAGE_INVALID", /seed is "x"/],
    ["/sums@1/mcp?seed=1&seed=2", "MESSAGE_INVALID", /seed has several values/],
    ["/sums@1/mcp?sed=1", "MESSAGE_INVALID", /argument "sed"/],
    ["/sums@1/mcp?options=[]", "MESSAGE_INVALID", /options is not a JSON object/],
    ["/sums@1/mcp?options=%7B%22a%22:1%7D", "OPTIONS_INVALID", /options/],
    ["/sums@1/mcp?lease_ms=0", "MESSAGE_INVALID", /lease_ms is 0/],
    ["/plain@1/mcp?seed=1", "SEED_REFUSED", /takes no seed/],
    ["/summs/mcp", "ENVIRONMENT_NOT_FOUND", /Did you mean "sums"/],
    ["/mcp", "ENVIRONMENT_NOT_FOUND", /\/sums@1\/mcp or/],
    ["/duel@1/mcp", "ROLES_UNSUPPORTED", /left, right/],
    ["/clash@1/mcp", "TOOL_CONFLICT", /tool with the name "finish"/],
  ])("%s is refused as %s", async (path, code, message) => {
    server = await served();
    await expect(client(path)).rejects.toMatchObject({ message: expect.stringMatching(message), data: { code } });
    await until(() => server.sessions.stats.sessions === 0);
  });
});
