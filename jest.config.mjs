import { existsSync } from "node:fs";

const notSources = "<rootDir>/[^/]+/[^/]+/(dist|python)/";

/** Every package's tests run from the sources, as native modules: the runner resolves `@mrlm/*` by the export condition `mrlm-source`. */
export default {
  roots: ["core", "environments", "plugins", "algorithms", "scripts", "examples", "test"]
    .filter((folder) => existsSync(new URL(folder, import.meta.url)))
    .map((folder) => `<rootDir>/${folder}`),
  testMatch: ["**/test/**/*.test.ts", "**/test/**/*.test.mjs"],
  testPathIgnorePatterns: ["/node_modules/", notSources],
  modulePathIgnorePatterns: [notSources],
  moduleFileExtensions: ["ts", "mjs", "js", "cjs", "json", "node"],
  globalSetup: "<rootDir>/scripts/lib/temporary-folder.mjs",
  testEnvironment: "node",
  testRunner: "<rootDir>/scripts/lib/native-test-runner.mjs",
  transform: {},
  // Tests of processes wait more than they compute: four files at a time keep two cores at work.
  maxWorkers: 4,
  // Node does not free the modules of a finished file: above this heap, collections cost more than a new worker.
  workerIdleMemoryLimit: "500MB",
  // Node frees the heap of a worker after its last event. With the contexts of hundreds of test files this takes longer than the default of 500 ms.
  workerGracefulExitTimeout: 20_000,
  testTimeout: 120_000,
};
