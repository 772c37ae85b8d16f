import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin, toolset } from "@mrlm/kit";
import type { MrlmError, Plugin } from "@mrlm/spec";
import type { PluginManifest } from "@mrlm/spec/host";
import { z } from "zod";
import { configuredPlugins, LocalHost, parseConfig, PluginHost } from "@mrlm/runtime";
import { located } from "../src/config/located.ts";
import { counterEnvironment } from "./support/counter-environment.ts";

const projects: string[] = [];
let project = "";

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "mrlm-plugins-"));
  projects.push(project);
});
afterAll(() => projects.forEach((directory) => rmSync(directory, { recursive: true, force: true })));

const MANIFEST: PluginManifest = { apiVersion: 1, entry: "./index.js", provides: ["scorer:exact@1"] };
const ENTRY = `export default { apiVersion: 1, name: "exact", scorers: { "exact@1": () => ({ score: async () => ({}) }) } }`;

function projectWith(
  packages: Record<string, { mrlm?: unknown; entry?: string }>,
  dependencies = Object.keys(packages),
  field = "dependencies",
): void {
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "project", [field]: Object.fromEntries(dependencies.map((name) => [name, "*"])) }),
  );
  for (const [name, { mrlm, entry = ENTRY }] of Object.entries(packages)) {
    const directory = join(project, "node_modules", name);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "package.json"), JSON.stringify({ name, version: "1.2.3", type: "module", mrlm }));
    writeFileSync(join(directory, "index.js"), entry);
  }
}

const discover = (plugins?: Parameters<typeof PluginHost.discover>[0]["plugins"]) =>
  PluginHost.discover({ directory: project, ...(plugins ? { plugins } : {}) });
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: MrlmError) => error,
  );

describe("discovery", () => {
  test.each(["dependencies", "devDependencies", "optionalDependencies"])(
    "finds direct %s with a manifest and runs none of their code",
    async (field) => {
      projectWith({ exact: { mrlm: MANIFEST, entry: "throw new Error('ran')" }, lodash: {} }, undefined, field);
      const host = await discover();
      expect(host.registry.entries.map(({ name, version }) => `${name} ${version}`)).toEqual(["exact 1.2.3"]);
      expect(host.registry.ids("scorer")).toEqual(["exact@1"]);
    },
  );

  test("U13: finds the project itself, unless the config leaves it out", async () => {
    writeFileSync(
      join(project, "package.json"),
      JSON.stringify({ name: "exact", version: "2.0.0", type: "module", mrlm: MANIFEST }),
    );
    writeFileSync(join(project, "index.js"), ENTRY);
    const host = await discover();
    expect(host.registry.entries.map(({ name, version }) => `${name} ${version}`)).toEqual(["exact 2.0.0"]);
    expect(await host.service("scorer", "exact", "environment x@1")).toBeDefined();
    expect((await discover({ exact: false })).registry.entries).toEqual([]);
    expect((await discover({ "./": {} })).registry.ids("scorer")).toEqual(["exact@1"]);
  });

  test("never looks at packages that are merely installed", async () => {
    projectWith({ exact: { mrlm: MANIFEST }, hidden: { mrlm: { ...MANIFEST, provides: ["scorer:hidden@1"] } } }, [
      "exact",
    ]);
    expect((await discover()).registry.ids("scorer")).toEqual(["exact@1"]);
    expect((await discover({ hidden: true })).registry.ids("scorer")).toEqual(["exact@1", "hidden@1"]);
  });

  test("starts at the nearest package.json above the directory, and takes paths", async () => {
    projectWith({ exact: { mrlm: MANIFEST } });
    const nested = join(project, "a", "b");
    mkdirSync(nested, { recursive: true });
    expect((await PluginHost.discover({ directory: nested })).registry.ids("scorer")).toEqual(["exact@1"]);
    expect(
      (
        await PluginHost.discover({
          directory: tmpdir(),
          relativeTo: nested,
          plugins: { "../../node_modules/exact": true },
        })
      ).registry.ids("scorer"),
    ).toEqual(["exact@1"]);
  });

  test("a dependency that is not installed is passed over; the config can leave one out", async () => {
    projectWith({ exact: { mrlm: MANIFEST } }, ["exact", "absent"]);
    expect((await discover({ exact: false })).registry.entries).toEqual([]);
  });
});

