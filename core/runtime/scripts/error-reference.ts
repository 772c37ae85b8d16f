import { ERROR_CODES } from "@mrlm/spec/host";

const INTRODUCTION = `# Errors

Every error that mrlm raises deliberately has a stable code, a message with what happened and why, and a hint with what to do: below in this order. In
TypeScript it is an \`MrlmError\` (\`MrlmError.isInstance(error)\`, \`error.code\`, \`error.hint\`, \`error.isRetryable\`, \`error.cause\`); gRPC transmits all
of its fields. The same call may succeed after a *retryable* error.
`;

/** Returns the content of docs/reference/errors.md: a section for each code. */
export function errorReference(): string {
  const byName = Object.entries(ERROR_CODES).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const sections = byName.map(
    ([code, { meaning, hint, retryable }]) =>
      `## ${code}\n\n${retryable ? "*Retryable.* " : ""}${meaning}\n\n${hint}\n`,
  );
  return [INTRODUCTION, ...sections].join("\n");
}
