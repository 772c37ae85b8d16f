import type { OpenToolset, Tool, ToolDefinition, Toolset, ToolsetEpisode } from "@mrlm/kit";
import type { WorkspaceLimits, Workspaces } from "@mrlm/spec";
import { bashTool } from "./bash-tool.ts";
import { editTool } from "./edit-tool.ts";
import { EpisodeWorkspace } from "./episode-workspace.ts";

/** Options of {@link ShellToolset}. */
export interface ShellToolOptions {
  readonly image?: string | undefined;
  /** Longest time of a call of `bash`. */
  readonly timeoutMs: number;
  /** Limits of the workspace. Default: those of the provider. */
  readonly limits?: Partial<WorkspaceLimits>;
}

/** Toolset with the tools `bash` and `edit`, which share a workspace of the episode. */
export class ShellToolset implements Toolset {
  readonly definitions: readonly ToolDefinition[];
  readonly #workspaces: Workspaces;
  readonly #options: ShellToolOptions;

  constructor(workspaces: Workspaces, options: ShellToolOptions) {
    this.#workspaces = workspaces;
    this.#options = options;
    const unused = new EpisodeWorkspace(workspaces, { image: undefined, files: {}, limits: {} });
    this.definitions = this.#toolsOf(unused).map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
  }

  async open({ files = {}, workspace: given }: ToolsetEpisode): Promise<OpenToolset> {
    const { image, limits = {} } = this.#options;
    const workspace = new EpisodeWorkspace(this.#workspaces, { image, files, limits, workspace: given });
    return { tools: this.#toolsOf(workspace), close: () => workspace.close() };
  }

  #toolsOf(workspace: EpisodeWorkspace): Tool[] {
    const { timeoutMs } = this.#options;
    const limits = { ...this.#workspaces.limits, ...this.#options.limits };
    return [
      { name: "bash", ...bashTool(workspace, { timeoutMs, limits }) },
      { name: "edit", ...editTool(workspace, limits.outputBytes) },
    ];
  }
}
