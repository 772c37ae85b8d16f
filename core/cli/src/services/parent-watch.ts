import { rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { endProcesses } from "./end-processes.ts";

/** Process of plugins whose parent may end before it. */
export interface Orphan {
  /** Process that started this one. */
  readonly parent: number;
  /** Folder of temporary files, which the parent would have removed. */
  readonly temporary: string;
}

/** Ends this process, what it started and its temporary files when its parent has ended, however that ended: by a kill too. */
export function watchParent(orphan: Orphan): void {
  const file = import.meta.url.endsWith(".ts") ? "../parent-watch-worker.ts" : "./parent-watch-worker.js";
  const watch = new Worker(new URL(file, import.meta.url), {
    workerData: orphan,
    env: {},
    execArgv: ["--no-warnings"],
    name: "mrlm-parent-watch",
  });
  watch.unref();
}

/** Removes the temporary files, and kills this process and what it started. */
export function endOrphan({ temporary }: Orphan): void {
  try {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // A process that is killed next still writes to it.
  }
  endProcesses(process.pid, temporary);
}
