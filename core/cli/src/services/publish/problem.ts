/** Reasons for which a package is not published, and what its author does. docs/build/publishing.md has each; a test compares both. */
export const PROBLEMS = {
  PACKAGE_PRIVATE: "Remove `private` from package.json.",
  TAG_MISSING: "Name a tag, for example `--tag next`.",
  VERSION_TAKEN: "Raise `version` in package.json.",
  REGISTRY_REFUSES: "Log in to the registry: `npm login`. In CI, set up trusted publishing or a token.",
  TREE_DIRTY: "Commit or remove the changes, so that the published package is a commit.",
  DEPENDENCY_LINKED: "Depend on a version that the registry has.",
  BUILD_FAILED: "Correct the build: it ran in a copy of the files that git knows.",
  ENTRY_MISSING: "Build the entry, and list its folder under `files`.",
  ENTRY_TYPESCRIPT: "Compile the entry to JavaScript: Node runs no TypeScript below node_modules.",
  FILE_FORBIDDEN: "Take it out of `files`, or list it in .npmignore.",
  FILE_SECRET: "Remove the secret from the package, and revoke it.",
  FILE_LARGE: "Load large data where it is used, or publish it elsewhere.",
  IMPORT_UNDECLARED: "Add the package to `dependencies` or `peerDependencies`.",
  CHECK_FAILED: "Run `npx mrlm check`, and remove or acknowledge its findings.",
  PUBLINT_FAILED: "Correct package.json as publint states.",
  TYPES_WRONG: "Correct the types as attw states.",
  TOOL_MISSING: "Install it in the project: `npm install --save-dev publint @arethetypeswrong/cli`.",
  BEHAVIOUR_UNRECORDED: "Run `npx mrlm check --update`, and list mrlm.behaviour.json under `files`.",
  BEHAVIOUR_CHANGED: "Raise the number after `@` of the environment, or restore its behaviour.",
} as const;

/** Code of a {@link Problem}. */
export type ProblemCode = keyof typeof PROBLEMS;

/** Reason for which a package is not published. */
export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
}
