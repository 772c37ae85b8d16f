const FOLLOW = ["FIXTURE_DETERMINISM", "SEED_UNUSED", "SCRIPTED_POLICY_FAILED", "TRANSPORTS_DIFFER"] as const;

/** Codes of findings about determinism, and about seeds and tasks without an effect. */
export const DETERMINISM_CODES = {
  EPISODE_NOT_REPEATED: {
    severity: "error",
    title: "An episode with the same seed, task and actions is not the same again.",
    rule: `\`mrlm check\` also watches what the package's own code, with its libraries, reads in \`reset\` and \`step\`: clocks, random numbers other than \`context.random\`,
environment variables, arguments, and files that are neither the package's nor the project's. If it reads any, episodes are played with others: 77 other dates, 7 s between two
readings of a clock, extreme random numbers, other values of the variables and arguments, without the file. A reading without an effect on observations, infos and rewards is
none: the time of a log line, the name of a temporary file, the package's own data. A duration in \`info\` is one.`,
    fix: 'Draw every random choice from `context.random`, read no clock, and depend on no order of a set, or state `determinism: "none"`.',
    implies: [...FOLLOW, "STATE_KEPT", "STATE_SHARED"],
    once: true,
  },
  SNAPSHOT_DIFFERS: {
    severity: "error",
    title: "An episode does not continue from a snapshot as it did.",
    fix: "Return from `snapshot` all that later steps read, as a JSON value, and set all of it in `restore`; or leave `snapshots` of the definition out.",
  },
  SEED_IGNORED: {
    severity: "error",
    title: "Every seed gives the same episode.",
    fix: 'Draw the content of the episode from `context.random(name, seed)` in `reset`. An environment with one episode has `determinism: "none"` or tasks.',
    implies: ["STRATEGY_PAYS"],
  },
  STATE_KEPT: {
    severity: "error",
    title: "An episode depends on the episodes before it.",
    fix: "Let `reset` set every field of the environment, and keep no state of episodes in the module or the plugin.",
    implies: FOLLOW,
    once: true,
  },
  STATE_SHARED: {
    severity: "error",
    title: "An episode depends on the episodes that are played beside it.",
    fix: "Keep the state of an episode in the object that `create` returns, not in the module or the definition.",
    implies: FOLLOW,
    once: true,
  },
  TASK_CHANGED: {
    severity: "error",
    title: "An episode changed the task that it was given.",
    fix: "Copy what an episode changes: a task is shared by all its episodes.",
    implies: [...FOLLOW, "EPISODE_NOT_REPEATED", "STATE_KEPT", "STATE_SHARED"],
  },
  TASK_IGNORED: {
    severity: "error",
    title: "Every task gives the same episode.",
    fix: "Read the task that `reset` receives: `context.tasks.get(split, index)`.",
    implies: ["STRATEGY_PAYS"],
  },
} as const;
