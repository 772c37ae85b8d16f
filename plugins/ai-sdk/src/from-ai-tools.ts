import { randomUUID } from "node:crypto";
import { type JsonObject, MrlmError, tool, type ToolCallOptions, toolError, type ToolResult } from "@mrlm/kit";
import { asSchema, type ToolSet } from "ai";
import { contentOf, type ModelOutput, textOf } from "./tool-content.ts";

type AiTool = ToolSet[string];

/**
 * Returns the tools of a ToolSet by name, for `toolset` or `tools` of an environment. The policy reads what a model of the AI SDK reads: the JSON Schema of the
 * input, the output of `toModelOutput`, and the message of an error that `execute` throws. An MrlmError remains one: the tool is broken. `execute` receives
 * the signal of the call and no messages. Throws PLUGIN_INVALID for a tool that only a provider, a client or a context can run.
 */
export async function fromAiTools(tools: ToolSet): Promise<Record<string, ReturnType<typeof tool>>> {
  const entries = Object.entries(tools).map(async ([name, each]) => [name, await fromAiTool(name, each)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function fromAiTool(name: string, aiTool: AiTool): Promise<ReturnType<typeof tool>> {
  const { description = "", execute, contextSchema } = aiTool;
  if (execute === undefined)
    throw invalid(name, "has no execute function", "Give it one: an environment runs its tools itself");
  if (typeof description === "function" || contextSchema !== undefined)
    throw invalid(name, "needs a context", "Create the tool with its context in the function that executes it");
  const schema = asSchema(aiTool.inputSchema);
  const { $schema: _, ...parameters } = (await schema.jsonSchema) as JsonObject;
  return tool({
    description,
    parameters,
    async execute(args, options) {
      const parsed = await schema.validate?.(args);
      if (parsed?.success === false) return toolError(`Invalid arguments of ${name}: ${parsed.error.message}`);
      const input: unknown = parsed === undefined ? args : parsed.value;
      const toolCallId = randomUUID();
      try {
        const output = await lastOutput(
          execute(input, { toolCallId, messages: [], abortSignal: options.signal, context: {} }),
          options,
        );
        return resultOf((await aiTool.toModelOutput?.({ toolCallId, input, output })) ?? outputOf(output));
      } catch (error) {
        if (options.signal.aborted || MrlmError.isInstance(error)) throw error;
        // With the name of its class, as in the AI SDK.
        return toolError(String(error));
      }
    },
  });
}

/** Returns the result of a tool. Each earlier output of a generator is progress. */
async function lastOutput(running: unknown, { progressed }: ToolCallOptions): Promise<unknown> {
  if (typeof running !== "object" || running === null || !(Symbol.asyncIterator in running)) return await running;
  let last: unknown;
  for await (const output of running as AsyncIterable<unknown>) {
    progressed?.();
    last = output;
  }
  return last;
}

function outputOf(output: unknown): ModelOutput {
  return typeof output === "string"
    ? { type: "text", value: output }
    : { type: "json", value: (output ?? null) as JsonObject };
}

function resultOf(output: ModelOutput): ToolResult {
  if (output.type === "content") return { content: output.value.map(contentOf), isError: false };
  const isError = output.type.startsWith("error") || output.type === "execution-denied";
  return { content: [{ type: "text", text: textOf(output) }], isError };
}

function invalid(name: string, fact: string, action: string): MrlmError {
  return new MrlmError("PLUGIN_INVALID", `The tool "${name}" of the AI SDK ${fact}.`, {
    hint: `${action}, or leave it out.`,
  });
}
