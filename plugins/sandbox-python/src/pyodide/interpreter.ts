/* oxlint-disable no-underscore-dangle -- names of Emscripten's */
import type { BootImage } from "./boot-image.ts";
import { addDevice } from "./device.ts";
import type { CFunction, EmscriptenModule } from "./emscripten.ts";
import { loadModule } from "./emscripten-module.ts";
import { FileSystem, type FileSystemImage } from "./file-system.ts";
import { type Seal, sealImports } from "./imports.ts";
import { MemoryImage } from "./memory-image.ts";
import { Streams } from "./streams.ts";
import type { WasmGlobal, WasmInstance } from "./web-assembly.ts";

/** Smallest growth of memory: each step costs time, and untouched pages cost no memory. */
const GROWTH_STEP = 16 * 1024 * 1024;

/** Limit of a program's files, as in the kind `native`. */
const FILE_BYTES = 32 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Complete state of an interpreter. */
export interface InterpreterImage {
  readonly memory: MemoryImage;
  readonly files: FileSystemImage;
  readonly stackPointer: number;
}

/**
 * CPython, compiled to WebAssembly by Pyodide, without Pyodide's bridge to JavaScript: only text enters and leaves it. Programs can import the
 * standard library only.
 */
export class Interpreter {
  readonly streams: Streams;
  readonly #files: FileSystem;
  readonly #module: EmscriptenModule;
  readonly #stackPointer: WasmGlobal;
  readonly #seal: Seal;
  #handler = 0;
  #image: InterpreterImage | undefined;
  #maxBytes = Number.POSITIVE_INFINITY;
  #startBytes = 0;
  /** Python was refused memory since `limit`. */
  #isExhausted = false;

  private constructor(module: EmscriptenModule, instance: WasmInstance, seal: Seal) {
    this.#module = module;
    this.#stackPointer = instance.exports["__stack_pointer"] as WasmGlobal;
    this.#seal = seal;
    this.streams = new Streams(module);
    this.#files = new FileSystem(module);
  }

  /** Makes an interpreter from an image; without one, starts Python, which takes a second. `python` is the folder of this package's modules. */
  static async start(python: string, image?: BootImage): Promise<Interpreter> {
    const seal: Seal = { isClosed: false };
    const made: { interpreter?: Interpreter } = {};
    const { module, instance } = await loadModule({
      python,
      initializesPython: image === undefined,
      adapt: (imports) =>
        sealImports(imports, seal, {
          emscripten_resize_heap: (bytes = 0) =>
            made.interpreter === undefined ? 0 : made.interpreter.#grow(bytes >>> 0),
        }),
    });
    const interpreter = new Interpreter(module, instance, seal);
    made.interpreter = interpreter;
    if (image === undefined) interpreter.#prepare();
    else interpreter.#load(image);
    return interpreter;
  }

