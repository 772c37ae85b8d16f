import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { completePackageJson } from "../src/package-json.ts";
import { callingPackageManager, scriptCommand } from "../src/package-manager.ts";
import { localSource, registrySource } from "../src/package-source.ts";
import { create, createProject, KINDS, main, projectName } from "../src/index.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "create-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const environment = (name: string, more: object = {}) => create({ kind: "environment", name, ...more }, folder);
const names = (path = folder): string[] => readdirSync(path).sort();

describe("a name", () => {
  test.each([
    ["my-chess", "my-chess", "my-chess"],
    ["mrlm-chess", "mrlm-chess", "chess"],
    ["@me/mrlm-chess", "mrlm-chess", "chess"],
    ["2048_game.v2", "2048_game.v2", "game-v2"],
  ])("%s", (given, directory, id) => {
    expect(projectName(given)).toEqual({ packageName: given, folder: directory, id });
  });

  test.each([
    "MyChess",
    "a".repeat(215),
    "my chess",
    "..",
    ".chess",
    "fs",
    "node_modules",
    "",
    "@me",
    "a/b",
    "../a",
    "42",
    "-x",
    "con",
    "nul.2",
    "@me/com1",
    "typescript",
    "@mrlm/cli",
  ])("%j is refused, and nothing is written", async (name) => {
    await expect(environment(name)).rejects.toMatchObject({ code: "USAGE" });
    expect(names()).toEqual([]);
  });

  test("an id that follows from any name is one of the manifest, and the folder is one below the directory", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^(@[a-z0-9-]{1,8}\/)?[a-z0-9._~-]{1,20}$/), (given) => {
        let name;
        try {
          name = projectName(given);
        } catch (error) {
          return expect(error).toMatchObject({ code: "USAGE" });
        }
        expect(name.id).toMatch(/^[a-z][a-z0-9-]*$/);
        expect(name.folder).toMatch(/^[^./][^/]*$/);
      }),
      { numRuns: 500 },
    );
  });
});

test.each(["@mrlm/chess", "mrlm"])("U13: %s is a name of mrlm itself, which the report states", async (name) => {
  expect((await environment(name)).report).toContain(`note: ${name} is a name of mrlm itself`);
  expect((await environment("go")).report).not.toContain("note:");
});

