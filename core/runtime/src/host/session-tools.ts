import { toolError } from "@mrlm/kit";
import { silentLogger, traced } from "@mrlm/kit/service";
import {
  type JsonObject,
  type Logger,
  MrlmError,
  type OpenToolset,
  type Tool,
  type ToolCallOptions,
  type ToolEpisode,
  type ToolResult,
  type Toolset,
} from "@mrlm/spec";
import type { EpisodeTools } from "@mrlm/spec/host";
import { quoted } from "../names/nearest.ts";
import { locateThrown } from "../plugins/error-location.ts";
import { withPlugin } from "../plugins/service-plugins.ts";
import { Countdown } from "./countdown.ts";
import { DEFAULT_DEADLINES } from "./deadlines.ts";
import { PhaseClock } from "./phase-clock.ts";
import { argumentFaults, limitOutput } from "./tool-call-limits.ts";
import { toolRandom } from "./tool-random.ts";

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const DEFAULT_TIMEOUT_MS = 30_000;

/** Calls of one tool in an episode. */
interface ToolUsage {
  calls: number;
  errors: number;
  truncated: number;
  seconds: number;
}

/** Open toolset of an episode, with the plugin's id. */
interface Opened {
  readonly id: string;
  readonly toolset: OpenToolset;
}

/** Tools of the episodes of one session. They are closed with the episode, however it ends. */
export class SessionTools {
  readonly #clock: PhaseClock;
  readonly #logger: Logger;
  readonly #guarded = new WeakMap<Tool, Tool>();
  #opened: Opened[] = [];
  #usage = new Map<string, ToolUsage>();
  /** Rises with each episode: a toolset that opens after its episode is closed at once. */
  #episode = 0;

  constructor(clock: PhaseClock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Returns a toolset for an environment. */
  of(id: string, toolset: Toolset): EpisodeTools {
    return {
      open: async (episode) => {
        const number = this.#episode;
        const { seed, signal } = episode;
        const opening = async (): Promise<OpenToolset> => {
          const openedToolset = await toolset.open({
            ...episode,
            random: toolRandom(id, seed),
            queued: (wait) => this.#clock.paused(wait),
          });
          if (!Array.isArray(openedToolset?.tools) || typeof openedToolset.close !== "function")
            throw new TypeError("it returned no { tools, close }");
          return openedToolset;
        };
        const openedToolset = await opening().catch((error: unknown) => {
          if (signal.aborted) throw error;
          throw failed(`Toolset ${id} could not be opened`, error);
        });
        const opened = { id: withPlugin(id, toolset), toolset: openedToolset };
        if (number !== this.#episode) {
          await this.#close(opened);
          throw new MrlmError("CANCELLED", `Toolset ${id} was opened after its episode had ended.`);
        }
        this.#opened.push(opened);
        this.#toolsOf(opened);
        const toolsOf = (): readonly Tool[] => this.#toolsOf(opened);
        return {
          get tools() {
            return toolsOf();
          },
        };
      },
    };
  }

  /** Number of the episode, by which what opens after its end is recognised. */
  get episode(): number {
    return this.#episode;
  }

  /** Keeps what an environment opened for its episode, which closes it. */
  keep(id: string, opened: { close(): Promise<void> }): void {
    this.#opened.push({ id, toolset: { tools: [], close: () => opened.close() } });
  }

  /** Returns the calls of the episode so far, by tool; `undefined` if there were none. */
  usage(): JsonObject | undefined {
    return this.#usage.size === 0
      ? undefined
      : Object.fromEntries([...this.#usage].map(([name, usage]) => [name, { ...usage }]));
  }

  /** Closes the toolsets of the episode. A failure is a warning: the episode is over. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = [];
    this.#usage = new Map();
    this.#episode++;
    await Promise.all(opened.map((each) => this.#close(each)));
  }

  async #close({ id, toolset }: Opened): Promise<void> {
    try {
      await toolset.close();
    } catch (error) {
      this.#logger.warn(`Closing toolset ${id} after an episode failed.`, { error: locateThrown(error) });
    }
  }

  /** Returns the present tools of a toolset, guarded. Throws for a name that is malformed or that another open toolset has. */
  #toolsOf(opened: Opened): readonly Tool[] {
    const { tools } = opened.toolset;
    for (const { name } of tools) {
      if (!TOOL_NAME.test(name))
        throw new MrlmError("PLUGIN_INVALID", `Toolset ${opened.id} has a tool with the name ${quoted(name)}.`, {
          hint: "Names of tools have 1 to 64 letters, digits, _ and -.",
        });
      const other = this.#opened.find(
        (each) => each !== opened && each.toolset.tools.some((tool) => tool.name === name),
      );
      if (other !== undefined) throw toolConflict(name, other.id, opened.id);
    }
    const repeated = tools.find(({ name }, i) => tools.findIndex((tool) => tool.name === name) !== i);
    if (repeated !== undefined) throw toolConflict(repeated.name, opened.id, opened.id);
    return tools.map((tool) => {
      const guarded = this.#guarded.get(tool) ?? this.#guard(tool);
      this.#guarded.set(tool, guarded);
      return guarded;
    });
  }

  #guard(tool: Tool): Tool {
    const { name, description, parameters } = tool;
    return {
      name,
      description,
      parameters,
      call: async (args, options) => {
        const usage = this.#usage.get(name) ?? { calls: 0, errors: 0, truncated: 0, seconds: 0 };
        this.#usage.set(name, usage);
        const began = performance.now();
        usage.calls++;
        try {
          const faults = argumentFaults(tool, args, this.#logger);
          const result = limitOutput(
            faults === undefined
              ? await this.#traced(tool, () => this.#call(tool, args, options))
              : toolError(`Invalid arguments of ${name}: ${faults}.`),
            tool.outputBytes,
          );
          if (result.isError) usage.errors++;
          if (result.truncated === true) usage.truncated++;
          return result;
        } finally {
          usage.seconds += (performance.now() - began) / 1000;
        }
      },
    };
  }

  #traced(tool: Tool, call: () => Promise<ToolResult>): Promise<ToolResult> {
    const { name } = tool;
    const attributes = () => ({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name });
    return traced(`execute_tool ${name}`, attributes, async (span) => {
      const result = await call();
      span?.setAttribute("mrlm.tool.is_error", result.isError);
      return result;
    });
  }

