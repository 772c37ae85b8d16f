/** Environment that runs the tool calls of each message and does nothing else, so that only the host and the tools take time. */
import { callTools, defineEnvironment, definePlugin, observe, singleStep, toolset } from "@mrlm/kit";
import type { Tool } from "@mrlm/spec";
import type { EpisodeTools } from "@mrlm/spec/host";
import { z } from "zod";

const options = z.strictObject({
  toolsets: z.array(z.string()),
  /** Whether each episode has files of its own. */
  files: z.boolean().default(false),
});

/** Words of the pages: those of an episode differ from those of the next, so that no episode can use the index of another. */
const WORDS = "river harbour granite lantern orchard copper meadow signal timber valley".split(" ");

/** Files of one episode: a site of three pages, a table and a note. */
export function filesOf(episode: number): Record<string, string> {
  const word = (i: number): string => WORDS[(episode + i) % WORDS.length] as string;
  const page = (i: number): string =>
    `<html><head><title>${word(i)} ${episode}</title></head><body><h1>${word(i)}</h1>` +
    `<p>${Array.from({ length: 60 }, (_, k) => word(i + k)).join(" ")}</p><p>The code of ${word(i)} is ${episode * 10 + i}.</p></body></html>`;
  return {
    "site/a.html": page(0),
    "site/b.html": page(1),
    "site/c.html": page(2),
    "data/table.csv": `name,value\n${Array.from({ length: 20 }, (_, k) => `${word(k)},${episode + k}`).join("\n")}\n`,
    "notes.txt": `Episode ${episode}\n`,
  };
}

/** Number of episodes with files. */
let episodes = 0;

const calls = defineEnvironment<z.output<typeof options>>({
  id: "calls@1",
  description: "Runs tool calls.",
  determinism: "none",
  options,
  requires: (_context, { toolsets }) => toolsets.map((id) => ({ id: `tool:${id}`, asker: "toolsets" })),
  deadlines: { setupMs: 600_000, stepMs: 600_000 },
  create(context, { toolsets, files }) {
    let opened: Awaited<ReturnType<EpisodeTools["open"]>>[] = [];
    const tools = (): readonly Tool[] => opened.flatMap((each) => each.tools);
    return {
      async reset({ signal }) {
        const episode = { seed: null, signal, ...(files ? { files: filesOf(episodes++) } : {}) };
        opened = await Promise.all(toolsets.map(async (id) => await context.tools(id).open(episode)));
        return observe([], { tools: tools() });
      },
      async step({ message }, { signal }) {
        return singleStep({ messages: await callTools(tools(), message, { signal }) });
      },
    };
  },
});

/** Tool in process with the same result as that of the compared MCP server. */
const echo: Tool = {
  name: "echo",
  description: "Echoes back the input string",
  parameters: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
  call: async ({ message }) => ({ content: [{ type: "text", text: `Echo: ${String(message)}` }], isError: false }),
};

export const callsPlugin = definePlugin({
  name: "@mrlm/benchmark-tools",
  environments: [calls],
  tools: { "echo@1": () => toolset([echo]) },
});