describe("a project", () => {
  test.each(
    Object.keys(KINDS).filter((kind) =>
      existsSync(new URL(`../../../templates/${kind}/_package.json`, import.meta.url)),
    ),
  )("%s: complete, with its own names only", async (kind) => {
    const { files, id } = await create({ kind, name: "@me/mrlm-chess" }, folder);
    expect(id).toBe("chess");
    for (const file of [
      "package.json",
      ".gitignore",
      "README.md",
      "LICENSE",
      ".editorconfig",
      "tsconfig.json",
      "src/index.ts",
      "mrlm.yaml",
    ])
      expect(files).toContain(file);
    expect(files.some((file) => file.startsWith(".github/workflows/"))).toBe(true);
    const project = join(folder, "mrlm-chess");
    for (const file of files)
      expect(readFileSync(join(project, file), "utf8")).not.toMatch(
        /my-(environment|tool|judge|scorer|policy|algorithm|plugin)/,
      );
    const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: "@me/mrlm-chess",
      keywords: ["mrlm-plugin"],
      mrlm: { provides: expect.arrayContaining([`${kind}:chess@1`]) },
    });
    for (const script of ["build", "test", "lint", "check", "train"]) expect(manifest.scripts).toHaveProperty(script);
  });

  test("harbor-task: a folder with the files of a task, and no package", async () => {
    const { files, report } = await create({ kind: "harbor-task", name: "count-words" }, folder);
    expect(files).toContain("tests/test.sh");
    expect(files).not.toContain("package.json");
    expect(readFileSync(join(folder, "count-words", "task.toml"), "utf8")).toContain('name = "local/count-words"');
    expect(report).toContain("mrlm check count-words");
  });

  test("keeps the beginning of a repository, and refuses a folder with anything else", async () => {
    const project = join(folder, "chess");
    mkdirSync(join(project, ".git"), { recursive: true });
    writeFileSync(join(project, "Readme.txt"), "mine");
    writeFileSync(join(project, "LICENCE"), "mine");
    const { kept } = await environment("chess");
    expect([...kept].sort()).toEqual(["LICENSE", "README.md"]);
    expect(names(project)).not.toContain("README.md");
    writeFileSync(join(folder, "notes.md"), "");
    await expect(environment("chess")).rejects.toMatchObject({
      code: "OUTPUT_INVALID",
      message: expect.stringMatching(/is not empty: it holds .*package\.json/),
    });
  });

  test("--merge keeps every file that exists", async () => {
    const project = join(folder, "chess");
    mkdirSync(join(project, "src"), { recursive: true });
    writeFileSync(join(project, "src/index.ts"), "mine");
    writeFileSync(join(project, "other.txt"), "mine");
    const { kept } = await environment("chess", { merge: true });
    expect(kept).toEqual(["src/index.ts"]);
    expect(readFileSync(join(project, "src/index.ts"), "utf8")).toBe("mine");
    expect(names(project)).toEqual(expect.arrayContaining(["package.json", "other.txt", "test"]));
  });

  test("--merge keeps a link that leads nowhere, and writes nothing where a file is in the place of a folder", async () => {
    const project = join(folder, "chess");
    mkdirSync(project);
    symlinkSync("elsewhere", join(project, "tsconfig.json"));
    writeFileSync(join(project, "test"), "mine");
    await expect(environment("chess", { merge: true })).rejects.toMatchObject({
      code: "OUTPUT_INVALID",
      message: expect.stringContaining("test is no folder"),
    });
    expect(names(project)).toEqual(["test", "tsconfig.json"]);
    rmSync(join(project, "test"));
    expect((await environment("chess", { merge: true })).kept).toEqual(["tsconfig.json"]);
    expect(readlinkSync(join(project, "tsconfig.json"))).toBe("elsewhere");
  });

  test("the name of a template within the name of the project is replaced once", async () => {
    await create({ kind: "environment", name: "@me/my-environment-2" }, folder);
    expect(JSON.parse(readFileSync(join(folder, "my-environment-2", "package.json"), "utf8"))).toMatchObject({
      name: "@me/my-environment-2",
      mrlm: { provides: ["environment:my-environment-2@1"] },
    });
  });

  test("below a file, and in a folder that cannot be written", async () => {
    writeFileSync(join(folder, "chess"), "");
    await expect(environment("chess")).rejects.toMatchObject({
      code: "OUTPUT_INVALID",
      message: expect.stringContaining("it is a file"),
    });
    await expect(create({ kind: "environment", name: "go" }, join(folder, "chess"))).rejects.toMatchObject({
      code: "OUTPUT_INVALID",
    });
    if (process.getuid?.() === 0) return;
    chmodSync(folder, 0o500);
    await expect(environment("go")).rejects.toMatchObject({
      code: "OUTPUT_INVALID",
      message: expect.stringContaining("may not write"),
    });
    chmodSync(folder, 0o700);
  });

  test("what a killed process left beside it is removed, and that of a running one stays", async () => {
    mkdirSync(join(folder, ".chess.creating-999999999"));
    mkdirSync(join(folder, `.chess.creating-${process.ppid}`));
    await environment("chess");
    expect(names()).toEqual([`.chess.creating-${process.ppid}`, "chess"]);
  });
});

