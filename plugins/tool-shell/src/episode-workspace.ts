import { MrlmError, type ToolCallOptions, type ToolsetEpisode, unqueued } from "@mrlm/kit";
import type { Workspace, WorkspaceLimits, Workspaces, WorkspaceShell } from "@mrlm/spec";

/** Options of {@link EpisodeWorkspace}. */
export interface EpisodeWorkspaceOptions {
  readonly image: string | undefined;
  readonly files: NonNullable<ToolsetEpisode["files"]>;
  readonly limits: Partial<WorkspaceLimits>;
  /** Workspace of the environment, which closes it. Default: an own one. */
  readonly workspace?: Workspace | undefined;
}

/** Workspace and shell of one episode, which are opened at the first call that needs them. */
export class EpisodeWorkspace {
  readonly #workspaces: Workspaces;
  readonly #options: EpisodeWorkspaceOptions;
  readonly #closed = new AbortController();
  #opening: Promise<Workspace> | undefined;
  #shell: WorkspaceShell | undefined;
  /** Settles when the last call has ended. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(workspaces: Workspaces, options: EpisodeWorkspaceOptions) {
    this.#workspaces = workspaces;
    this.#options = options;
  }

  /** Works in the workspace after earlier calls have ended. The time until it is open counts against no limit. */
  async use<T>({ queued = unqueued }: ToolCallOptions, work: (workspace: Workspace) => Promise<T>): Promise<T> {
    this.#opening ??= this.#open();
    const opening = this.#opening;
    const workspace = await queued(() => opening);
    const used = this.#last.then(() => work(workspace));
    this.#last = used.catch(() => undefined);
    return used;
  }

  /** Returns the shell, a new one if the last has ended. */
  async shell(workspace: Workspace): Promise<WorkspaceShell> {
    if (this.#shell === undefined || this.#shell.hasEnded) this.#shell = await workspace.shell();
    return this.#shell;
  }

  /** Ends running calls, and gives the place of the workspace back. */
  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#options.workspace !== undefined) return this.#shell?.close();
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  async #open(): Promise<Workspace> {
    const { image, files, limits, workspace } = this.#options;
    if (workspace !== undefined) return workspace;
    try {
      const { signal } = this.#closed;
      return await this.#workspaces.open({ ...(image !== undefined && { image }), files, limits, signal });
    } catch (error) {
      if (!MrlmError.hasCode(error, "RESOURCE_EXHAUSTED")) throw error;
      // The message of an unscored step states what to do.
      throw new MrlmError("SANDBOX_FAILED", `${error.message} ${error.hint}`, { cause: error });
    }
  }
}
