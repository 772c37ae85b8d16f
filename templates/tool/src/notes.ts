import type { JsonObject, Tool, ToolDefinition, ToolResult, Toolset, ToolsetEpisode } from "@mrlm/kit";
import { z } from "zod";

/** Options of the plugin, in the section `plugins` of a configuration. */
export const options = z
  .strictObject({ max_notes: z.int().min(1).max(1_000).default(20).describe("Notes of an episode") })
  .prefault({});
type Options = z.output<typeof options>;

const text = (value: string, isError = false): ToolResult => ({ content: [{ type: "text", text: value }], isError });

const parameters = (properties: Record<string, JsonObject>): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const writeNote: ToolDefinition = {
  name: "write_note",
  description: "Writes a note. It replaces an earlier note with the same title.",
  parameters: parameters({ title: { type: "string", minLength: 1, maxLength: 100 }, content: { type: "string" } }),
};

/** Tool without arguments. */
export const readNotes: ToolDefinition = {
  name: "read_notes",
  description: "Returns all notes, in the order of their titles.",
  parameters: parameters({}),
};

const decode = (content: string | Uint8Array): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** Creates the tools of one episode. Its notes are in this closure, so that no other episode can reach them. They begin with the files of the task. */
function notebook({ max_notes }: Options, { files = {} }: ToolsetEpisode): Tool[] {
  const contents = new Map(Object.entries(files).map(([path, content]) => [path, decode(content)]));
  return [
    {
      ...writeNote,
      // The host has validated the arguments.
      call: async ({ title, content }) => {
        if (!contents.has(String(title)) && contents.size >= max_notes)
          return text(`There are ${contents.size} notes, the most that an episode may have. Replace one.`, true);
        contents.set(String(title), String(content));
        return text(`${contents.size} notes.`);
      },
    },
    {
      ...readNotes,
      call: async () => {
        const sorted = [...contents].toSorted(([a], [b]) => (a < b ? -1 : 1));
        return text(sorted.map(([title, content]) => `# ${title}\n${content}`).join("\n\n") || "No notes.");
      },
    },
  ];
}

/** Returns the toolset. */
export function notes(given: Options): Toolset {
  return {
    definitions: [writeNote, readNotes],
    open: async (episode) => ({ tools: notebook(given, episode), close: async () => undefined }),
  };
}
