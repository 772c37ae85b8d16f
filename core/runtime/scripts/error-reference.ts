import { ERROR_CODES } from "@mrlm/spec";

const INTRODUCTION = `# Errors

Every error that mrlm raises on purpose has a stable code, a message that says what happened and why, and a hint that says what to do. In
TypeScript it is an \`MrlmError\` (\`MrlmError.isInstance(error)\`, \`error.code\`, \`error.hint\`, \`error.isRetryable\`, \`error.cause\`); over gRPC it travels
whole and is the same error on the other side. A *retryable* error may not come again when the same call is simply made once more.
`;

/** docs/reference/errors.md: a section for each code. */
export function errorReference(): string {
  const sections = Object.entries(ERROR_CODES).map(
    ([code, { meaning, hint, retryable }]) =>
      `## ${code}\n\n${meaning}\n\n**What to do:** ${hint}${retryable ? "\n\nRetryable." : ""}\n`,
  );
  return [INTRODUCTION, ...sections].join("\n");
}