  /** Makes `/dev/NAME`. */
  addDevice(name: string, read: (into: Uint8Array) => number, write: (bytes: Uint8Array) => void): void {
    addDevice(this.#module.FS, name, read, write);
  }

  /** Returns its present memory, from which other processes start. */
  bootImage(): BootImage {
    return {
      memory: MemoryImage.of(this.#module.HEAPU8),
      stackPointer: this.#stackPointer.value,
      handler: this.#handler,
    };
  }

  /** Closes the seal and records the state that `reset` restores. */
  begin(role: "runner" | "checker"): void {
    this.#seal.isClosed = true;
    this.#files.makeLasting();
    this.ask(role);
    this.#image = this.capture();
  }

  /**
   * Returns Python's answer to a message. Throws errors of the imports and of WebAssembly, and RangeError where memory ran out; the interpreter must then
   * be reset.
   */
  ask(message: string): string {
    const c = this.#module;
    const bytes = encoder.encode(message);
    const buffer = allocate(c._malloc, bytes.length);
    c.HEAPU8.set(bytes, buffer);
    const text = c._PyUnicode_FromStringAndSize(buffer, bytes.length);
    c._free(buffer);
    if (text === 0) throw new RangeError("no memory is left for a message");
    const answer = c._PyObject_CallOneArg(this.#handler, text);
    c._Py_DecRef(text);
    // A program that fills the memory and keeps it leaves none for the answer that reports its MemoryError.
    if (answer === 0 && this.#isExhausted) throw new RangeError("no memory is left for an answer");
    if (answer === 0) throw new Error("Python raised where it must not");
    const size = allocate(c._malloc, 4);
    const start = c._PyUnicode_AsUTF8AndSize(answer, size) >>> 0;
    if (start === 0) throw new Error("Python answered something other than text");
    const answerText = decoder.decode(c.HEAPU8.subarray(start, start + (c.HEAPU32[size >>> 2] as number)));
    c._free(size);
    c._Py_DecRef(answer);
    return answerText;
  }

  /** Copies all state that the next message may change. */
  capture(): InterpreterImage {
    return {
      memory: MemoryImage.of(this.#module.HEAPU8),
      files: this.#files.capture(),
      stackPointer: this.#stackPointer.value,
    };
  }

  restore(image: InterpreterImage): void {
    image.memory.restore(this.#module.HEAPU8, this.#breakBytes);
    this.#files.restore(image.files);
    this.#stackPointer.value = image.stackPointer;
  }

  /** Restores the state of `begin`. Memory that was added since stays, filled with zeros. */
  reset(): void {
    this.restore(this.#image as InterpreterImage);
    this.streams.reset();
  }

  /** Bytes of memory by which it has grown since `begin`. */
  get grownBytes(): number {
    return this.#module.HEAPU8.length - (this.#image?.memory.length ?? 0);
  }

  /** Limits the growth over a new interpreter. The limit does not depend on memory that earlier programs added. */
  limit(bytes: number): void {
    const { length } = (this.#image as InterpreterImage).memory;
    this.#maxBytes = length + bytes;
    this.#isExhausted = false;
    this.#startBytes = this.#breakBytes;
    this.#files.limit(FILE_BYTES);
    const surplus = this.#module.HEAPU8.length - this.#maxBytes;
    if (surplus > 0 && this.#breakBytes <= length) this.#module._sbrk(surplus);
  }

  /** Bytes that the program has used since `limit`, with its files. */
  get usedBytes(): number {
    return Math.max(0, this.#breakBytes - this.#startBytes) + FILE_BYTES - this.#files.leftBytes;
  }

  /** End of the memory that Python has allocated; no byte after it has been written. */
  get #breakBytes(): number {
    return this.#module._sbrk(0) >>> 0;
  }

  /** Grows memory to `bytes`. Returns 1 if it has that size. */
  #grow(bytes: number): number {
    const target = Math.min(this.#maxBytes, Math.max(bytes, this.#module.HEAPU8.length + GROWTH_STEP));
    const isGrown = bytes <= this.#maxBytes && (this.#module.growMemory(target) ?? 0) !== 0;
    this.#isExhausted ||= !isGrown;
    return isGrown ? 1 : 0;
  }

  /** Makes the Python function that answers messages. */
  #prepare(): void {
    const c = this.#module;
    const python = this.#withText("mrlm_sandbox.pyodide_entry", (text) => c._PyImport_ImportModule(text));
    const start = python === 0 ? 0 : this.#withText("start", (text) => c._PyObject_GetAttrString(python, text));
    this.#handler = start === 0 ? 0 : c._PyObject_CallNoArgs(start);
    if (this.#handler !== 0) return;
    let output = "";
    this.streams.onOutput = (_stream, text) => (output += text);
    c._PyErr_Print();
    this.streams.flush();
    throw new Error(`Python could not start: ${output}`);
  }

  #load({ memory, stackPointer, handler }: BootImage): void {
    const missing = memory.length - this.#module.HEAPU8.length;
    if (missing > 0) this.#module.growMemory(memory.length);
    memory.restore(this.#module.HEAPU8, memory.length);
    this.#stackPointer.value = stackPointer;
    this.#handler = handler;
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