describe("packages", () => {
  const template = '{"dependencies":{"zod":"4.6.7"},"devDependencies":{"@mrlm/kit":"0.1.0"}}';
  const completed = (
    node: string,
    manager: "npm" | "pnpm" | "yarn" | "bun" = "npm",
    source = registrySource("0.3.0"),
  ) => JSON.parse(completePackageJson(template, { source, manager, node }));

  test("have the version of the creator, and Node where that of the system is too old", () => {
    expect(completed("24.11.0")).toEqual({
      dependencies: { zod: "4.6.7" },
      devDependencies: { "@mrlm/kit": "0.3.0" },
      allowScripts: { "isolated-vm": false, protobufjs: false },
    });
    for (const old of ["24.10.9", "20.20.2", "18.0.0"])
      expect(completed(old)).toMatchObject({ devDependencies: { node: "24.21.0" }, allowScripts: { node: true } });
    expect(completed("26.1.0").devDependencies).not.toHaveProperty("node");
  });

  test("come from a folder of tarballs: those that others require as overrides", () => {
    for (const name of ["mrlm-kit", "mrlm-spec", "create-mrlm"]) writeFileSync(join(folder, `${name}-0.1.0.tgz`), "");
    const all = {
      "@mrlm/kit": `file:${folder}/mrlm-kit-0.1.0.tgz`,
      "@mrlm/spec": `file:${folder}/mrlm-spec-0.1.0.tgz`,
      "create-mrlm": `file:${folder}/create-mrlm-0.1.0.tgz`,
    };
    const source = localSource(folder, "npm");
    expect(completed("24.11.0", "npm", source)).toMatchObject({
      devDependencies: { "@mrlm/kit": all["@mrlm/kit"] },
      overrides: all,
    });
    expect(completed("24.11.0", "pnpm", source)).toMatchObject({ pnpm: { overrides: all } });
    expect(completed("24.11.0", "yarn", source)).toMatchObject({ resolutions: all });
    expect(() => source.specOf("@mrlm/grpo")).toThrow(/has no package @mrlm\/grpo/);
  });

  test("come from a clone that has been built", () => {
    for (const name of ["kit", "spec"]) {
      mkdirSync(join(folder, "core", name, "dist"), { recursive: true });
      writeFileSync(join(folder, "core", name, "package.json"), JSON.stringify({ name: `@mrlm/${name}` }));
    }
    writeFileSync(join(folder, "core/kit/dist/index.d.ts"), "");
    const specs = (["npm", "pnpm"] as const).map((manager) => localSource(folder, manager).specOf("@mrlm/kit"));
    expect(specs).toEqual([`file:${folder}/core/kit`, `link:${folder}/core/kit`]);
    expect(() => localSource(folder, "npm").specOf("@mrlm/spec")).toThrow(/has not been built/);
    expect(() => localSource(join(folder, "core"), "npm")).toThrow(/neither a clone of mrlm nor a folder of tarballs/);
    expect(() => localSource(join(folder, "none"), "npm")).toThrow(/there is no such file/);
  });

  test("are installed by the package manager that calls", () => {
    expect(callingPackageManager("pnpm/10.1.0 npm/? node/v24.11.0 linux x64")).toBe("pnpm");
    expect(callingPackageManager("yarn/1.22.22 npm/? node/v24")).toBe("yarn");
    expect(callingPackageManager("bun/1.3.0")).toBe("bun");
    expect([callingPackageManager("npm/11"), callingPackageManager("")]).toEqual(["npm", "npm"]);
    expect(["npm", "pnpm", "bun"].map((name) => scriptCommand(name as "npm", "check"))).toEqual([
      "npm run check",
      "pnpm check",
      "bun run check",
    ]);
  });
});

test("the command: missing and wrong arguments are errors with exit code 2, and nothing is written", async () => {
  const errors: string[] = [];
  const write = jest.spyOn(process.stderr, "write").mockImplementation((text) => (errors.push(String(text)), true));
  const output = jest.spyOn(process.stdout, "write").mockImplementation(() => true);
  try {
    for (const args of [
      [],
      ["environment"],
      ["chess"],
      ["envronment", "chess"],
      ["environment", "a", "b"],
      ["--form", "x"],
      ["environment", "Chess"],
    ]) {
      expect([args, await main(args, folder)]).toEqual([args, 2]);
      expect(errors.pop()).toMatch(/^error USAGE: [^\n]+[.?]\n {2}\S/);
    }
    expect(names()).toEqual([]);
    for (const args of [["enviroment"], ["Envronment", "chess"]]) {
      expect(await main(args, folder)).toBe(2);
      expect(errors.pop()).toMatch(/^error USAGE: .*Did you mean the kind "environment"\?\n/);
    }
    expect(await main(["environment", "chess"], folder)).toBe(0);
    expect(await main(["--help"], folder)).toBe(0);
    expect(names()).toEqual(["chess"]);
    expect(output.mock.calls.map(([text]) => text).join("")).toMatch(
      /created environment in chess: \d+ files\n[^]*npm run train[^]*Usage: npm create/,
    );
  } finally {
    write.mockRestore();
    output.mockRestore();
  }
});

test("a failed installation keeps the project", async () => {
  const request = {
    kind: "environment",
    name: projectName("chess"),
    directory: folder,
    manager: "no-such-manager",
    install: true,
  };
  await expect(createProject(request as never)).rejects.toMatchObject({ code: "INSTALL_FAILED" });
  expect(names(join(folder, "chess"))).toContain("package.json");
});
