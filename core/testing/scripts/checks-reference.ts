import { type FindingEntry, FINDINGS } from "../src/check/codes.ts";

const INTRODUCTION = `# Checks

\`mrlm check\` and the contract suites of \`@mrlm/testing\` report defects of a plugin as findings. Each has a stable code, a message with the measured
values, the place in the source where one is known, and a fix: below the meaning and the fix. An error must be removed; a *warning* too, or the definition states why it stays:

\`\`\`ts
acknowledged: { CODE: "the reason" },
\`\`\`
`;

/** Returns the content of docs/reference/checks.md: a section for each code. */
export function checksReference(): string {
  const byName = Object.entries(FINDINGS).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const sections = byName.map(([code, { severity, title, rule, fix }]: [string, FindingEntry]) =>
    [`## ${code}`, `${severity === "error" ? "" : "*Warning.* "}${title}`, rule, `${fix}\n`]
      .filter((part) => part !== undefined)
      .join("\n\n"),
  );
  return [INTRODUCTION, ...sections].join("\n");
}
