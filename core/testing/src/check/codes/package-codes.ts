/** Codes of findings about the package: its manifest, its code, the acknowledgements in it. */
export const PACKAGE_CODES = {
  ACKNOWLEDGEMENT_INVALID: {
    severity: "error",
    title: "A definition acknowledges a code that does not exist or is no warning, or gives no reason.",
    fix: "Acknowledge codes of warnings only, each with the reason why it stays.",
  },
  CHECK_TIMEOUT: {
    severity: "error",
    title: "A check did not end in time. The checks after it of the same part are not made.",
    fix: "Look for a promise that never settles or a computation that takes too long in the part that the check names.",
  },
  API_VERSION: {
    severity: "error",
    title: "The plugin was made for another version of the plugin interface.",
    fix: "Update mrlm if the plugin is newer, else the plugin.",
  },
  BEHAVIOUR_CHANGED: {
    severity: "error",
    title: "A fixture of an environment does not have the transcript that `mrlm.behaviour.json` records.",
    fix: "Undo the change. If it is intended, raise the version in the environment's id and run `npx mrlm check --update`.",
  },
  BEHAVIOUR_OUTDATED: {
    severity: "warning",
    title:
      "`mrlm.behaviour.json` lacks a fixture, has one that no longer exists, or the package does not contain the file.",
    fix: "Run `npx mrlm check --update`, and list `mrlm.behaviour.json` in `files` of the package.json.",
  },
  ENVIRONMENT_UNAVAILABLE: {
    severity: "error",
    title: "An environment cannot be prepared: its options, its tasks or what it requires fail.",
    fix: "Correct the cause that the message names: without options an environment starts with its defaults.",
  },
  GLOBAL_CHANGED: {
    severity: "warning",
    title: "The plugin changes globals, shared prototypes, environment variables or the working directory.",
    fix: "Keep state in the module or in the environment: other plugins run in the same process.",
  },
  EXAMPLE_DESCRIBED: {
    severity: "warning",
    title: "The README describes the example from which `mrlm create` made the package.",
    fix: "Describe your plugin in README.md and in `description` of the package.json, and remove the comment that begins with `<!-- example:`.",
  },
  IMPORT_FAILED: {
    severity: "error",
    title: "The entry of the plugin cannot be imported.",
    fix: "Correct the error that the message quotes.",
  },
  KEYWORD_MISSING: {
    severity: "warning",
    title: "The package lacks the keyword by which plugins are found.",
    fix: 'Add "mrlm-plugin" to `keywords` of the package.json.',
  },
  MANIFEST_INVALID: {
    severity: "error",
    title: "The manifest is malformed, or it and the default export disagree.",
    fix: "Correct the `mrlm` field of the package.json; docs/build/plugins.md shows its form.",
  },
  NAME_DIFFERS: {
    severity: "error",
    title: "The default export has another name than its package.",
    fix: "Give `definePlugin` the name of the package: messages and configurations use it.",
  },
  OUTPUT_EXCESSIVE: {
    severity: "warning",
    title: "The plugin prints a lot.",
    fix: "Write to `context.logger`, which the operator can silence.",
  },
  PLUGIN_BLOCKED: {
    severity: "error",
    title: "The code of the plugin blocks its process, which was killed.",
    fix: "Look for an endless loop, a call that waits, or an `await` at the top of a module whose promise never settles.",
  },
  PROCESS_DEPENDENT: {
    severity: "error",
    title: "An episode differs in another process, with other surroundings and without earlier episodes.",
    rule: "The surroundings are another date, time zone, language and working directory, and other values of the environment variables that the import reads.",
    fix: "Take settings from the options. State the time zone and the locale of every format and comparison, find files from `import.meta.url` or `context.dataPath`, and keep no state of episodes in the module.",
  },
  PROCESS_ENDED: {
    severity: "error",
    title: "The code of the plugin ends its process.",
    fix: "Never call `process.exit()`: throw an error, or return an unscored reward.",
  },
  REQUIREMENT_MISSING: {
    severity: "error",
    title: "No installed plugin provides what a part of the plugin requires.",
    fix: "Install the package that provides it as a dependency of the plugin.",
  },
  UNCAUGHT_ERROR: {
    severity: "error",
    title: "The plugin throws outside of its calls: in a timer, an event or a promise that no code awaits.",
    fix: "Await every promise, and catch errors in timers and listeners.",
  },
} as const;
