/** Codes of findings about the order of calls, descriptions, tasks, fixtures and roles of an environment. */
export const CONTRACT_CODES = {
  ABORT_IGNORED: {
    severity: "error",
    title: "A session cannot be aborted, or does not start again afterwards.",
    fix: "End `reset` and `step` when their signal is aborted, and let the next `reset` start from a clean state.",
  },
  CLOSE_FAILED: {
    severity: "error",
    title: "A session cannot be closed, or not twice.",
    fix: "Make `close` release what `reset` acquired, and return if nothing is left.",
  },
  DEMONSTRATION_INVALID: {
    severity: "error",
    title:
      "A demonstration is missing, is of another task, has nothing to learn, or exists for a task outside of `train`.",
    fix: "Return the worked solution of exactly the task that `demonstrate` receives.",
  },
  DESCRIPTION_INVALID: {
    severity: "error",
    title: "The description of an environment lacks something or contradicts the definition.",
    fix: "Correct the field of the definition that the message names.",
  },
  EPISODE_ENDLESS: {
    severity: "error",
    title: "An episode has not ended after 1,000 turns.",
    fix: "Set `maxTurns`, or end the episode.",
    once: true,
  },
  EPISODE_END_INVALID: {
    severity: "error",
    title: "An episode ended while an agent was neither terminated nor truncated.",
    fix: "Return `terminated` or `truncated` for each agent at the end.",
    once: true,
  },
  EPISODE_FAILED: {
    severity: "error",
    title: "The code of the environment threw an error.",
    fix: "Correct the code at the place that the message names. A reward that cannot be computed is `unscored(code, message)`.",
  },
  EXHAUSTED_AGENT: {
    severity: "error",
    title: "The environment fails when the context of one of several agents is full.",
    fix: 'On an action with `finishReason: "exhausted"` continue without that agent, or end the episode.',
  },
  FIXTURE_DETERMINISM: {
    severity: "error",
    title: "A fixture of the kind determinism is not the same each time that it is played.",
    fix: "Draw every random choice from `context.random`, and let `reset` start from a clean state.",
  },
  FIXTURE_MISSING: {
    severity: "error",
    title: "An environment lacks a fixture of some kind.",
    fix: "Add one fixture of each kind: gold, nop, cheat, malformed, determinism.",
    implies: ["ROLE_IDLE"],
  },
  FIXTURE_REWARD: {
    severity: "error",
    title: "A fixture does not end with the reward that it states.",
    fix: "Correct the environment, or the reward that the fixture states.",
  },
  MESSAGES_REPEATED: {
    severity: "error",
    title: "An observation repeats messages that the agent already has.",
    fix: "Return only messages that are new since the agent's last turn.",
    once: true,
  },
  OBSERVATION_INVALID: {
    severity: "error",
    title: "The first observation is no question to an agent of the environment.",
    fix: "Return messages of roles system, user or tool, for an agent of a declared role.",
  },
  ROLE_IDLE: {
    severity: "error",
    title: "No fixture has a turn of some role.",
    fix: "Add a fixture in which the role acts, or remove the role.",
  },
  SCRIPTED_POLICY_FAILED: {
    severity: "error",
    title: "A scripted policy does not play an episode to its end, or not the same way with the same seed.",
    fix: "Let the policy act in every role, and draw its choices from its seed.",
  },
  SEED_UNUSED: {
    severity: "error",
    title: "Two resets with one seed differ, or an environment of determinism `none` accepts a seed.",
    fix: 'Draw every random choice from the seed, or state `determinism: "none"`.',
  },
  STEP_ORDER: {
    severity: "error",
    title: "The order of calls is not kept: a step before a reset, after the end, out of turn, or twice at once.",
    fix: "Return the agent that acts next in each observation, and end every episode once.",
  },
  TASKS_OVERLAP: {
    severity: "error",
    title: "A task is in two splits.",
    fix: "Divide the tasks so that no task of `train` is also in `eval`.",
  },
  TASKS_UNSTABLE: {
    severity: "error",
    title: "A task source lacks a split, or the same index is not the same task.",
    fix: "Offer the splits `train` and `eval`, and make task and id follow from split and index.",
    implies: [
      "EPISODE_NOT_REPEATED",
      "FIXTURE_DETERMINISM",
      "SCRIPTED_POLICY_FAILED",
      "SEED_UNUSED",
      "STATE_KEPT",
      "STATE_SHARED",
      "TRANSPORTS_DIFFER",
    ],
  },
  TASK_ACCEPTED: {
    severity: "error",
    title: "A task that does not exist is accepted.",
    fix: "Reject ids beyond the splits with TASK_NOT_FOUND; the task sources of `@mrlm/kit` do.",
  },
  TASK_PRIVATE_SHOWN: {
    severity: "error",
    title: "A client receives a private field of a task.",
    fix: "Build observations, infos and descriptions from the public part of the task only.",
    once: true,
  },
  TRANSPORTS_DIFFER: {
    severity: "error",
    title: "A client receives different bytes over different transports.",
    fix: "Return plain JSON: no `undefined`, no class instances, no numbers that JSON lacks.",
  },
  VALUE_MALFORMED: {
    severity: "error",
    title: "An environment returned something that the host refuses.",
    fix: "Return what the interface states, as the message describes it.",
  },
} as const;
