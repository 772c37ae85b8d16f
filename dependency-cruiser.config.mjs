/**
 * Imports have one direction: spec <- kit <- (environments, plugins, algorithms). core imports none of those three.
 * The rules hold for types and for tests. Tests may also import @mrlm/testing; tests of core any package of core.
 */
const packageFolders = "^(environments|plugins|algorithms)/";
/** Plugins outside the packages. `examples/typescript` is a program that connects the parts itself, as the CLI does. */
const sampleFolders = "^(examples|templates)/(?!typescript/)";
const tests = "/test/";
const standardSchema = "(^|/)@standard-schema/spec(/|$)";

/** Imports by a path. Those by the name of a workspace package resolve to a path too. */
const byPath = { dependencyTypes: ["local"], dependencyTypesNot: ["aliased-workspace"] };

/** Folders of the root that are not published. */
const unpublished = "^(test|benchmarks|examples|templates|scripts)/";

/** @param {string} name @param {string} comment @param {object} from @param {object} to */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

/** Built-in plugins may import only these folders of core. @param {string[]} names */
const coreExcept = (...names) => `^core/(?!(${names.join("|")})/)`;

/** Packages of core that the sources of each may import. The CLI may import all. @type {Record<string, string[]>} */
const CORE_IMPORTS = {
  kit: ["spec"],
  process: ["spec"],
  wire: ["spec", "store"],
  sandbox: ["spec", "process"],
  store: ["spec", "process"],
  create: ["spec"],
  runtime: ["spec", "kit", "store", "process"],
  client: ["spec", "wire"],
  server: ["spec", "kit", "wire", "process"],
  "model-client": ["spec", "kit"],
  dialects: ["spec", "kit", "server"],
  "policy-server": ["spec", "kit", "client"],
  ui: ["spec", "kit", "store", "runtime", "process"],
  testing: ["spec", "kit", "store", "runtime", "client", "server"],
};

