/** Finds unused files, exports and dependencies, and imports that no package.json lists. */
export default {
  workspaces: {
    ".": {
      entry: [
        "scripts/*.mjs",
        "scripts/lib/{jest-globals,native-test-runner}.mjs", // jest loads them
        "benchmarks/*.ts",
        "benchmarks/*/main.ts",
        "benchmarks/sandbox/soak/main.ts",
        "benchmarks/train/fuzz/main.ts",
        "benchmarks/ui/pictures.ts",
        "benchmarks/*/environment/index.ts",
        "benchmarks/server/{bare-echo,health-probe,soak/main,soak/client}.ts", // processes
        "examples/**/*.ts",
        "test/**/*.test.ts",
        "test/**/*.slow.ts",
        "test/**/*.learning.ts",
        "test/**/*.launchers.ts",
        "test/**/*.lifecycle.ts",
        "test/learning/support/broken-calculator/broken-calculator.ts",
        "test/learning/support/credit-world/credit-world.ts",
        "test/learning/support/deal-world/deal-world.ts",
        "test/learning/support/noted-agent/noted-agent.ts",
        "test/**/*.agents.ts",
        "test/**/*.interop.ts",
        "test/interop/cases/grade-cases.ts", // a process
        "test/**/*.vllm.ts",
        "test/**/*.models.ts",
        "test/**/*.parity.ts",
        "test/interop/python-env/reasoning-gym.ts",
        "test/python-client/environments/index.ts",
        "test/**/*.faults.ts",
        "test/**/*.ui.ts",
        "test/resume/support/{record-calls,end-store}.ts",
        "test/**/*.resume.ts",
        "test/same-bits/main.ts",
      ],
      project: ["scripts/**/*.mjs", "benchmarks/**/*.ts", "examples/**/*.ts", "test/**/*.ts"],
      ignoreDependencies: [
        // Plugins: mrlm finds them by their manifests, in the direct dependencies of the project.
        "@mrlm/.*",
        "evalite", // test:interop installs it for examples/improve
        "@grpc/grpc-js", // the one of @mrlm/wire, which benchmarks/server measures alone
        // Commands that scripts/ runs.
        "@arethetypeswrong/cli",
        "@bufbuild/buf",
        "dependency-cruiser",
        "jest",
        "oxfmt",
        "oxlint",
        "oxlint-tsgolint",
        "publint",
      ],
    },
    "{core,environments,plugins,algorithms}/*": {
      entry: ["test/**/*.{test,slow,faults}.ts", "test/types/*.ts"],
      project: ["src/**/*.ts", "test/**/*.ts"],
    },
    "core/runtime": {
      entry: ["test/**/*.{test,slow,faults}.ts", "test/types/*.ts", "test/support/evaluated.ts"], // a process
      project: ["src/**/*.ts", "test/**/*.ts"],
    },
    "core/ui": {
      entry: ["page/main.ts", "src/reader-process.ts"],
      project: ["src/**/*.ts", "page/**/*.ts"],
    },
    "algorithms/engine-torch": {
      entry: ["test/**/*.{test,slow,faults}.ts", "test/types/*.ts"],
      project: ["src/**/*.ts", "test/**/*.ts"],
      ignoreBinaries: ["uv"], // resolves the lock files of the Python packages
    },
    "plugins/sandbox-javascript": {
      entry: ["test/**/*.{test,slow,faults}.ts", "test/types/*.ts"],
      project: ["src/**/*.ts", "test/**/*.ts"],
      ignoreDependencies: ["node-inspect-extracted"], // read as text: it runs in isolates
    },
    "plugins/sandbox-python": {
      entry: ["test/**/*.{test,slow,faults}.ts", "test/types/*.ts"],
      project: ["src/**/*.ts", "test/**/*.ts"],
      ignoreDependencies: ["pyodide"], // its files are loaded by their paths
    },
    "plugins/tool-mcp": {
      entry: ["test/**/*.{test,slow,faults}.ts", "test/support/*.mjs"],
      project: ["src/**/*.ts", "test/**/*.{ts,mjs}"],
      ignoreDependencies: ["@modelcontextprotocol/server-.*"], // programs that tests start
    },
    "core/wire": {
      entry: ["test/**/*.{test,slow,faults}.ts", "test/types/*.ts"],
      project: ["src/**/*.ts", "test/**/*.ts", "!src/gen/**"],
      ignoreDependencies: ["ts-proto"], // the generator that buf runs
    },
  },
  ignoreBinaries: [
    "uv", // writes the lock files of the Python environment; only maintainers run it
    "du", // measures a folder, in a benchmark
    "ldd", // names the libraries of a program, in a test
    "mkfifo", // part of coreutils, as is mknod
    "prlimit", // part of util-linux: the test that needs it is skipped if it is missing
    "bwrap", // bubblewrap: tests that need it are skipped if it is missing
    "podman", // tests that need it are skipped if it is missing
  ],
  ignoreExportsUsedInFile: true,
};
