/** Codes of findings about resources that remain, aborts and blocked event loops. */
export const LEAK_CODES = {
  ABORT_LATE: {
    severity: "error",
    title: "A call of the environment continues for more than 1 s after its signal was aborted.",
    fix: "Give the signal to everything that waits: `fetch`, timers of `node:timers/promises`, scorers, tools, sandboxes.",
    // It still holds what it uses.
    implies: ["RESOURCE_LEAKED", "MEMORY_LEAKED"],
  },
  EVENT_LOOP_BLOCKED: {
    severity: "warning",
    title: "A call of the environment blocks the event loop for long: all sessions of the process wait.",
    fix: "Move long computations to a worker thread, a child process or a sandbox, or do them once in `tasks`.",
  },
  MEMORY_LEAKED: {
    severity: "error",
    title: "The memory of the process grows with every episode.",
    rule: `Up to 1,350 episodes are played in 9 windows, in two rounds where the first shows a leak. It is one if the median slope between the windows is 256 bytes an episode or more, in
each half too, and the growth is 256 KiB and eight times the deviation from that line. A cache that fills is none.`,
    fix: "Keep the state of an episode in the environment that `create` returns, and remove what `reset` adds to objects outside of it.",
  },
  RESOURCE_LEAKED: {
    severity: "error",
    title: "Timers, handles, child processes, listeners or files remain after episodes, or processes after the import.",
    fix: "Release in `close` what `reset` and `step` acquire. The host calls it also after an abort and after an error. An import starts nothing.",
    implies: ["MEMORY_LEAKED"],
  },
} as const;