describe("each failure has its own code, names the plugin and has a hint", () => {
  const cases: [string, string, { mrlm?: unknown; entry?: string }, RegExp][] = [
    [
      "an api version from the future",
      "PLUGIN_API_VERSION",
      { mrlm: { ...MANIFEST, apiVersion: 2, entry: 7 } },
      /exact was made for version 2/,
    ],
    ["no api version", "PLUGIN_API_VERSION", { mrlm: { entry: "./index.js" } }, /exact declares no apiVersion/],
    ["an unknown key in the manifest", "PLUGIN_INVALID", { mrlm: { ...MANIFEST, provide: [] } }, /exact.*provide/],
    [
      "a provision without a version",
      "PLUGIN_INVALID",
      { mrlm: { ...MANIFEST, provides: ["scorer:exact"] } },
      /exact.*mrlm\.provides\.0/,
    ],
    [
      "a provision of an unknown kind",
      "PLUGIN_INVALID",
      { mrlm: { ...MANIFEST, provides: ["oracle:exact@1"] } },
      /exact.*mrlm\.provides\.0/,
    ],
    [
      "an entry outside the package",
      "PLUGIN_INVALID",
      { mrlm: { ...MANIFEST, entry: "../x.js" } },
      /exact.*mrlm\.entry/,
    ],
    [
      "a requirement of an unknown kind",
      "PLUGIN_INVALID",
      { mrlm: { ...MANIFEST, requires: ["oracle:exact@1"] } },
      /exact.*mrlm\.requires\.0/,
    ],
  ];
  test.each(cases)("%s: %s", async (_name, code, content, message) => {
    projectWith({ exact: content });
    const error = await failure(discover());
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error?.hint.length).toBeGreaterThan(10);
  });

  const loading: [string, string, string, RegExp][] = [
    ["an entry that throws", "PLUGIN_LOAD_FAILED", "throw new Error('boom')", /exact.*boom/],
    ["no default export", "PLUGIN_INVALID", "export const x = 1", /exact has no default export/],
    [
      "an export of another api version",
      "PLUGIN_API_VERSION",
      "export default { apiVersion: 9, name: 'exact' }",
      /exact was made for version 9/,
    ],
    [
      "a manifest and an export that disagree",
      "PLUGIN_INVALID",
      "export default { apiVersion: 1, name: 'exact', scorers: { 'other@1': () => ({}) } }",
      /lists scorer:exact@1.*export has scorer:other@1/,
    ],
    [
      "a factory that throws",
      "PLUGIN_LOAD_FAILED",
      "export default { apiVersion: 1, name: 'exact', scorers: { 'exact@1': () => { throw new Error('no licence') } } }",
      /exact could not make scorer exact@1: no licence/,
    ],
  ];
  test.each(loading)("%s: %s, and only when it is needed", async (_name, code, entry, message) => {
    projectWith({ exact: { mrlm: MANIFEST, entry } });
    const host = await discover();
    expect(await failure(host.service("scorer", "exact", "environment x@1"))).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  const environment = (id: string, requires = "") =>
    `{ id: "${id}", description: "", determinism: "full", ${requires} create: () => ({}) }`;
  test.each([
    [
      "the manifest alone",
      ["scorer:exact@1"],
      [environment("a@1")],
      /disagree about `requires`: the manifest lists scorer:exact@1, which the export lacks/,
    ],
    [
      "the definition alone",
      undefined,
      [environment("a@1", 'requires: ["scorer:exact@1"],')],
      /disagree about `requires`: the export has scorer:exact@1, which the manifest does not list/,
    ],
    [
      "neither, but two environments have one id",
      undefined,
      [environment("a@1"), environment("a@1")],
      /exports environment:a@1 twice/,
    ],
  ])(
    "U7: a requirement that stands in %s is refused when the environment is loaded",
    async (_, requires, environments, message) => {
      const entry = `export default { apiVersion: 1, name: "world", environments: [${environments.join(", ")}] }`;
      projectWith({
        exact: { mrlm: MANIFEST },
        world: { mrlm: { ...MANIFEST, provides: ["environment:a@1"], ...(requires && { requires }) }, entry },
      });
      const host = await discover();
      expect(await failure(host.environment("a@1"))).toMatchObject({
        code: "PLUGIN_INVALID",
        message: expect.stringMatching(message),
      });
    },
  );

  test.each([
    ["listed", ["sandbox:python", "sandbox:javascript"], "REQUIREMENT_MISSING", /sandbox "python"/],
    [
      "not listed",
      ["sandbox:javascript"],
      "PLUGIN_INVALID",
      /a@1 requires sandbox:python \(its options\), which the manifest of plugin world does not list/,
    ],
    ["the only one", undefined, "PLUGIN_INVALID", /sandbox:python/],
  ])("U7: a sandbox that some options require, %s in the manifest", async (_, requires, code, message) => {
    const chosen =
      'own: "sandbox:python", requires() { return [{ id: this.own, asker: "its options" }, { id: "scorer:exact@1", asker: "a row" }]; },';
    const entry = `export default { apiVersion: 1, name: "world", environments: [${environment("a@1", chosen)}] }`;
    projectWith({
      exact: { mrlm: MANIFEST },
      world: { mrlm: { ...MANIFEST, provides: ["environment:a@1"], ...(requires && { requires }) }, entry },
    });
    expect(await failure(new LocalHost({ source: await discover() }).describe({ id: "a" }))).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test("a tool that runs code in a sandbox, which the manifest does not list, is refused under options that require it", async () => {
    const entry = `export default { apiVersion: 1, name: "world", environments: [${environment("a@1", 'requires: () => [{ id: "tool:runs", asker: "its options" }],')}] }`;
    projectWith({
      runs: { mrlm: { ...MANIFEST, provides: ["tool:runs@1"], requires: ["sandbox:python"] } },
      world: { mrlm: { ...MANIFEST, provides: ["environment:a@1"] }, entry },
    });
    const refused = await failure(new LocalHost({ source: await discover() }).describe({ id: "a" }));
    expect(refused).toMatchObject({ message: expect.stringMatching(/a@1 requires tool:runs .* does not list/) });
  });

  test("U7: a plugin at hand with two environments of one id is refused", async () => {
    const plugin = definePlugin({ name: "twice", environments: [counterEnvironment(), counterEnvironment()] });
    expect(await failure(PluginHost.of([plugin]))).toMatchObject({
      code: "PLUGIN_INVALID",
      message: "Plugin twice exports environment:counter@1 twice.",
    });
  });

  test("two plugins that provide the same: PLUGIN_CONFLICT", async () => {
    projectWith({ exact: { mrlm: MANIFEST }, other: { mrlm: MANIFEST } });
    expect(await failure(discover())).toMatchObject({
      code: "PLUGIN_CONFLICT",
      message: expect.stringMatching(/exact and other both provide scorer:exact@1/),
    });
    expect((await discover({ other: false })).registry.ids("scorer")).toEqual(["exact@1"]);
  });

  test("a plugin that the config names and that is not there: PLUGIN_NOT_FOUND with the nearest name", async () => {
    projectWith({ exact: { mrlm: MANIFEST } });
    expect(await failure(discover({ exect: {} }))).toMatchObject({
      code: "PLUGIN_NOT_FOUND",
      message: expect.stringContaining('Did you mean "exact"?'),
      hint: expect.not.stringContaining("npm install"),
    });
    expect(await failure(discover({ "other-plugin": {} }))).toMatchObject({
      code: "PLUGIN_NOT_FOUND",
      hint: expect.stringContaining("npm install other-plugin"),
    });
  });

  /** Discovers the plugins of a configuration that gives `exact` these options. */
  const configured = (options: string): Promise<PluginHost> => {
    const text = `model: { path: m }\nenvironments: [{ id: a@1 }]\nplugins:\n  exact: ${options}\nstages: [{ algorithm: grpo@1, steps: 1 }]\n`;
    return PluginHost.discover({ directory: project, ...configuredPlugins(parseConfig(text, { path: "run.yaml" })) });
  };

  test.each([
    ["an option", "{ limits: { size: many } }", 4, "OPTIONS_INVALID"],
    ["an unknown option", "{ limits: { size: 1 }, limit: 2 }", 4, "OPTIONS_INVALID"],
    ["an option that is not set", "{}", 4, "OPTIONS_INVALID"],
    ["a plugin that is not installed", "{ limits: { size: 1 } }\n  absent: true", 5, "PLUGIN_NOT_FOUND"],
  ])("an error about %s has its line in the configuration", async (_name, options, line, code) => {
    const schema = `{ "~standard": { version: 1, vendor: "x", validate: (value) => {
      if (value.limit !== undefined) return { issues: [{ message: "unknown", path: ["limit"] }] };
      return typeof value.limits?.size === "number" ? { value } : { issues: [{ message: "no number", path: ["limits", "size"] }] };
    } } }`;
    projectWith({ exact: { mrlm: MANIFEST, entry: ENTRY.replace("scorers:", `options: ${schema}, scorers:`) } });
    expect(await failure(configured(options))).toMatchObject({
      code,
      message: expect.stringMatching(`^run\\.yaml:${line}:\\d+: `),
    });
  });

  test.each([
    [
      "an option that only the service itself can check",
      `Object.assign(new Error("limits.size: too many"), { code: "OPTIONS_INVALID", [Symbol.for("mrlm.error")]: true,
        cause: { issues: [{ message: "too many", path: ["limits", "size"] }] } })`,
      "run.yaml:5:15: limits.size: too many",
    ],
    ["a key", 'new Error("no KEY")', "run.yaml:4:3: Plugin exact could not make scorer exact@1: no KEY"],
  ])("an error of a service about %s has its line, and not that of the environment", async (_name, thrown, message) => {
    const options = `options: { "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } }`;
    const entry = ENTRY.replace("scorers:", `${options}, scorers:`).replace(
      /\(\) => .*/,
      `() => { throw ${thrown}; } } }`,
    );
    projectWith({ exact: { mrlm: MANIFEST, entry } });
    const host = await configured("\n    limits: { size: 9 }");
    const error = await failure(host.service("scorer", "exact@1", "a test"));
    expect(error?.message).toBe(message);
    expect(located(error, "run.yaml:2:16")).toBe(error);
  });

  test("the order is api version, form, options, requirements", async () => {
    projectWith({ exact: { mrlm: { apiVersion: 2, requires: ["nonsense"] } } });
    expect(await failure(discover({ exact: { x: 1 } }))).toMatchObject({ code: "PLUGIN_API_VERSION" });
    projectWith({ exact: { mrlm: { ...MANIFEST, requires: ["nonsense"] } } });
    expect(await failure(discover({ exact: { x: 1 } }))).toMatchObject({ code: "PLUGIN_INVALID" });
    const entry = `export default { apiVersion: 1, name: "exact", environments: [${environment("a@1", 'requires: ["tool:none@1"],')}] }`;
    projectWith({ exact: { mrlm: { ...MANIFEST, provides: ["environment:a@1"], requires: ["tool:none@1"] }, entry } });
    const unknown = { code: "OPTIONS_INVALID", message: expect.stringMatching(/exact.*"x"/) };
    expect(await failure(discover({ exact: { x: 1 } }))).toMatchObject(unknown);
    const host = new LocalHost({ source: await discover() });
    expect(await failure(host.describe({ id: "a" }))).toMatchObject({
      code: "REQUIREMENT_MISSING",
      message: expect.stringContaining('requires tool "none@1"'),
    });
  });

  test("the requirements of an environment that is not used are not looked for", async () => {
    const entry = `export default { apiVersion: 1, name: "exact", environments: [${environment("a@1", 'requires: ["tool:none@1"],')}, ${environment("b@1")}] }`;
    projectWith({
      exact: {
        mrlm: { ...MANIFEST, provides: ["environment:a@1", "environment:b@1"], requires: ["tool:none@1"] },
        entry,
      },
    });
    expect(await new LocalHost({ source: await discover() }).describe({ id: "b" })).toMatchObject({ id: "b@1" });
  });
});

test("what some options need is looked for under those options", async () => {
  const picky = counterEnvironment({
    requires: (_context, { goal }) =>
      goal > 5 ? [{ id: "sandbox:python", asker: `counter@1 with goal: ${goal}` }] : [],
  });
  const host = new LocalHost({ source: await PluginHost.of([definePlugin({ name: "picky", environments: [picky] })]) });
  await host.open({ id: "counter" });
  expect(await failure(host.open({ id: "counter", options: { goal: 9 } }))).toMatchObject({
    code: "REQUIREMENT_MISSING",
    message: expect.stringContaining('Counter@1 with goal: 9 requires sandbox "python"'),
  });
});

describe("services", () => {
  const plugin = (made: unknown[]): Plugin<any> =>
    definePlugin<{ size: number }>({
      name: "services",
      options: z.strictObject({ size: z.int().default(3) }),
      environments: [counterEnvironment({ requires: ["tool:ruler@1"] })],
      tools: {
        "ruler@1": (_context, options) => (
          made.push(options),
          toolset([
            { name: "ruler", description: "", parameters: {}, call: async () => ({ content: [], isError: false }) },
          ])
        ),
      },
    });

  test("are made once, with the plugin's validated options, when an environment first needs them", async () => {
    const made: unknown[] = [];
    const host = new LocalHost({ source: await PluginHost.of([plugin(made)], { plugins: { services: { size: 5 } } }) });
    expect(made).toEqual([]);
    await Promise.all([host.open({ id: "counter" }), host.open({ id: "counter", options: { goal: 9 } })]);
    expect(made).toEqual([{ size: 5 }]);
  });

  test("an environment whose requirement is not provided is refused, with the nearest name", async () => {
    const incomplete = definePlugin({
      name: "incomplete",
      environments: [counterEnvironment({ requires: ["tool:rule@1"] })],
    });
    const host = new LocalHost({ source: await PluginHost.of([incomplete, { ...plugin([]), environments: [] }]) });
    expect(await failure(host.describe({ id: "counter" }))).toMatchObject({
      code: "REQUIREMENT_MISSING",
      message: expect.stringContaining('Did you mean "ruler@1"?'),
      hint: expect.not.stringContaining("npm install"),
    });
  });
});
