import type ivm from "isolated-vm";
import { stripTypes } from "./typescript.ts";

interface ModuleRun {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  readonly module: ivm.Module;
  readonly files: Readonly<Record<string, string>>;
  /** Returns the names that a built-in module exports; `undefined` if there is no such module. */
  exportsOf(name: string): readonly string[] | undefined;
  readonly timeout: number;
}

/** Links an ES module with the submission's files and the built-in modules, and runs it to its end or first await. */
export function runModule({ isolate, context, module, files, exportsOf, timeout }: ModuleRun): void {
  const known = new Map<string, ivm.Module>();
  module.instantiateSync(context, (specifier) => {
    const found = known.get(specifier) ?? isolate.compileModuleSync(...sourceOf(specifier, files, exportsOf));
    known.set(specifier, found);
    return found;
  });
  module.evaluateSync({ timeout });
}

function sourceOf(
  specifier: string,
  files: ModuleRun["files"],
  exportsOf: ModuleRun["exportsOf"],
): [string, { filename: string }] {
  const path = specifier.startsWith("./") ? specifier.slice(2) : undefined;
  const file =
    path === undefined ? undefined : [path, `${path}.js`, `${path}.ts`].find((name) => Object.hasOwn(files, name));
  if (file !== undefined) return [moduleText(file, files[file] as string), { filename: `./${file}` }];
  const names = exportsOf(specifier);
  if (names === undefined) throw new Error(`Cannot find module '${specifier}'`);
  const named = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== "default");
  return [
    `const it = require(${JSON.stringify(specifier)}); export default it; export const { ${named.join(", ")} } = it;`,
    { filename: `node:${specifier.replace(/^node:/, "")}` },
  ];
}

function moduleText(file: string, text: string): string {
  if (file.endsWith(".json")) return `export default ${text};`;
  return file.endsWith(".ts") ? stripTypes(text, `./${file}`).code : text;
}
