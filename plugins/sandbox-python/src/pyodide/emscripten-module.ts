/* oxlint-disable no-underscore-dangle -- names of Emscripten's */
import { constants, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { EmscriptenModule, EmscriptenSettings, ImportedFunction } from "./emscripten.ts";
import { type WasmInstance, WebAssembly } from "./web-assembly.ts";

const HOME = "/home/submission";
/** Folder of this package's Python modules in the interpreter. */
const PACKAGE = "/lib/mrlm";

/** Options of loading the module. */
export interface LoadOptions {
  /** Folder of this package's Python modules. */
  readonly python: string;
  /** False leaves the initial memory, into which an image is then copied. */
  readonly initializesPython: boolean;
  /** Changes, in place, the functions that WebAssembly code imports. */
  readonly adapt: (imports: Record<string, ImportedFunction>) => void;
}

/** Loads CPython as compiled by Pyodide, without Pyodide's own loader. */
export async function loadModule({
  python,
  initializesPython,
  adapt,
}: LoadOptions): Promise<{ module: EmscriptenModule; instance: WasmInstance }> {
  // Emscripten reads these constants at its start, through a property that Node's permission model forbids.
  Object.defineProperty(process, "binding", { value: () => ({ fs: constants }), configurable: true });
  const folder = pyodideFolder();
  const program = new WebAssembly.Module(readFileSync(join(folder, "pyodide.asm.wasm")));
  const { default: create } = (await import(pathToFileURL(join(folder, "pyodide.asm.mjs")).href)) as {
    default: (settings: EmscriptenSettings) => Promise<EmscriptenModule>;
  };
  let instance: WasmInstance | undefined;
  const module = await create({
    // Properties of Pyodide's own loader that the module reads.
    API: {
      config: { jsglobals: {}, env: {}, args: [], packages: [] },
      runtimeEnv: { IN_NODE: true },
      lockFilePromise: Promise.resolve(JSON.parse(readFileSync(join(folder, "pyodide-lock.json"), "utf8"))),
    },
    arguments: [],
    thisProgram: "python",
    noInitialRun: !initializesPython,
    noImageDecoding: true,
    noAudioDecoding: true,
    preRun: [(made) => install(made, folder, python)],
    print: () => {},
    printErr: () => {},
    locateFile: (name) => join(folder, name),
    instantiateWasm(imports, done) {
      const functions = imports["env"] as Record<string, ImportedFunction>;
      // Functions of Pyodide's bridge, which another WebAssembly module provides there.
      Object.assign(functions, { Jsv_GetError_import: () => 0, JsvError_Check: () => 0 });
      adapt(functions);
      instance = new WebAssembly.Instance(program, imports);
      done(instance, program);
      return {};
    },
  });
  return { module, instance: instance as WasmInstance };
}

/** Returns the folder of the package `pyodide`. */
export function pyodideFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
}

/** Installs the standard library and this package's modules in the in-memory file system. */
function install(module: EmscriptenModule, folder: string, python: string): void {
  const { FS, ENV } = module;
  const version = module.HEAPU32[module._Py_Version >>> 2] as number;
  const [major, minor] = [version >>> 24, (version >>> 16) & 0xff];
  FS.mkdirTree(`/lib/python${major}.${minor}/lib-dynload`);
  FS.writeFile(`/lib/python${major}${minor}.zip`, readFileSync(join(folder, "python_stdlib.zip")));
  FS.mkdirTree(`${PACKAGE}/mrlm_sandbox`);
  for (const name of readdirSync(join(python, "mrlm_sandbox"))
    .filter((file) => file.endsWith(".py"))
    .sort()) {
    FS.writeFile(`${PACKAGE}/mrlm_sandbox/${name}`, readFileSync(join(python, "mrlm_sandbox", name)));
  }
  FS.mkdirTree(HOME);
  FS.chdir(HOME);
  // A fixed hash seed: equal submissions print their sets in the same order.
  Object.assign(ENV, {
    HOME,
    PYTHONPATH: PACKAGE,
    PYTHONHASHSEED: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONNOUSERSITE: "1",
  });
}
