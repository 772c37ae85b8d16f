import { type Tool, tool, toolError, type ToolResult } from "@mrlm/kit";
import type { ShellResult, WorkspaceLimits } from "@mrlm/spec";
import { z } from "zod";
import type { EpisodeWorkspace } from "./episode-workspace.ts";

/** Time of a call beyond the limit of its command, which the shell enforces: for a signal, then for another. */
const MARGIN_MS = 15_000;

interface BashOptions {
  readonly timeoutMs: number;
  readonly limits: WorkspaceLimits;
}

/** Returns the tool that runs commands in the shell of the episode. */
export function bashTool(episode: EpisodeWorkspace, { timeoutMs, limits }: BashOptions): Omit<Tool, "name"> {
  const seconds = timeoutMs / 1000;
  return tool({
    description: [
      "Runs commands in a bash shell and returns what they print, stdout and stderr together.",
      "The working directory, variables and background jobs (`command &`) are kept for later calls.",
      `There is no network. A call may take ${seconds} s: a command that does not end, or asks for input, is interrupted then.`,
    ].join(" "),
    parameters: z.strictObject({
      command: z.string().min(1).describe("Commands to run"),
      input: z.string().optional().describe("Text that the commands can read from their standard input"),
    }),
    // Calls of one turn wait for each other.
    timeoutMs: 4 * timeoutMs + MARGIN_MS,
    outputBytes: limits.outputBytes + 4096,
    execute: ({ command, input }, options): Promise<ToolResult> => {
      if (command.includes("\0")) return Promise.resolve(toolError("A command has no NUL character."));
      return episode.use(options, async (workspace) => {
        const shell = await episode.shell(workspace);
        const result = await shell.run(command, {
          timeoutMs,
          signal: options.signal,
          ...(input !== undefined && { stdin: input }),
        });
        return resultOf(result, shell.hasEnded, { timeoutMs, limits });
      });
    },
  });
}

function resultOf(result: ShellResult, hasEnded: boolean, options: BashOptions): ToolResult {
  const { exitCode, truncated } = result;
  const output = new TextDecoder().decode(result.output);
  const notes = [
    noteOf(result, options),
    hasEnded
      ? "The shell has ended: its working directory, variables and background jobs are lost, files are kept. The next call starts a new shell."
      : "",
  ].filter((note) => note !== "");
  const parts = [output.endsWith("\n") ? output.slice(0, -1) : output, ...notes.map((note) => `[${note}]`)];
  const text = parts.filter((part) => part !== "").join("\n");
  return {
    content: [{ type: "text", text: text === "" ? "(no output)" : text }],
    isError: exitCode !== 0,
    ...(truncated && { truncated }),
  };
}

/** Describes an end other than exit code 0. */
function noteOf({ exitCode, timedOut, limit }: ShellResult, { timeoutMs, limits }: BashOptions): string {
  const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
  const facts: Record<NonNullable<ShellResult["limit"]>, string> = {
    cpu: `The commands were stopped: they used ${limits.cpuMs / 1000} s of processor time.`,
    memory: `The commands were stopped: they need more than ${megabytes(limits.memoryBytes)} of memory.`,
    processes: `The commands were stopped: they started more than ${limits.processes} processes.`,
    "file-size": `A file is larger than ${megabytes(limits.fileBytes)}.`,
    disk: `The disk is full: files may take ${megabytes(limits.diskBytes)}.`,
  };
  const late = timedOut ? `The commands were interrupted after ${timeoutMs / 1000} s.` : "";
  const status = exitCode === null || exitCode === 0 ? "" : `exit code ${exitCode}`;
  return [late, limit === undefined ? "" : facts[limit], status].filter((fact) => fact !== "").join(" ");
}
