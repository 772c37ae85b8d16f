import {
  isObject,
  type JsonObject,
  type JsonValue,
  MrlmError,
  type Tool,
  type ToolCallOptions,
  type ToolResult,
  type Toolset,
  type ToolsetEpisode,
} from "@mrlm/spec";
import { jsonSchemaOf, type Schema } from "./json-schema.ts";

/** Tool without its name, which is its key in a toolset. */
export type UnnamedTool = Omit<Tool, "name">;

/** Tools with their names, or by their names; `undefined` stands for a tool that an episode does not have. */
export type Tools = readonly Tool[] | Readonly<Record<string, UnnamedTool | undefined>>;

/** Arguments that a schema of parameters allows. */
type ArgumentsOf<Parameters> = Parameters extends Schema<infer Output> ? Output : JsonObject;

/** Definition of a tool. */
interface ToolInput<Parameters> extends Omit<UnnamedTool, "call" | "parameters"> {
  /** Schema of zod or another library, whose output `execute` receives, or a JSON Schema; default: no arguments. */
  readonly parameters?: Parameters;
  /**
   * Runs a call. A text is the result as it is, any other JSON value as JSON. A failure that concerns the policy is `toolError(TEXT)`; a thrown error means that
   * the tool is broken: the reward of the step becomes unscored (TOOL_FAILED).
   */
  execute(
    args: ArgumentsOf<Parameters>,
    options: ToolCallOptions,
  ): JsonValue | ToolResult | Promise<JsonValue | ToolResult>;
}

const NO_ARGUMENTS: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/** Returns a tool. The host refuses arguments that do not fit the parameters, with a result that states the faults. */
export function tool<Parameters extends JsonObject | Schema<unknown> = JsonObject>({
  parameters: schema,
  execute,
  ...rest
}: ToolInput<Parameters>): UnnamedTool {
  const run = async (args: unknown, options: ToolCallOptions): Promise<ToolResult> =>
    resultOf(await execute(args as ArgumentsOf<Parameters>, options));
  if (schema === undefined || !isSchema(schema)) return { ...rest, parameters: schema ?? NO_ARGUMENTS, call: run };
  return {
    ...rest,
    parameters: parametersOf(schema),
    async call(args, options) {
      const parsed = await schema["~standard"].validate(args);
      if (parsed.issues === undefined) return run(parsed.value, options);
      const faults = parsed.issues.map(({ path = [], message }) => {
        const place = path.map((part) => `.${String(typeof part === "object" ? part.key : part)}`).join("");
        return `arguments${place}: ${message}`;
      });
      return toolError(`Invalid arguments: ${faults.slice(0, 5).join("; ")}.`);
    },
  };
}

/** Returns the result of a call that failed for a reason that concerns the policy. */
export function toolError(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Returns the toolset of these tools: the same for all episodes, or a function that creates those of one episode with their state. */
export function toolset(tools: Tools | ((episode: ToolsetEpisode) => Tools | Promise<Tools>)): Toolset {
  const opened = (list: readonly Tool[]) => ({ tools: list, close: async () => undefined });
  if (typeof tools === "function") return { open: async (episode) => opened(withNames(await tools(episode))) };
  const shared = opened(withNames(tools));
  return { definitions: shared.tools, open: async () => shared };
}

function withNames(tools: Tools): readonly Tool[] {
  if (isList(tools)) return tools;
  return Object.entries(tools).flatMap(([name, each]) => (each === undefined ? [] : [{ name, ...each }]));
}

function isList(tools: Tools): tools is readonly Tool[] {
  return Array.isArray(tools);
}

function isSchema(parameters: JsonObject | Schema<unknown>): parameters is Schema<unknown> {
  return "~standard" in parameters;
}

/** Returns the JSON Schema that policies read: without the name of the draft. */
function parametersOf(schema: Schema<unknown>): JsonObject {
  const parameters = jsonSchemaOf(schema, "draft-07");
  if (parameters?.["type"] !== "object")
    throw new MrlmError(
      "PLUGIN_INVALID",
      parameters === undefined
        ? "The schema of a tool's parameters has no JSON Schema, which policies read."
        : `The parameters of a tool are an object, and the schema describes ${JSON.stringify(parameters["type"] ?? "several types")}.`,
      { hint: "Use z.object or z.strictObject of zod 4, or give the parameters as JSON Schema." },
    );
  const { $schema: _, ...rest } = parameters;
  return rest;
}

function resultOf(value: JsonValue | ToolResult): ToolResult {
  if (isObject(value) && Array.isArray(value["content"]) && typeof value["isError"] === "boolean")
    return value as unknown as ToolResult;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return { content: [{ type: "text", text }], isError: false };
}
