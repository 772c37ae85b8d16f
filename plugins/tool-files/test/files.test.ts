import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit";
import fc from "fast-check";
import { FilesToolset } from "../src/files-toolset.ts";
import plugin from "../src/index.ts";
import { parsePath } from "../src/file-tree.ts";
import { Refused } from "../src/refused.ts";
import { Episode, limits, textOf } from "./support/episode.ts";

/** Runs calls in one episode and returns their texts. */
async function run(
  files: Record<string, string | Uint8Array>,
  calls: readonly (readonly [string, JsonObject])[],
): Promise<string[]> {
  const episode = await Episode.open(files);
  const texts: string[] = [];
  for (const [name, args] of calls) texts.push(await episode.text(name, args));
  expect(await episode.close()).toEqual([]);
  return texts;
}

describe("tools", () => {
  test("read, write, list, search, edit, move and delete", async () => {
    const texts = await run({ "notes/a.txt": "one\ntwo\nthree\n", "b.md": "Two words" }, [
      ["list_files", {}],
      ["list_files", { recursive: true }],
      ["read_file", { path: "notes/a.txt" }],
      ["read_file", { path: "./notes//a.txt", start_line: 2, lines: 1 }],
      ["search_files", { text: "two", ignore_case: true }],
      ["search_files", { text: "t", path: "notes" }],
      ["write_file", { path: "new/deep/c.txt", content: "größe" }],
      ["edit_file", { path: "new/deep/c.txt", old_text: "ö", new_text: "oe" }],
      ["read_file", { path: "new/deep/c.txt" }],
      ["edit_file", { path: "b.md", old_text: "words", new_text: "$& $' $1" }],
      ["read_file", { path: "b.md" }],
      ["move_file", { from: "new/deep", to: "moved/here" }],
      ["delete_file", { path: "notes" }],
      ["list_files", { path: "", recursive: true }],
    ]);
    expect(texts).toEqual([
      "b.md (9 bytes)\nnotes/",
      "b.md (9 bytes)\nnotes/\nnotes/a.txt (14 bytes)",
      "one\ntwo\nthree\n",
      "two\n[lines 2 to 2 of 3]",
      "b.md:1: Two words\nnotes/a.txt:2: two",
      "notes/a.txt:2: two\nnotes/a.txt:3: three",
      "Wrote 7 bytes to new/deep/c.txt.",
      "Replaced 1 occurrence in new/deep/c.txt.",
      "groeße",
      "Replaced 1 occurrence in b.md.",
      "Two $& $' $1",
      "Moved new/deep to moved/here.",
      "Deleted notes and 1 files and directories in it.",
      "b.md (12 bytes)\nmoved/\nmoved/here/\nmoved/here/c.txt (7 bytes)\nnew/",
    ]);
  });

  test.each<readonly [string, JsonObject, string]>([
    ["read_file", { path: "none" }, "none does not exist"],
    ["read_file", { path: "x/none" }, "x does not exist"],
    ["read_file", { path: "d" }, "d is a directory"],
    ["read_file", { path: "d/f/g" }, "d/f is not a directory"],
    ["read_file", { path: "d/f", start_line: 9 }, "The file has 1 lines; start_line is 9"],
    ["read_file", { path: "binary" }, "binary is not a text file"],
    ["read_file", { path: "." }, "The path names the root"],
    ["write_file", { path: "d", content: "x" }, "d is a directory"],
    ["write_file", { path: "d/f/g", content: "x" }, "d/f is not a directory"],
    ["write_file", { path: "n", content: "a\0" }, "The text contains a NUL character"],
    ["write_file", { path: "n", content: "\ud800" }, "The text contains an unpaired surrogate"],
    [
      "write_file",
      { path: "n", content: "x".repeat(10_001) },
      "The content has 10001 bytes; the limit of a file is 10000",
    ],
    ["write_file", { path: "1/2/3/4/5/6/7", content: "x" }, "The path has 7 names; the limit is 6"],
    ["edit_file", { path: "d/f", old_text: "none", new_text: "" }, "d/f does not contain the text"],
    ["edit_file", { path: "d/f", old_text: "e", new_text: "" }, "d/f contains the text 2 times"],
    [
      "edit_file",
      { path: "d/f", old_text: "e", new_text: "x".repeat(9_000), all: true },
      "the limit of a file is 10000",
    ],
    ["move_file", { from: "none", to: "x" }, "none does not exist"],
    ["move_file", { from: "d", to: "d/e" }, "d cannot be moved to itself or into itself"],
    ["move_file", { from: "d", to: "d" }, "d cannot be moved to itself or into itself"],
    ["move_file", { from: "d/f", to: "binary" }, "binary exists already"],
    ["move_file", { from: "d", to: "1/2/3/4/5/6" }, "1/2/3/4/5/6 would have paths of 7 names; the limit is 6"],
    ["delete_file", { path: "none" }, "none does not exist"],
    ["delete_file", { path: "/" }, "Absolute paths are not supported"],
    ["list_files", { path: "d/f" }, "d/f is not a directory"],
  ])("%s: error %#", async (name, args, message) => {
    const [text] = await run({ "d/f": "here", binary: new Uint8Array([0, 255]) }, [[name, args]]);
    expect(text).toMatch(/^Error: /);
    expect(text).toContain(message);
  });
});

