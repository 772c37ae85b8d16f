import { tool, toolError, type Toolset, toolset } from "@mrlm/kit";
import { z } from "zod";

/** Options of the plugin, in the section `plugins` of a configuration. */
export const options = z
  .strictObject({ max_notes: z.int().min(1).max(1_000).default(20).describe("Notes of an episode") })
  .prefault({});
type Options = z.output<typeof options>;

const decode = (content: string | Uint8Array): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** Returns the toolset: a function that creates the tools of one episode. The notes are in its closure, so that no other episode can reach them. */
export function notes({ max_notes }: Options): Toolset {
  return toolset(({ files = {} }) => {
    // The notes begin with the files of the task.
    const contents = new Map(Object.entries(files).map(([path, content]) => [path, decode(content)]));
    return {
      write_note: tool({
        description: "Writes a note. It replaces an earlier note with the same title.",
        parameters: z.strictObject({ title: z.string().min(1).max(100), content: z.string() }),
        execute({ title, content }) {
          if (!contents.has(title) && contents.size >= max_notes)
            return toolError(`There are ${contents.size} notes, the most that an episode may have. Replace one.`);
          contents.set(title, content);
          return `${contents.size} notes.`;
        },
      }),
      read_notes: tool({
        description: "Returns all notes, in the order of their titles.",
        execute() {
          const sorted = [...contents].toSorted(([a], [b]) => (a < b ? -1 : 1));
          return sorted.map(([title, content]) => `# ${title}\n${content}`).join("\n\n") || "No notes.";
        },
      }),
    };
  });
}
