import { toolsetContract } from "@mrlm/testing";
import { FilesToolset } from "../src/index.ts";

const MIB = 2 ** 20;

toolsetContract({
  name: "tool-files",
  make: (directory) =>
    new FilesToolset({ bytes: MIB, fileBytes: MIB, entries: 100, depth: 8, outputBytes: 32_768, directory }),
  files: { "notes/a.txt": "one\ntwo\n" },
  calls: [
    { tool: "read_file", args: { path: "notes/a.txt" } },
    { tool: "write_file", args: { path: "b.txt", content: "three" } },
    { tool: "list_files", args: { recursive: true } },
    { tool: "search_files", args: { text: "two" } },
    { tool: "edit_file", args: { path: "b.txt", old_text: "three", new_text: "four" } },
    { tool: "move_file", args: { from: "b.txt", to: "c.txt" } },
    { tool: "delete_file", args: { path: "c.txt" } },
  ],
  state: {
    change: { tool: "write_file", args: { path: "new.txt", content: "x" } },
    read: { tool: "list_files", args: {} },
  },
});
