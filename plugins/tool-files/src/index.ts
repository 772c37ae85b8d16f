/** File tools for policies: the toolset `files@1`. */
import { definePlugin } from "@mrlm/kit";
import { z } from "zod";
import { FilesToolset } from "./files-toolset.ts";

const MIB = 2 ** 20;

const options = z
  .strictObject({
    bytes: z
      .int()
      .min(0)
      .max(1024 * MIB)
      .default(16 * MIB)
      .describe("Bytes of all files of an episode"),
    file_bytes: z
      .int()
      .min(0)
      .max(64 * MIB)
      .default(MIB)
      .describe("Bytes of one file"),
    entries: z.int().min(1).max(100_000).default(1_000).describe("Files and directories of an episode"),
    depth: z.int().min(1).max(64).default(16).describe("Names of a path"),
    directory: z.string().min(1).optional().describe("Existing directory in which the roots are created"),
    output_bytes: z.int().min(1_024).max(MIB).default(32_768).describe("UTF-8 bytes of a result"),
  })
  .prefault({});

export default definePlugin({
  name: "@mrlm/tool-files",
  options,
  tools: {
    "files@1": (_context, { file_bytes, output_bytes, ...quota }) =>
      new FilesToolset({ ...quota, fileBytes: file_bytes, outputBytes: output_bytes }),
  },
  examples: {
    options: ({ directory }) => ({ directory }),
    tools: {
      "files@1": {
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
      },
    },
  },
});
