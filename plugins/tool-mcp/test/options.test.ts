import { describe, expect, test } from "@jest/globals";
import { barePluginContext } from "@mrlm/testing";
import fc from "fast-check";
import { mcpOptions } from "../src/options.ts";
import { McpToolset } from "../src/toolset.ts";
import { toolNames } from "../src/offered-tools.ts";
import { expand, redactorOf } from "../src/variables.ts";
import { recordingLogger, scripted, toolset } from "./support/toolset.ts";

/** Faults of options, as `path: message`. */
function faults(options: unknown): string[] {
  const result = mcpOptions.safeParse(options);
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("options", () => {
  test("a toolset without a server is refused when it is needed", async () => {
    await expect(McpToolset.create(barePluginContext(), mcpOptions.parse({ mcpServers: {} }))).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      hint: expect.stringContaining("mcpServers"),
    });
  });

  test("the shapes of other clients are accepted", () => {
    process.env["MCP_TEST_KEY"] = "key";
    expect(
      faults({
        mcpServers: {
          a: {
            command: "node",
            args: ["x.js", "--key", "${MCP_TEST_KEY}"],
            env: { API_KEY: "${env:MCP_TEST_KEY}" },
            cwd: ".",
          },
          b: { type: "stdio", command: "node" },
          c: {
            type: "http",
            url: "https://${MCP_TEST_HOST:-example.org}/mcp",
            headers: { Authorization: "Bearer ${MCP_TEST_KEY}" },
          },
          d: { type: "sse", url: "http://localhost:1/sse" },
          e: { url: "http://localhost:1/mcp", description: "any transport" },
          f: { command: "no-such-command", disabled: true },
        },
      }),
    ).toEqual([]);
    delete process.env["MCP_TEST_KEY"];
  });

  test.each([
    [{ mcpServers: { s: {} } }, "mcpServers.s.command: is missing; or give a url"],
    [{ mcpServers: { s: { command: "no-such-cmd" } } }, 'mcpServers.s.command: there is no command "no-such-cmd"'],
    [{ mcpServers: { s: { command: "/no/such" } } }, 'mcpServers.s.command: there is no command "/no/such"'],
    [{ mcpServers: { s: { type: "http" } } }, "mcpServers.s.url: is missing for type http"],
    [{ mcpServers: { s: { url: "ftp://x" } } }, "mcpServers.s.url: is no http or https URL"],
    ...["http://a:b@x", "http://x/?api_key=abc", "http://x/?v=1&token=${HOME}abc", "http://x/?token=${T:-abc}"].map(
      (url): [object, string] => [
        { mcpServers: { s: { url } } },
        "mcpServers.s.url: has a secret, and configurations are copied into runs: write ${NAME}",
      ],
    ),
    [
      { mcpServers: { s: { command: "node", url: "http://x" } } },
      "mcpServers.s.url: stands beside a command: a server has one of them",
    ],
    [
      { mcpServers: { s: { command: "node", env: { X: "${NO_SUCH}" } } } },
      "mcpServers.s.env.X: the environment variable NO_SUCH is not set",
    ],
    [
      { mcpServers: { s: { url: "http://x", headers: { authorization: "Bearer x" } } } },
      "mcpServers.s.headers.authorization: is a secret, and configurations are copied into runs: write ${NAME}",
    ],
    ...["Bearer ${HOME} x", "Bearer ${X_TOKEN:-x}", "${HOME:-x}"].map((authorization): [object, string] => [
      { mcpServers: { s: { url: "http://x", headers: { authorization } } } },
      "mcpServers.s.headers.authorization: is a secret, and configurations are copied into runs: write ${NAME}",
    ]),
    [
      { mcpServers: { s: { command: "node", env: { GITHUB_TOKEN: "x" } } } },
      "mcpServers.s.env.GITHUB_TOKEN: is a secret, and configurations are copied into runs: write ${NAME}",
    ],
    [
      { mcpServers: { s: { command: "node", args: ["--api-key", "x"] } } },
      "mcpServers.s.args.1: is a secret, and configurations are copied into runs: write ${NAME}",
    ],
    [
      { mcpServers: { s: { command: "node", args: ["--token=x"] } } },
      "mcpServers.s.args.0: is a secret, and configurations are copied into runs: write ${NAME}",
    ],
    [
      { mcpServers: { s: { command: "node", args: ["${input:key}"] } } },
      "mcpServers.s.args.0: ${input:key} is no variable: write ${NAME} or ${NAME:-default}",
    ],
    [{ mcpServers: { s: { command: "node" } }, servers: { t: {} } }, "servers.t: is no server of mcpServers; known: s"],
    [
      { mcpServers: { s: { command: "node", args: ["${MRLM_EPISODE_DIR}"] } }, servers: { s: { shared: true } } },
      "mcpServers.s.args.0: ${MRLM_EPISODE_DIR} is one episode's, and the server is shared",
    ],
    [
      { mcpServers: { s: { url: "http://x/${MRLM_EPISODE_DIR}" } } },
      "mcpServers.s.url: ${MRLM_EPISODE_DIR} is for servers with a command",
    ],
  ])("%j", (options, fault) => {
    expect(faults(options)).toEqual([fault]);
  });

  test.each([
    { url: "http://a:${HOME}@x/?api_key=${HOME}" },
    { url: "http://x", headers: { authorization: "Bearer ${HOME}", cookie: "session=${HOME}; id=${USER:-}" } },
    { command: "node", env: { MAX_TOKENS: "512", API_KEY: "${HOME}" }, args: ["--api-key", "${HOME}"] },
  ])("a secret from a variable is accepted: %j", (server) => {
    expect(faults({ mcpServers: { s: server } })).toEqual([]);
  });

  test("a tool that the server does not list is an error with the place of its name", async () => {
    const starting = toolset({ mcpServers: { s: scripted() }, servers: { s: { tools: ["echo", "ecko"] } } });
    await expect(starting).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining('servers.s.tools.1: server s has no tool "ecko"; it has: echo, '),
    });
    const some = await toolset({ mcpServers: { s: scripted() }, servers: { s: { tools: ["echo"] } } });
    expect(some.definitions.map(({ name }) => name)).toEqual(["s__echo"]);
    await some.close();
  });
});

