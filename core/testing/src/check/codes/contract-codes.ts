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
    severity: "warning",
    title: "A task is in two splits.",
    rule: `The first observations of up to 2,000 tasks of each split are compared, as many as 1.5 s allow: those with the same words, in whatever order and case. They are one
task if the gold actions of each solve the other, with the same observations. Where the gold fixture does not solve them, they are one if observation and private part are equal.`,
    fix: "Divide the tasks so that no task of `train` is also in `eval`. A game without other positions to hold out acknowledges it with that reason.",
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
    severity: "warning",
    implies: ["STRATEGY_PAYS"],
    title: "A client receives the private part of a task, or can read a private text before the first action.",
    rule: `Of 24 tasks each private text or number of three characters or more is searched in the messages, tools and \`info\` of the first observation and in the public
part. It is a finding if nine of ten tasks show theirs in the same place, and it is another text in another task:

- backwards, in ROT13, in base64 or in hexadecimal, where that is not the question itself: without the text the messages of the tasks still differ;
- as it is, after the same characters each time, if it also earns half of the gold reward or more as the answer.

A text among others, such as the right one of several options, a legal command or an exit of a room, is none. What an observation shows after an action is none either: a
world can be revealed step by step. Only a private part that is sent as a whole is always a finding.`,
    fix: "Build first observations, infos, tools and the public part without it. If it is the question, acknowledge it with that reason.",
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