  /** Calls a tool with its timeout. */
  async #call(tool: Tool, args: JsonObject, { signal }: ToolCallOptions): Promise<ToolResult> {
    const { name, timeoutMs = DEFAULT_TIMEOUT_MS, maxTimeoutMs = timeoutMs } = tool;
    const late = new AbortController();
    const { promise: timedOut, resolve } = Promise.withResolvers<ToolResult>();
    const ended = Promise.withResolvers<void>();
    let advances = false;
    const expired = (): void => {
      const isAtCeiling = countdown.isAtCeiling;
      const limit = isAtCeiling ? maxTimeoutMs : timeoutMs;
      const fact = advances && !isAtCeiling ? "made no progress for" : "took longer than";
      resolve(toolError(`${name} ${fact} ${limit / 1000} s and was stopped.`));
      late.abort(new MrlmError("DEADLINE_EXCEEDED", `Tool ${name} ${fact} ${limit} ms.`));
    };
    const countdown = new Countdown(timeoutMs, expired, maxTimeoutMs);
    const progressed = (): void => {
      // From the first report the ceiling of the call holds in place of the deadline of the step.
      if (!advances && maxTimeoutMs > timeoutMs) void this.#clock.paused(() => ended.promise);
      advances = true;
      countdown.restart(timeoutMs);
    };
    const onAbort = (): void => late.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const queued = async <T>(wait: () => Promise<T>): Promise<T> => {
      countdown.pause();
      try {
        return await this.#clock.paused(wait);
      } finally {
        countdown.resume();
      }
    };
    const calling = async (): Promise<ToolResult> =>
      assertResult(await tool.call(args, { signal: late.signal, queued, progressed }));
    const work = calling().catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw failed(`Tool ${name} failed`, error);
    });
    // After a timeout the call may still reject.
    work.catch(() => undefined);
    try {
      return await Promise.race([work, timedOut]);
    } finally {
      countdown.stop();
      ended.resolve();
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** Creates the error of two tools with one name. */
export function toolConflict(name: string, one: string, other: string): MrlmError {
  return new MrlmError(
    "TOOL_CONFLICT",
    one === other
      ? `Toolset ${one} has two tools with the name ${quoted(name)}.`
      : `Toolsets ${one} and ${other} both have a tool with the name ${quoted(name)}.`,
    {
      hint: "A policy calls tools by their names: leave one toolset out, or rename the tool by an option of its plugin.",
    },
  );
}

/** Opens a toolset for one episode as a host does, without an environment: with validated arguments, timeouts and limits. */
export async function openEpisodeTools(
  toolset: Toolset,
  episode: ToolEpisode,
  { id = "tool@1", logger = silentLogger }: { readonly id?: string; readonly logger?: Logger } = {},
): Promise<OpenToolset> {
  const session = new SessionTools(new PhaseClock(id, DEFAULT_DEADLINES), logger);
  const opened = await session
    .of(id, toolset)
    .open(episode)
    .catch(async (error: unknown) => {
      await session.close();
      throw error;
    });
  return {
    get tools() {
      return opened.tools;
    },
    close: () => session.close(),
  };
}

/** Throws a TypeError for a value that is no result. */
function assertResult(result: ToolResult): ToolResult {
  if (!Array.isArray(result?.content) || typeof result.isError !== "boolean")
    throw new TypeError("it returned no { content, isError }");
  const isPart = (part: ToolResult["content"][number]): boolean =>
    part?.type === "text" ? typeof part.text === "string" : part?.type === "image" && typeof part.source === "object";
  if (!result.content.every(isPart)) throw new TypeError("it returned a part that is no text and no image");
  return result;
}

function failed(fact: string, cause: unknown): MrlmError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const hint = MrlmError.isInstance(cause) ? { hint: cause.hint } : {};
  return new MrlmError("TOOL_FAILED", `${fact}: ${reason}`, { cause, ...hint });
}
