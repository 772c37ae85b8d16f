import { MrlmError } from "@mrlm/spec";
import type { PluginPackage } from "./plugin-package.ts";
import { describeThrown } from "./error-location.ts";

/** Advice by Node's error codes. */
const HINTS: Readonly<Record<string, string>> = {
  ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX:
    "Node runs TypeScript by leaving its types out, so there are no enums, namespaces or parameter properties: write them in JavaScript, or build the plugin.",
  ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING:
    "Node runs TypeScript only outside node_modules: build the plugin, and name the JavaScript in its manifest.",
  ERR_MODULE_NOT_FOUND: "Build the plugin, and check the paths in its manifest and its imports.",
};

/** Creates a PLUGIN_LOAD_FAILED error for an error of an import, with its location and a hint. */
export function importFault({ name, entry, directory }: PluginPackage, error: unknown): MrlmError {
  return new MrlmError(
    "PLUGIN_LOAD_FAILED",
    `The entry of plugin ${name} (${entry}) could not be imported: ${reasonOf(error)}`,
    { cause: error, ...adviceFor(error, directory) },
  );
}

function reasonOf(error: unknown): string {
  if (codeOf(error) === "ERR_MODULE_NOT_FOUND") return (error as Error).message;
  // The stack of a syntax error begins with its file and line.
  const place =
    error instanceof SyntaxError ? /^(?:file:\/\/)?(\/?[^\n]+:\d+)\n/.exec(error.stack ?? "")?.[1] : undefined;
  return place === undefined ? describeThrown(error) : `${(error as SyntaxError).message} (${place})`;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function adviceFor(error: unknown, directory: string): { readonly hint?: string } {
  const specifier =
    codeOf(error) === "ERR_MODULE_NOT_FOUND"
      ? /^Cannot find package '([^']+)'/.exec((error as Error).message)?.[1]
      : undefined;
  if (specifier !== undefined) return { hint: installHint(specifier, directory) };
  const hint =
    HINTS[String(codeOf(error))] ?? (error instanceof SyntaxError ? "Correct the source at that place." : undefined);
  return hint === undefined ? {} : { hint };
}

function installHint(specifier: string, directory: string): string {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const isOurs = name.startsWith("@mrlm/");
  return `Install it for the plugin: \`npm install ${name}\` in ${directory}.${isOurs ? ' From a clone of mrlm: "In a project of your own" in docs/build/environments.md.' : ""}`;
}
