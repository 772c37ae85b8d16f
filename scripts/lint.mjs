// npm run lint: every static check of both languages. All of them run, so that one run reports every fault.
import { dirname, join } from "node:path";
import { ensureDependencies } from "./lib/dependencies.mjs";
import { ensureEngine, pythonFolder } from "./lib/engine.mjs";
import { importFolders, protocolImage, root } from "./lib/repository.mjs";
import { attempt, projectNode } from "./lib/run.mjs";
import { ScriptError, script } from "./lib/script.mjs";
import { buildJavaScript } from "./lib/setup.mjs";

/** The plugin whose Python runs untrusted code. */
const sandboxFolder = join(root, "plugins/sandbox-python");

/** @type {{ name: string, command: string, args: string[], cwd?: string }[]} */
const checks = [
  { name: "types", command: "tsc", args: ["--build"] },
  { name: "style", command: "oxlint", args: ["--deny-warnings"] },
  { name: "format", command: "oxfmt", args: ["--check"] },
  { name: "imports", command: "depcruise", args: ["--config", "dependency-cruiser.config.mjs", ...importFolders] },
  { name: "unused code and dependencies", command: "knip", args: ["--no-config-hints"] },
  { name: "words of the writing style", command: projectNode, args: ["scripts/check-words.mjs"] },
  { name: "project references", command: projectNode, args: ["scripts/sync-references.mjs", "--check"] },
  { name: "lock file", command: projectNode, args: ["scripts/check-lock.mjs"] },
  { name: "protocols", command: "buf", args: ["lint"] },
  {
    name: "compatibility of protocols (after a deliberate change: npm run protos:image)",
    command: "buf",
    args: ["breaking", "--against", protocolImage],
  },
  { name: "generated code", command: "npm", args: ["run", "gen:check"] },
];

/** @param {string} python @returns {typeof checks} */
const pythonChecks = (python) => [
  { name: "Python style", command: python, args: ["-m", "ruff", "check", "."] },
  { name: "Python format", command: python, args: ["-m", "ruff", "format", "--check", "."] },
  { name: "generated Python code", command: python, args: ["scripts/generate_python.py", "--check"] },
  { name: "Python imports", command: join(dirname(python), "lint-imports"), args: ["--no-cache"], cwd: pythonFolder },
  { name: "Python types of the engine", command: python, args: ["-m", "mypy"], cwd: pythonFolder },
  { name: "Python types of the sandbox", command: python, args: ["-m", "mypy"], cwd: sandboxFolder },
  { name: "Python types", command: python, args: ["-m", "mypy"] },
];

await script(async () => {
  await ensureDependencies();
  await buildJavaScript();
  const python = await ensureEngine({ dev: true });
  const failed = [];
  for (const { name, command, args, cwd } of [...checks, ...pythonChecks(python)]) {
    console.error(`> ${name}`);
    const { exitCode } = await attempt(command, args, { cwd });
    if (exitCode !== 0) failed.push(name);
  }
  if (failed.length > 0) throw new ScriptError(`lint failed: ${failed.join(", ")}`);
});
