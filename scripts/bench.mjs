// npm run bench -- NAME [options]: runs benchmarks/NAME.ts or benchmarks/NAME/main.ts.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib/repository.mjs";
import { attempt, projectNode } from "./lib/run.mjs";
import { ScriptError, script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";

await script(async () => {
  const [name = "", ...args] = process.argv.slice(2);
  const folder = join(root, "benchmarks");
  const main = [join(folder, `${name}.ts`), join(folder, name, "main.ts")].find(existsSync);
  if (name === "" || main === undefined) {
    const names = existsSync(folder)
      ? readdirSync(folder).filter((entry) => existsSync(join(folder, entry, "main.ts")) || entry.endsWith(".ts"))
      : [];
    throw new ScriptError(
      `no benchmark "${name}". There are: ${names.map((entry) => entry.replace(/\.ts$/, "")).join(", ")}`,
    );
  }
  await setup();
  const { exitCode } = await attempt(projectNode, ["--conditions=mrlm-source", main, ...args]);
  return exitCode;
});
