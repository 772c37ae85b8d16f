/** Codes of findings about the package: its manifest, its code, the acknowledgements in it. */
export const PACKAGE_CODES = {
  ACKNOWLEDGEMENT_INVALID: {
    severity: "error",
    title: "A definition acknowledges a code that does not exist or is no warning, or gives no reason.",
    fix: "Acknowledge codes of warnings only, each with the reason why it stays.",
  },
  CHECK_TIMEOUT: {
    severity: "error",
    title: "A check did not end in time.",
    fix: "Look for a promise that never settles or a computation that takes too long in the part that the check names.",
  },
  ENVIRONMENT_UNAVAILABLE: {
    severity: "error",
    title: "An environment cannot be prepared: its options, its tasks or what it requires fail.",
    fix: "Correct the cause that the message names: without options an environment starts with its defaults.",
  },
  REQUIREMENT_MISSING: {
    severity: "error",
    title: "No installed plugin provides what a part of the plugin requires.",
    fix: "Install the package that provides it as a dependency of the plugin.",
  },
} as const;