describe("quotas", () => {
  test("bound the bytes of all files: replaced and deleted ones are free again", async () => {
    const content = "x".repeat(9_000);
    const write = (path: string): readonly [string, JsonObject] => ["write_file", { path, content }];
    const texts = await run({}, [
      write("a"),
      write("b"),
      write("c"),
      write("b"),
      ["delete_file", { path: "a" }],
      write("c"),
    ]);
    expect(texts.map((text) => text.split(" ")[0])).toEqual(["Wrote", "Wrote", "Error:", "Wrote", "Deleted", "Wrote"]);
  });

  test("bound the number of files and directories", async () => {
    const calls = Array.from({ length: 25 }, (_, i) => ["write_file", { path: `d${i}/f`, content: "" }] as const);
    const texts = await run({}, [...calls, ["list_files", { recursive: true }]]);
    expect(
      texts.filter((text) => text.startsWith("Error: There would be 42 files and directories; the limit is 40")),
    ).toHaveLength(5);
    expect(texts.at(-1)?.split("\n")).toHaveLength(40);
  });

  test("apply to the files of a task, whose paths are checked like those of a policy", async () => {
    for (const path of ["../x", "/x", "a\0", "1/2/3/4/5/6/7"]) {
      await expect(Episode.open({ [path]: "" })).rejects.toMatchObject({ code: "DATA_INVALID" });
    }
    await expect(Episode.open({ a: "x".repeat(10_001) })).rejects.toThrow('The file "a" of the task cannot be created');
  });
});

test("calls of one turn run one after the other", async () => {
  const episode = await Episode.open({ a: "1" });
  const calls = Array.from({ length: 20 }, (_, i) => episode.text("write_file", { path: "a", content: String(i) }));
  calls.push(episode.text("read_file", { path: "a" }));
  expect((await Promise.all(calls)).at(-1)).toBe("19");
  expect(await episode.close()).toEqual([]);
});

test("60 episodes at the same time have roots of their own and leave nothing", async () => {
  const toolset = new FilesToolset(limits);
  const { signal } = new AbortController();
  const countOpenFiles = (): number => readdirSync("/dev/fd").length;
  const openFiles = countOpenFiles();
  const episodes = await Promise.all(
    Array.from({ length: 60 }, (_, i) => toolset.open({ files: { id: String(i) }, signal })),
  );
  expect(countOpenFiles()).toBeLessThan(openFiles + 10);
  for (const [i, { tools, close }] of episodes.entries()) {
    expect(textOf(await tools[0]!.call({ path: "id" }, { signal }))).toBe(String(i));
    await close();
    await close();
  }
  expect(countOpenFiles()).toBe(openFiles);
  const again = await toolset.open({ files: {}, signal });
  expect(textOf(await again.tools[2]!.call({}, { signal }))).toBe("The directory is empty.");
  await again.close();
});

test("a root that another program removed fails the call, which is not an answer for the policy", async () => {
  const episode = await Episode.open();
  renameSync(episode.root, `${episode.root}-moved`);
  mkdirSync(episode.root);
  await expect(episode.call("list_files", {})).rejects.toMatchObject({ code: "TOOL_FAILED" });
  await episode.close();
});

test("a path is refused, or has only names that stay below the root", () => {
  const parts = fc.constantFrom(
    "..",
    ".",
    "/",
    "\\",
    "a",
    "b.c",
    "\0",
    "\u202e",
    "%2e",
    "~",
    " ",
    "//",
    "...",
    "．．",
    "\ud800",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(parts).map((all) => all.join("")),
      ),
      (path) => {
        let names: string[];
        try {
          names = parsePath(path, 8);
        } catch (error) {
          return expect(error).toBeInstanceOf(Refused);
        }
        expect(names.length).toBeLessThanOrEqual(8);
        for (const name of names) {
          expect(["", ".", ".."]).not.toContain(name);
          expect(name).not.toMatch(/[/\\\0]/);
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("random calls behave like a map from paths to contents", async () => {
  const name = fc.constantFrom("a", "b", "c");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const write = fc.record({
    tool: fc.constant("write_file" as const),
    path,
    content: fc.string({ maxLength: 5, unit: "grapheme-ascii" }),
  });
  const remove = fc.record({ tool: fc.constant("delete_file" as const), path });
  const move = fc.record({ tool: fc.constant("move_file" as const), from: path, to: path });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(write, remove, move), { maxLength: 12 }), async (calls) => {
      const episode = await Episode.open();
      const files = new Map<string, string>();
      for (const { tool, ...args } of calls) {
        const { isError } = await episode.call(tool, args);
        if (isError) continue;
        const call = args as { path: string; content: string; from: string; to: string };
        if (tool === "write_file") files.set(call.path, call.content);
        const old = tool === "delete_file" ? call.path : call.from;
        for (const [key, content] of [...files]) {
          if (tool === "write_file" || (key !== old && !key.startsWith(`${old}/`))) continue;
          files.delete(key);
          if (tool === "move_file") files.set(call.to + key.slice(old.length), content);
        }
      }
      for (const [key, content] of files) expect(await episode.text("read_file", { path: key })).toBe(content);
      const listed = (await episode.text("list_files", { recursive: true }))
        .split("\n")
        .filter((line) => line.endsWith("bytes)"));
      expect(listed.map((line) => line.split(" ")[0]).sort()).toEqual([...files.keys()].sort());
      expect(await episode.close()).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

test("the plugin provides what its manifest lists, and rejects unknown options", async () => {
  const { mrlm } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(Object.keys(plugin.tools ?? {}).map((id) => `tool:${id}`)).toEqual(mrlm.provides);
  const schema = plugin.options!["~standard"];
  expect(await schema.validate({})).toEqual({
    value: { bytes: 2 ** 24, file_bytes: 2 ** 20, entries: 1_000, depth: 16, output_bytes: 32_768 },
  });
  expect(await schema.validate({ root: "/" })).toHaveProperty("issues");
});