export default {
  forbidden: [
    forbid("no-circular", "Modules that import each other are one module, or share a third.", {}, { circular: true }),
    {
      ...forbid(
        "no-circular-folders",
        "Folders that import each other are one folder, or share a third.",
        {},
        { circular: true },
      ),
      scope: "folder",
    },
    forbid(
      "no-unresolved",
      "An import must exist. Tests of a template and the CLI's bin import a bundle, which a build makes; examples/improve has files of evalite and vitest, which `test:interop` installs.",
      { pathNot: ["^examples/improve/"] },
      { couldNotResolve: true, pathNot: ["^\\.\\./dist/"] },
    ),
    forbid(
      "spec-imports-nothing",
      "The contracts import no package and no built-in module.",
      { path: "^core/spec/src/" },
      { pathNot: ["^core/spec/src/", standardSchema] },
    ),
    forbid(
      "standard-schema-only-as-a-type",
      "The contracts use one type of another package. It does not exist at run time.",
      { path: "^core/spec/src/" },
      { path: standardSchema, dependencyTypesNot: ["type-only"] },
    ),
    ...Object.entries(CORE_IMPORTS).map(([name, allowed]) =>
      forbid(
        `core-${name}-imports`,
        `core/${name} may import ${allowed.map((other) => `core/${other}`).join(", ")}.`,
        { path: `^core/${name}/src/` },
        { path: coreExcept(name, ...allowed) },
      ),
    ),
    forbid(
      "core-stands-alone",
      "core builds and passes its tests when any environment, plugin or algorithm is deleted.",
      { path: "^core/" },
      { path: packageFolders },
    ),
    forbid(
      "plugins-import-spec-and-kit",
      "A plugin receives everything else in its context from the host.",
      {
        path: [packageFolders, sampleFolders],
        pathNot: [tests, "^plugins/", "^algorithms/engine-torch/", "^environments/python/"],
      },
      { path: coreExcept("spec", "kit") },
    ),
    forbid(
      "engine-torch-imports-process-too",
      "The engine is a process of its own, and so are environments of Python.",
      { path: "^(algorithms/engine-torch|environments/python)/", pathNot: [tests] },
      { path: coreExcept("spec", "kit", "process") },
    ),
    forbid(
      "plugins-import-model-client-and-process-too",
      "A judge, a player or a tool may ask an endpoint, or run a program.",
      { path: "^plugins/", pathNot: [tests, "^plugins/(sandbox|store|workspace)-"] },
      { path: coreExcept("spec", "kit", "model-client", "process") },
    ),
    forbid(
      "store-plugins-import-store-too",
      "A store plugin runs the statements of @mrlm/store in another database.",
      { path: "^plugins/store-", pathNot: [tests] },
      { path: coreExcept("spec", "kit", "store") },
    ),
    forbid(
      "sandbox-plugins-import-sandbox-too",
      "A sandbox plugin also uses the supervised processes of @mrlm/sandbox.",
      { path: "^plugins/sandbox-", pathNot: [tests] },
      { path: coreExcept("spec", "kit", "sandbox") },
    ),
    forbid(
      "workspace-plugins-import-sandbox-too",
      "A provider of workspaces uses what @mrlm/sandbox has for all of them, and finds what killed processes left.",
      { path: "^plugins/workspace-", pathNot: [tests] },
      { path: coreExcept("spec", "kit", "process", "sandbox") },
    ),
    forbid(
      "workspace-plugin-tests-import-testing-too",
      "Tests of a provider of workspaces use the contract suites of @mrlm/testing, also through the proxy of the runtime.",
      { path: `^plugins/workspace-[^/]+${tests}` },
      { path: coreExcept("spec", "kit", "process", "sandbox", "runtime", "testing") },
    ),
    forbid(
      "plugin-tests-import-testing-too",
      "Tests of a plugin use the contract suites of @mrlm/testing.",
      {
        path: [`${packageFolders}[^/]+${tests}`, `${sampleFolders}[^/]+${tests}`],
        pathNot: [
          "^plugins/",
          `^environments/(openenv|ors)${tests}`,
          `^(algorithms/engine-torch|environments/python)${tests}`,
        ],
      },
      { path: coreExcept("spec", "kit", "testing") },
    ),
    forbid(
      "tests-of-set-ups-import-process-too",
      "Tests of a set-up build environments of Python.",
      { path: `^(algorithms/engine-torch|environments/python)${tests}` },
      { path: coreExcept("spec", "kit", "process", "testing") },
    ),
    forbid(
      "tests-of-bridges-serve-environments",
      "Tests of a bridge play on a server of this project, in the protocol of the bridge.",
      { path: `^environments/(openenv|ors)${tests}` },
      { path: coreExcept("spec", "kit", "testing", "runtime", "dialects") },
    ),
    forbid(
      "tests-of-plugins-import-testing-too",
      "Tests of a plugin under plugins/ may also use the model client.",
      { path: `^plugins/[^/]+${tests}`, pathNot: ["^plugins/(sandbox|store|workspace)-"] },
      { path: coreExcept("spec", "kit", "model-client", "process", "testing") },
    ),
    forbid(
      "sandbox-plugin-tests-import-testing-too",
      "Tests of a sandbox plugin use the contract suites of @mrlm/testing.",
      { path: `^plugins/sandbox-[^/]+${tests}` },
      { path: coreExcept("spec", "kit", "sandbox", "testing") },
    ),
    forbid(
      "store-plugin-tests-import-readers-too",
      "Tests of a store plugin use the contract suite of @mrlm/store, and the viewer that reads stores.",
      { path: `^plugins/store-[^/]+${tests}` },
      { path: coreExcept("spec", "kit", "store", "testing", "ui") },
    ),
    forbid(
      "plugins-never-import-each-other",
      "A plugin declares its needs in its manifest. ai-sdk is a library.",
      { path: "^(environments|plugins|algorithms|examples|templates)/([^/]+)/", pathNot: ["^examples/typescript/"] },
      { path: [packageFolders, sampleFolders], pathNot: ["^$1/$2/", "^plugins/ai-sdk/"] },
    ),
    forbid(
      "grpc-stays-in-three-packages",
      "Only wire, server and client use gRPC, and what measures or tests it without them.",
      { pathNot: ["^core/(wire|server|client)/", "^(benchmarks/server|test)/", "/node_modules/"] },
      { path: "node_modules/@grpc/" },
    ),
    forbid(
      "sessions-and-dialects-need-no-grpc",
      "Sessions of a server are those of any protocol: an HTTP server loads neither gRPC nor generated messages.",
      { path: "^core/(server/src/sessions|dialects/src/)" },
      { path: ["node_modules/@grpc/", "^core/wire/"], reachable: true },
    ),
    forbid(
      "isolated-vm-stays-in-its-plugin",
      "isolated-vm runs in children of the JavaScript sandbox only.",
      { pathNot: ["^plugins/sandbox-javascript/", "/node_modules/"] },
      { path: "node_modules/isolated-vm" },
    ),
    forbid(
      "web-worker-needs-no-core",
      "The worker threads of tool-web run the sources without the export condition that tests use.",
      { path: "^plugins/tool-web/src/(page|worker)/" },
      { path: "^core/" },
    ),
    forbid(
      "packages-by-their-name",
      "A package is imported by its name, so that other packages use its exports only. The contract suite of stores is no part of a package.",
      { path: "^([^/]+)/([^/]+)", pathNot: ["^(test|benchmarks)/"] },
      { ...byPath, path: "^(core|environments|plugins|algorithms)/", pathNot: ["^$1/$2/", "^core/store/test/"] },
    ),
    forbid(
      "core-by-its-name",
      "Tests and benchmarks of the repository may import internal parts of a plugin (a formula, a backend), but not of core.",
      { path: "^(test|benchmarks)/" },
      // The command line in process: mistakes of arguments need no process.
      { ...byPath, path: "^core/(?!testing/fixtures/|cli/src/run-cli\\.ts$)" },
    ),
    forbid(
      "help-loads-no-command",
      "mrlm --help starts quickly: the modules of a command are imported when it runs.",
      { path: "^core/cli/src/(main|run-cli|program|declarations/|console/(console|report-error))" },
      {
        path: ["^core/(?!(cli|spec)/)", "^core/cli/src/(commands|services)/"],
        dynamic: false,
        dependencyTypesNot: ["type-only"],
      },
    ),
    forbid(
      "cli-checks-with-testing",
      "Only `mrlm check` and `mrlm improve` use the contract suites: training does not load them.",
      {
        path: "^core/cli/src/",
        pathNot:
          "^core/cli/src/(check-worker|commands/check|services/(check-package|check-tasks|improve/inspected-cases|plugin-check)|console/check-report)\\.ts$",
      },
      { path: "^core/testing/" },
    ),
    forbid(
      "sources-import-no-tests",
      "Published code does not depend on tests.",
      { path: "^[^/]+/[^/]+/src/" },
      { path: tests, pathNot: ["node_modules"] },
    ),
    forbid(
      "packages-import-no-other-folder",
      "A package and its tests work without the tests, benchmarks, examples, templates and scripts of the repository.",
      { path: "^(core|environments|plugins|algorithms)/" },
      { path: unpublished },
    ),
    forbid(
      "benchmarks-import-no-tests",
      "Tests of the repository may use a benchmark, never the reverse.",
      // The benchmarks of the life cycle and of kills count what these tests check; that of two commits needs their trees, as same-bits does.
      { path: "^benchmarks/", pathNot: "^benchmarks/(lifecycle/|async/kills\\.ts$|ab/)" },
      { path: "^test/" },
    ),
    forbid(
      "scripts-need-no-packages",
      "Scripts run on Node 20 before packages are installed. Their tests, the parts of the test runner and the count of code lines run after that.",
      {
        path: "^scripts/",
        pathNot: [tests, "^scripts/(fast-check|lib/(jest-globals|native-test-runner|code-lines))\\.mjs$"],
      },
      { pathNot: ["^scripts/"], dependencyTypesNot: ["core"] },
    ),
  ],
  options: {
    doNotFollow: { path: ["node_modules"] },
    exclude: { path: ["^[^/]+/[^/]+/(dist|python)/"] },
    parser: "swc", // reads imports of types as well; TypeScript 7 has no API to parse with
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["mrlm-source", "import", "node", "default"],
      extensions: [".ts", ".mjs", ".js", ".json", ".node"],
    },
  },
};
