import { traced } from "@mrlm/kit/service";
import { MrlmError, type Workspace, type WorkspaceOptions, type Workspaces } from "@mrlm/spec";
import type { PhaseClock } from "./phase-clock.ts";
import { queuedCalls } from "./queued-sandbox.ts";
import type { SessionTools } from "./session-tools.ts";

/**
 * Returns a provider of workspaces for the environment of a session. A wait for a place is as that for a session of a sandbox. A workspace is closed with its
 * episode, however that ends.
 */
export function episodeWorkspaces(
  id: string,
  workspaces: Workspaces,
  { clock, tools }: { readonly clock: PhaseClock; readonly tools: SessionTools },
): Pick<Workspaces, "limits" | "sockets" | "open"> {
  const { withQueue, run } = queuedCalls(clock);
  /** Episode of the last workspace: one that holds a workspace does not wait without end for another. */
  let holding: number | undefined;
  return {
    get limits() {
      return workspaces.limits;
    },
    get sockets() {
      return workspaces.sockets;
    },
    async open(options = {}): Promise<Workspace> {
      const { episode } = tools;
      const open = (own: WorkspaceOptions): Promise<Workspace> => workspaces.open({ ...options, ...own });
      const workspace = await traced(
        "workspace open",
        () => ({ "mrlm.workspace": id }),
        () => (holding === episode ? open(withQueue({ ...options })) : run(options, open)),
      );
      holding = episode;
      if (tools.episode === episode) {
        tools.keep(id, workspace);
        return workspace;
      }
      await workspace.close();
      throw new MrlmError("CANCELLED", `A workspace of ${id} was opened after its episode had ended.`);
    },
  };
}
