/** Codes of findings about scorers, judges, tools, sandboxes, policies, algorithms and launchers. */
export const PROVISION_CODES = {
  ALGORITHM_LEARNS_NOT: {
    severity: "error",
    title: "A small model does not learn: the metric of the example does not change as it states.",
    fix: "Check the sign of the loss, the mask of the tokens and the learning rate; or correct `metric` and `change` of the example.",
  },
  ALGORITHM_OPTIONS_ACCEPTED: {
    severity: "error",
    title:
      "An algorithm accepts options that it must refuse: unknown ones, values of another type, or invalid ones of its examples.",
    fix: "Make the schema strict (`z.strictObject`), and check in `validate` what it cannot express.",
  },
  ALGORITHM_REPORT_INVALID: {
    severity: "error",
    title:
      "An algorithm reports another number of iterations than `iterations` returns, wrong indices, or a metric that is not finite.",
    fix: "Yield one report after each iteration, numbered from 1, and leave out a metric without a value.",
  },
  ALGORITHM_RESUME_DIFFERS: {
    severity: "error",
    title: "A stage that was interrupted and resumed does not end with the same weights or metrics.",
    fix: "Return everything that later iterations need from `state`, set it in `restore`, and draw random numbers from `context.random`.",
  },
  ANSWER_UNSCORED: {
    severity: "error",
    title: "A scorer leaves an answer unscored that it cannot read or decide: the policy chooses whether it is graded.",
    fix: "Return the reward of a wrong answer, with the verdict `unreadable` or `undecided`. Only a bad reference and a failure of the scorer are unscored.",
  },
  CALL_ABORT_IGNORED: {
    severity: "error",
    title: "A call does not end within 5 s after its signal was aborted.",
    fix: "Pass the signal to every request, process and timer, and reject when it is aborted.",
  },
  CALLS_INTERFERE: {
    severity: "error",
    title: "Episodes or requests that run at the same time, or one after the other, change each other's results.",
    fix: "Keep state in what `open` returns, not in the module or in the shared instance.",
    implies: ["RESULT_UNSTABLE"],
  },
  EXAMPLES_INVALID: {
    severity: "error",
    title:
      "The examples do not fit the plugin: a tool without a call, an id that it does not provide, options that it refuses.",
    fix: "Correct `examples` of the plugin as the message states.",
  },
  EXAMPLES_MISSING: {
    severity: "warning",
    title: "A provision has no examples, so most of its checks cannot run.",
    fix: "Add them to `examples` of the plugin; docs/build/plugins.md shows their form.",
  },
  EXAMPLE_OUTCOME: {
    severity: "error",
    title: "An example does not have the outcome that it states.",
    fix: "Correct the provision, or the example.",
  },
  FAILURE_SCORED: {
    severity: "error",
    title: "A failure becomes a reward: it looks like a wrong answer to training.",
    fix: "Return `unscored(code, message)`, or throw: the host then records the reward as unscored.",
  },
  INPUT_REFUSED: {
    severity: "error",
    title: "A scorer or a judge throws for a text that a model may write.",
    fix: "Grade every text: an answer that cannot be read or decided is wrong.",
  },
  LAUNCHER_EVENTS_INVALID: {
    severity: "error",
    title: "A launcher does not report a start, each printed line and the end of a process, in this order and once.",
    fix: "Report each process by an id of its own, its lines before its end, and the exit code or the signal as the cause.",
  },
  LAUNCHER_PROCESS_LEFT: {
    severity: "error",
    title: "A process of a launcher runs on after `stop`, or after a `start` that was rejected.",
    fix: "Start each process in a group of its own, end the groups by SIGTERM and then by SIGKILL, and wait for the last one.",
  },
  LAUNCHER_START_ACCEPTED: {
    severity: "error",
    title: "A launcher starts a part that cannot run, or starts a part after `stop`.",
    fix: "Reject `start` with LAUNCHER_FAILED.",
  },
  POLICY_ACTION_INVALID: {
    severity: "error",
    title: "A policy does not act in each turn, or acts as another agent.",
    fix: "Return an action of the agent of the observation.",
  },
  POLICY_OPTIONS_ACCEPTED: {
    severity: "error",
    title: "A policy accepts options that it does not have: a misspelt option has no effect.",
    fix: "Make the schema of the player's options strict (`z.strictObject`).",
  },
  PROVISION_LEAK: {
    severity: "error",
    title: "Processes, handles or files remain after an episode or after the close.",
    fix: "Release in `close` what the calls before it acquired.",
  },
  PROVISION_UNAVAILABLE: {
    severity: "error",
    title: "A provision cannot be made: its options, its factory or what it requires fail.",
    fix: "Correct the cause that the message names. If the plugin needs options, state them in `examples.options`.",
  },
  REQUEST_CHANGED: {
    severity: "error",
    title: "A scorer or a judge changes the request that it receives.",
    fix: "Copy what you change.",
  },
  RESULT_MALFORMED: {
    severity: "error",
    title: "A grade or a judgement does not have the form that the interface states.",
    fix: "Return finite rewards of exactly the agents of the request, a verdict and a reason.",
  },
  RESULT_UNSTABLE: {
    severity: "error",
    title: "Equal requests or equal seeds have different results, and the provision states no weaker determinism.",
    fix: 'Draw random choices from the given seed or stream, or state `determinism: "none"`.',
  },
  SANDBOX_LANGUAGE_UNKNOWN: {
    severity: "warning",
    title: "There are no programs in the language of a sandbox to check it with.",
    fix: "Test the sandbox with programs of its language, and state in `acknowledged` where these tests are.",
  },
  SANDBOX_LIMIT: {
    severity: "error",
    title: "A submission exceeds a limit of a sandbox, or leaves the sandbox unusable.",
    fix: "Enforce the limit in the parent process, and replace the interpreter that exceeded it.",
  },
  SANDBOX_RESULT: {
    severity: "error",
    title: "A sandbox does not return the result of a program.",
    fix: "Return output, value and error as `SandboxResult` states them.",
  },
  SANDBOX_SESSION: {
    severity: "error",
    title: "A session of a sandbox does not keep its state, or does not end.",
    fix: "Give each session an interpreter of its own, and close it at an exceeded limit.",
  },
  SANDBOX_TEST: {
    severity: "error",
    title: "Tests of a submission do not have the verdicts that they must have.",
    fix: "Report each test separately, and mark those that did not run.",
  },
  TOOL_ARGUMENTS_ACCEPTED: {
    severity: "error",
    title: "A tool accepts arguments that do not match its parameters, or fails for them without a text.",
    fix: "State every argument in `parameters`, with `required` and `additionalProperties: false`.",
  },
  TOOL_CALL_FAILED: {
    severity: "error",
    title: "A call of the examples fails.",
    fix: "Correct the tool, or the call.",
  },
  TOOL_DEFINITION_INVALID: {
    severity: "error",
    title: "The definition of a tool is malformed, or differs between episodes.",
    fix: "Give each tool a name, a description and a JSON Schema, the same in every episode and in `definitions`.",
  },
} as const;
