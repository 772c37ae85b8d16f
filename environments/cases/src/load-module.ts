import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { MrlmError } from "@mrlm/kit";

/** Endings that bundlers try for an import without one. Node needs the whole name. */
const ENDINGS = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"];
/** Codes of Node for an import that leads nowhere. */
const MISSING: readonly string[] = ["ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT"];

/** Files are loaded one after the other: their hooks are those of the process. */
let loading: Promise<unknown> = Promise.resolve();

/** Packages that a file receives in place of the installed ones. */
interface Replaced {
  /** Source texts by name. */
  readonly sources: Readonly<Record<string, string>>;
  /** Called before and after the import, while no other one runs. */
  begin(): void;
  end(): void;
}

const NOTHING: Replaced = { sources: {}, begin: () => undefined, end: () => undefined };

/**
 * Imports a module of a user in this process, as Node does. Imports without an ending, or with `.js` for a `.ts` file, are resolved as bundlers resolve them.
 * @param version text that changes with the content: a changed file is imported again
 * @param replaced packages that the file receives in place of the installed ones
 * @throws DATA_INVALID where the import fails
 */
export function loadModule(
  path: string,
  version: string,
  replaced = NOTHING,
): Promise<Readonly<Record<string, unknown>>> {
  const loaded = loading.then(() => importModule(path, version, replaced));
  loading = loaded.catch(() => undefined);
  return loaded;
}

async function importModule(
  path: string,
  version: string,
  { sources, begin, end }: Replaced,
): Promise<Readonly<Record<string, unknown>>> {
  const scheme = `mrlm-${version}:`;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (Object.hasOwn(sources, specifier))
        return { url: `${scheme}${specifier}`, format: "module", shortCircuit: true };
      try {
        return next(specifier, context);
      } catch (error) {
        if (!/^\.{1,2}\//.test(specifier) || !MISSING.includes(codeOf(error))) throw error;
        const stem = specifier.replace(/\.m?js$/, "");
        for (const candidate of ENDINGS.map((ending) => `${stem}${ending}`)) {
          try {
            return next(candidate, context);
          } catch (other) {
            if (!MISSING.includes(codeOf(other))) throw other;
          }
        }
        throw error;
      }
    },
    load: (url, context, next) =>
      url.startsWith(scheme)
        ? { format: "module", source: sources[url.slice(scheme.length)] ?? "", shortCircuit: true }
        : next(url, context),
  });
  begin();
  try {
    return (await import(`${pathToFileURL(path).href}?${version}`)) as Record<string, unknown>;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new MrlmError("DATA_INVALID", `${path} cannot be imported: ${message}`, {
      hint: MISSING.includes(codeOf(error))
        ? "Install the package in the project of the file, or correct the import."
        : "The file runs as Node runs TypeScript: without enums, namespaces and JSX.",
      cause: error,
    });
  } finally {
    end();
    hooks.deregister();
  }
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | undefined)?.code);
}