describe("names", () => {
  test("names that policies cannot spell are replaced, differ, and are reported", async () => {
    const logger = recordingLogger();
    const tools = await toolset({ mcpServers: { "my server": scripted("--odd-names") } }, logger);
    const names = tools.definitions.map(({ name }) => name);
    expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("my_server__gr__e");
    expect(logger.lines.join()).toContain("is spaced.name of my server");
    await tools.close();
  });

  test("property: names can be spelled by every format, and distinct tools have distinct names", () => {
    const word = fc.oneof(fc.string({ maxLength: 80 }), fc.constantFrom("a", "a_", "a__b", "b", "__", "."));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(word, word), { selector: (pair) => pair.join("\0") }), (pairs) => {
        const names = toolNames(pairs.map(([server, tool]) => ({ server, tool })));
        expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
        expect(new Set(names).size).toBe(names.length);
      }),
    );
  });

  test("a name does not depend on the order of servers and tools", () => {
    const tools = [
      { server: "a", tool: "b__c" },
      { server: "a__b", tool: "c" },
      { server: "a", tool: "x".repeat(80) },
    ];
    const names = toolNames(tools);
    expect(new Set(names).size).toBe(3);
    expect(toolNames(tools.toReversed())).toEqual(names.toReversed());
    const twin = { server: "a", tool: "b" };
    expect(toolNames([twin, twin])).toEqual(["a__b", "a__b"]);
  });
});

describe("variables", () => {
  test("values, defaults and unknown names", () => {
    expect(expand("${A}-${env:A}-${B:-b}-${A:-x}-${C}", { A: "a" })).toBe("a-a-b-a-${C}");
  });

  test("a redactor hides the value in its usual encodings, the longest value first", () => {
    const value = 'long secret/"value"';
    const redact = redactorOf(["${X} ${LONG} ${HOME} ${ONE}"], {
      X: "long secret",
      LONG: value,
      HOME: "/root",
      ONE: "1",
    });
    const encoded = [encodeURIComponent(value), Buffer.from(value).toString("base64"), JSON.stringify({ value })];
    expect(redact(`${value} /root 1 long secret ${encoded.join(" ")}`)).toBe(
      '[LONG] /root 1 [X] [LONG] [LONG] {"value":"[LONG]"}',
    );
  });
});
