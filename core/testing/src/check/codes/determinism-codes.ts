const FOLLOW = ["FIXTURE_DETERMINISM", "SEED_UNUSED", "SCRIPTED_POLICY_FAILED", "TRANSPORTS_DIFFER"] as const;

/** Codes of findings about determinism, and about seeds and tasks without an effect. */
export const DETERMINISM_CODES = {
  EPISODE_NOT_REPEATED: {
    severity: "error",
    title: "An episode with the same seed, task and actions is not the same again.",
    fix: 'Draw every random choice from `context.random`, read no clock, and depend on no order of a set, or state `determinism: "none"`.',
    implies: [...FOLLOW, "STATE_KEPT", "STATE_SHARED"],
    once: true,
  },
  SEED_IGNORED: {
    severity: "error",
    title: "Every seed gives the same episode.",
    fix: 'Draw the content of the episode from `context.random(name, seed)` in `reset`. An environment with one episode has `determinism: "none"` or tasks.',
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
    implies: ["ANSWERS_LISTED", "OTHER_GOLD_REWARDED", "STRATEGY_PAYS"],
  },
} as const;
