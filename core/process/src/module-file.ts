import { fileURLToPath } from "node:url";

/** Module that runs as a process or a thread, from the sources or from a bundle. */
export interface ModuleFile {
  readonly url: URL;
  readonly path: string;
  /** Options with which Node runs it as a process. */
  readonly execArgv: readonly string[];
}

/**
 * Finds a module beside another one.
 * @param importer `import.meta.url` of a module
 * @param source its place relative to that module, without extension
 * @param bundle its place relative to the bundle of that module. Default: the name of the source, in the same folder
 */
export function moduleFile(importer: string, source: string, bundle = `./${source.split("/").at(-1)}`): ModuleFile {
  const isSource = importer.endsWith(".ts");
  const url = new URL(isSource ? `${source}.ts` : `${bundle}.js`, importer);
  const execArgv = isSource ? ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"] : [];
  return { url, path: fileURLToPath(url), execArgv };
}
