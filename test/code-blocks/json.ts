import { parseManifest } from "@mrlm/runtime";
import { z } from "zod";
import type { CodeBlock } from "./blocks.ts";

const names = z.record(z.string(), z.string());

/** Fields of a package.json that pages show. The manifest of a plugin has a reader of its own. */
const packageJson = z.strictObject({
  name: z.string().optional(),
  version: z.string().optional(),
  private: z.boolean().optional(),
  type: z.literal("module").optional(),
  keywords: z.array(z.string()).optional(),
  files: z.array(z.string()).optional(),
  scripts: names.optional(),
  dependencies: names.optional(),
  devDependencies: names.optional(),
  peerDependencies: names.optional(),
  allowScripts: z.record(z.string(), z.boolean()).optional(),
  mrlm: z.record(z.string(), z.unknown()).optional(),
});

const headers = names.optional();
/** Settings of MCP clients. */
const mcpSettings = z.union([
  z.strictObject({ servers: z.record(z.string(), z.strictObject({ type: z.literal("http"), url: z.url(), headers })) }),
  z.strictObject({
    mcpServers: z.record(
      z.string(),
      z.union([
        z.strictObject({ url: z.url(), headers }),
        z.strictObject({ command: z.string(), args: z.array(z.string()) }),
      ]),
    ),
  }),
]);

/** Row of the data of `tools@2`. */
const toolsRow = z.strictObject({
  question: z.string(),
  answer: z.union([z.string(), z.number()]),
  required_tools: z.array(z.union([z.string(), z.array(z.string())])).optional(),
  files: names.optional(),
  scorer: z.string().optional(),
  answer_schema: z.string().optional(),
  id: z.string().optional(),
});

/** Returns what is wrong with a JSON block: its syntax, or that it is neither a package.json, nor settings of an MCP client, nor a row of data. */
export function jsonFaults({ code }: CodeBlock): string[] {
  let value: unknown;
  try {
    value = JSON.parse(code.replaceAll(/^\s*\/\/.*$/gm, ""));
  } catch (error) {
    return [(error as Error).message];
  }
  if (mcpSettings.safeParse(value).success || toolsRow.safeParse(value).success) return [];
  const parsed = packageJson.safeParse(value);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  const { name = "shown", mrlm } = parsed.data;
  if (mrlm === undefined) return [];
  try {
    // A block can show a part of a manifest.
    parseManifest({ name }, { apiVersion: 1, entry: "./index.js", provides: ["environment:shown@1"], ...mrlm });
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
