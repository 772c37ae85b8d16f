/** Codes of findings about the package: its manifest, its code, the acknowledgements in it. */
export const PACKAGE_CODES = {
  ACKNOWLEDGEMENT_INVALID: {
    severity: "error",
    title: "A definition acknowledges a code that does not exist or is no warning, or gives no reason.",
    fix: "Acknowledge codes of warnings only, each with the reason why it stays.",
  },
} as const;
