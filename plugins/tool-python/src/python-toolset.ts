import type { JsonObject, OpenToolset, Sandbox, Tool, ToolDefinition, Toolset, ToolsetEpisode } from "@mrlm/kit";
import type { SandboxLimits } from "@mrlm/kit/options";
import { durationText, memoryText } from "./amounts.ts";
import { EpisodeSession } from "./episode-session.ts";

/** Calls of one turn may wait for each other. */
const SHORTEST_TIMEOUT_MS = 30_000;
/** Time of a call beyond the limit of its code, which the sandbox enforces. */
const MARGIN_MS = 5000;
/** The longest trace of an error and the texts of the tool, in bytes. */
const OTHER_BYTES = 64 * 1024;

/** Options of {@link PythonToolset}. */
export interface PythonToolOptions {
  /** Milliseconds without a call after which the session of an episode is closed. */
  readonly idleMs: number;
  /** Limits of one call; `memoryBytes` of the session. Default: those of the sandbox. */
  readonly limits?: Partial<SandboxLimits>;
}

/** Toolset with the tool `python`, which runs code in a session of the episode. */
export class PythonToolset implements Toolset {
  readonly definitions: readonly ToolDefinition[];
  readonly #sandbox: Sandbox;
  readonly #limits: SandboxLimits;
  readonly #idleMs: number;

  constructor(sandbox: Sandbox, { idleMs, limits }: PythonToolOptions) {
    this.#sandbox = sandbox;
    this.#limits = { ...sandbox.limits, ...limits };
    this.#idleMs = idleMs;
    this.definitions = [definitionOf(this.#limits, idleMs)];
  }

  async open({ files = {} }: ToolsetEpisode): Promise<OpenToolset> {
    const session = new EpisodeSession(this.#sandbox, { files, limits: this.#limits, idleMs: this.#idleMs });
    const { wallMs, outputBytes } = this.#limits;
    const tool: Tool = {
      ...(this.definitions[0] as ToolDefinition),
      timeoutMs: Math.max(SHORTEST_TIMEOUT_MS, wallMs + MARGIN_MS),
      // Each part of a result has a limit of its own, so that the end of a long one is not lost.
      outputBytes: 3 * outputBytes + OTHER_BYTES,
      call: ({ code }: JsonObject, options) => session.run(code as string, options),
    };
    return { tools: [tool], close: () => session.close() };
  }
}

function definitionOf({ wallMs, cpuMs, memoryBytes }: SandboxLimits, idleMs: number): ToolDefinition {
  const description = [
    "Runs Python code and returns what it prints, then the value of its last expression.",
    "Variables, imports and files are kept for later calls.",
    "The standard library is available; there is no network.",
    `A call may take ${durationText(Math.min(wallMs, cpuMs))}, and the session ${memoryText(memoryBytes)} of memory; exceeding a limit ends the session.`,
    `A session is also closed after ${durationText(idleMs)} without a call, or earlier if other sessions need its place.`,
    "Variables and files are then lost, and a result states it.",
  ].join(" ");
  return {
    name: "python",
    description,
    parameters: {
      type: "object",
      properties: { code: { type: "string", description: "Python code to run" } },
      required: ["code"],
      additionalProperties: false,
    },
  };
}
