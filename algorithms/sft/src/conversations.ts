import { textMessage } from "@mrlm/kit";
import { type AlgorithmContext, type JsonValue, type Message, MrlmError, type SupervisedSequence, type ToolDefinition } from "@mrlm/spec";
import { z } from "zod";
import type { SftOptions } from "./options.ts";

/** Indexable conversations; an index is always the same one. */
export interface Conversations {
  readonly size: number;
  get(indices: readonly number[]): Promise<readonly SupervisedSequence[]>;
}

const message = z.object({ role: z.enum(["system", "user", "assistant", "tool"]), content: z.string() });
const row = z.union([z.object({ messages: z.array(message).min(2) }), z.object({ prompt: z.union([z.string(), z.array(message).min(1)]), completion: z.string() })]);

/** Conversations of a JSONL file. Each row is checked before training begins. */
export async function conversationsFromFile(context: AlgorithmContext, path: string): Promise<Conversations> {
  const rows = (await context.rows(path)).map((value, index) => toMessages(value, path, index + 1));
  return {
    size: rows.length,
    get: async (indices) => indices.flatMap((index) => context.renderer.supervise(rows[index] as Message[])),
  };
}

/** The environments' own demonstrations: environment e has a share of the indices in proportion to its weight. */
export function conversationsFromEnvironments(context: AlgorithmContext, options: SftOptions): Conversations {
  const sources = context.environments.map((environment) => ({
    environment,
    size: Math.min(options.demonstrations ?? Number.POSITIVE_INFINITY, environment.splits["train"] ?? 0),
  }));
  const total = sources.reduce((sum, source) => sum + source.size, 0);
  return {
    size: total,
    async get(indices) {
      const wanted = sources.map(() => [] as string[]);
      for (const index of indices) {
        let rest = index;
        const at = sources.findIndex((source) => (rest -= source.size) < 0);
        wanted[at]?.push(`train/${rest + (sources[at]?.size ?? 0)}`);
      }
      const found = await Promise.all(sources.map(({ environment }, at) => (wanted[at]?.length ? environment.demonstrate(wanted[at]) : [])));
      return found.flat().flatMap((demonstration) => context.renderer.supervise(demonstration.messages, demonstration.tools as readonly ToolDefinition[] | undefined));
    },
  };
}

function toMessages(value: JsonValue, path: string, line: number): Message[] {
  const parsed = row.safeParse(value);
  if (!parsed.success) {
    throw new MrlmError("DATA_INVALID", `${path}:${line} is neither {messages} nor {prompt, completion}: ${z.prettifyError(parsed.error)}`);
  }
  if ("messages" in parsed.data) return parsed.data.messages.map(({ role, content }) => textMessage(role, content));
  const { prompt, completion } = parsed.data;
  const asked = typeof prompt === "string" ? [textMessage("user", prompt)] : prompt.map(({ role, content }) => textMessage(role, content));
  return [...asked, textMessage("assistant", completion)];
}
