import { constants, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { addDevice } from "./device.ts";
import type { CFunction, EmscriptenModule, EmscriptenSettings, ImportedFunction } from "./emscripten.ts";
import { FileSystem, type FileSystemImage } from "./file-system.ts";
import { type Seal, sealImports } from "./imports.ts";
import { MemoryImage } from "./memory-image.ts";
import { Streams } from "./streams.ts";
import { type WasmGlobal, type WasmInstance, WebAssembly } from "./web-assembly.ts";

const HOME = "/home/submission";
/** Where this package's Python modules lie. */
const PACKAGE = "/lib/mrlm";

/** Memory grows by at least this much: each step costs time, and what is not touched costs no memory. */
const GROWTH_STEP = 16 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Everything that an interpreter is. */
interface Image {
  readonly memory: MemoryImage;
  readonly files: FileSystemImage;
  readonly stackPointer: number;
}

/**
 * CPython, compiled to WebAssembly by Pyodide, without Pyodide's bridge to JavaScript: nothing but text goes in and out. The standard library
 * is all there is to import.
 */
export class Interpreter {
  readonly streams: Streams;
  readonly files: FileSystem;
  readonly #module: EmscriptenModule;
  readonly #instance: WasmInstance;
  readonly #seal: Seal;
  #handler = 0;
  #image: Image | undefined;
  #maxBytes = Number.POSITIVE_INFINITY;

  private constructor(module: EmscriptenModule, instance: WasmInstance, seal: Seal) {
    this.#module = module;
    this.#instance = instance;
    this.#seal = seal;
    this.streams = new Streams(module);
    this.files = new FileSystem(module);
  }

  /** Starts Python; `python` is the folder of this package's Python modules. */
  static async start(python: string): Promise<Interpreter> {
    const folder = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
    const program = new WebAssembly.Module(readFileSync(join(folder, "pyodide.asm.wasm")));
    const { default: create } = (await import(pathToFileURL(join(folder, "pyodide.asm.mjs")).href)) as { default: (settings: EmscriptenSettings) => Promise<EmscriptenModule> };
    // Emscripten looks at these constants on its start, by a name that Node's permission model forbids.
    Object.defineProperty(process, "binding", { value: () => ({ fs: constants }), configurable: true });
    const seal: Seal = { isClosed: false };
    let interpreter: Interpreter | undefined;
    let instance: WasmInstance | undefined;
    const module = await create({
      // What the module reads of Pyodide's own loader.
      API: {
        config: { jsglobals: {}, env: {}, args: [], packages: [] },
        runtimeEnv: { IN_NODE: true },
        lockFilePromise: Promise.resolve(JSON.parse(readFileSync(join(folder, "pyodide-lock.json"), "utf8"))),
      },
      arguments: [],
      thisProgram: "python",
      noImageDecoding: true,
      noAudioDecoding: true,
      preRun: [(made) => install(made, folder, python)],
      print: () => {},
      printErr: () => {},
      locateFile: (name) => join(folder, name),
      instantiateWasm(imports, done) {
        // Of Pyodide's bridge; made by another WebAssembly module there.
        Object.assign(imports["env"] as object, { Jsv_GetError_import: () => {}, JsvError_Check: () => 0 });
        sealImports(imports["env"] as Record<string, ImportedFunction>, seal, { emscripten_resize_heap: (bytes = 0) => interpreter?.grow(bytes >>> 0) ?? 0 });
        instance = new WebAssembly.Instance(program, imports);
        done(instance, program);
        return {};
      },
    });
    interpreter = new Interpreter(module, instance as WasmInstance, seal);
    return interpreter;
  }

  /** Makes `/dev/NAME`. */
  addDevice(name: string, read: (into: Uint8Array) => number, write: (bytes: Uint8Array) => void): void {
    addDevice(this.#module.FS, name, read, write);
  }

  /** Imports a module and makes what its function `start` returns the one that answers messages. From now on Python reaches nothing outside. */
  prepare(name: string): void {
    const c = this.#module;
    const python = this.#withText(name, (text) => c._PyImport_ImportModule(text));
    const start = this.#withText("start", (text) => c._PyObject_GetAttrString(python, text));
    this.#handler = c._PyObject_CallNoArgs(start);
    if (this.#handler === 0) {
      c._PyErr_Print();
      throw new Error(`Python could not start ${name}`);
    }
    this.#seal.isClosed = true;
    this.files.makeLasting();
  }

  /** Python's answer to a message. Throws what the imports throw, and WebAssembly's own errors: then the interpreter is of no more use until it is reset. */
  ask(message: string): string {
    const c = this.#module;
    const bytes = encoder.encode(message);
    const buffer = allocate(c._malloc, bytes.length);
    c.HEAPU8.set(bytes, buffer);
    const text = c._PyUnicode_FromStringAndSize(buffer, bytes.length);
    c._free(buffer);
    const answer = c._PyObject_CallOneArg(this.#handler, text);
    c._Py_DecRef(text);
    if (answer === 0) throw new Error("Python raised where it must not");
    const size = allocate(c._malloc, 4);
    const start = c._PyUnicode_AsUTF8AndSize(answer, size) >>> 0;
    const said = decoder.decode(c.HEAPU8.subarray(start, start + (c.HEAPU32[size >>> 2] as number)));
    c._free(size);
    c._Py_DecRef(answer);
    return said;
  }

  /** Everything that the next message may change. */
  capture(): Image {
    const stackPointer = this.#stackPointer.value;
    return { memory: new MemoryImage(this.#module.HEAPU8), files: this.files.capture(), stackPointer };
  }

  /** Goes back to an image. */
  restore(image: Image): void {
    image.memory.restore(this.#module.HEAPU8);
    this.files.restore(image.files);
    this.#stackPointer.value = image.stackPointer;
  }

  /** Makes the present state the one to which `reset` goes back. */
  keep(): void {
    this.#image = this.capture();
  }

  /** Makes it as it was, but for memory by which it has grown: that is empty, and stays. */
  reset(): void {
    this.restore(this.#image as Image);
    this.streams.reset();
  }

  /** Bytes of memory by which it has grown since `keep`. */
  get grownBytes(): number {
    return this.#module.HEAPU8.length - (this.#image?.memory.length ?? 0);
  }

  /** By how much memory may grow. */
  limit(bytes: number): void {
    this.#maxBytes = this.#module.HEAPU8.length + bytes;
    this.files.limit(bytes);
  }

  /** Memory is to have `bytes`. Returns 1 if it has. */
  grow(bytes: number): number {
    const before = this.#module.HEAPU8.length;
    if (bytes > this.#maxBytes) return 0;
    return this.#module.growMemory(Math.min(this.#maxBytes, Math.max(bytes, before + GROWTH_STEP))) ?? 0;
  }

  get #stackPointer(): WasmGlobal {
    return this.#instance.exports["__stack_pointer"] as WasmGlobal;
  }

  #withText(text: string, use: (pointer: number) => number): number {
    const bytes = encoder.encode(`${text}\0`);
    const pointer = allocate(this.#module._malloc, bytes.length);
    this.#module.HEAPU8.set(bytes, pointer);
    const result = use(pointer);
    this.#module._free(pointer);
    return result;
  }
}

function allocate(malloc: CFunction, bytes: number): number {
  const pointer = malloc(bytes) >>> 0;
  if (pointer === 0) throw new RangeError("no memory is left for a message");
  return pointer;
}

/** Puts the standard library and this package's modules in their places. */
function install(module: EmscriptenModule, folder: string, python: string): void {
  const { FS, ENV } = module;
  const version = module.HEAPU32[module._Py_Version >>> 2] as number;
  const [major, minor] = [version >>> 24, (version >>> 16) & 0xff];
  FS.mkdirTree(`/lib/python${major}.${minor}/lib-dynload`);
  FS.writeFile(`/lib/python${major}${minor}.zip`, readFileSync(join(folder, "python_stdlib.zip")));
  FS.mkdirTree(`${PACKAGE}/mrlm_sandbox`);
  for (const name of readdirSync(join(python, "mrlm_sandbox")).filter((file) => file.endsWith(".py"))) {
    FS.writeFile(`${PACKAGE}/mrlm_sandbox/${name}`, readFileSync(join(python, "mrlm_sandbox", name)));
  }
  FS.mkdirTree(HOME);
  FS.chdir(HOME);
  // A fixed seed of hashes: equal submissions print their sets in equal order.
  Object.assign(ENV, { HOME, PYTHONPATH: PACKAGE, PYTHONHASHSEED: "0", PYTHONDONTWRITEBYTECODE: "1", PYTHONNOUSERSITE: "1" });
}
