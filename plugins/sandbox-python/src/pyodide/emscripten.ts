import type { WasmInstance, WasmProgram } from "./web-assembly.ts";

/** Types of the part of Emscripten's module object that this package uses. */

/** Node of the in-memory file system. */
export interface FsNode {
  id: number;
  name: string;
  mode: number;
  parent: FsNode;
  /** Nodes by name for a directory; bytes for a file, of which the first `usedBytes` are used. */
  contents?: Record<string, FsNode> | Uint8Array;
  usedBytes?: number;
  link?: string;
  name_next?: FsNode | undefined;
  mounted: { root: FsNode } | null;
  stream_ops: unknown;
  atime: number;
  mtime: number;
  ctime: number;
}

/** Open file. */
export interface FsStream {
  node: FsNode;
  fd: number;
  /** State that duplicates of a descriptor share: position, flags, a count. */
  shared: object;
}

export interface Fs {
  root: FsNode;
  streams: (FsStream | null | undefined)[];
  nameTable: (FsNode | undefined)[];
  nextInode: number;
  currentPath: string;
  ErrnoError: new (errno: number) => Error;
  createNode(parent: FsNode, ...rest: unknown[]): FsNode;
  destroyNode(node: FsNode): void;
  isDir(mode: number): boolean;
  isFile(mode: number): boolean;
  mkdirTree(path: string): void;
  writeFile(path: string, content: Uint8Array): void;
  chdir(path: string): void;
  makedev(major: number, minor: number): number;
  registerDevice(device: number, operations: DeviceOperations): void;
  mkdev(path: string, device: number): void;
  open(path: string, flags: number): FsStream;
  unlink(path: string): void;
  close(stream: FsStream): void;
}

/** Operations of a character device. `buffer` is the interpreter's memory. */
export interface DeviceOperations {
  read(stream: FsStream, buffer: Int8Array, offset: number, length: number): number;
  write(stream: FsStream, buffer: Int8Array, offset: number, length: number): number;
}

export interface MemFs {
  expandFileStorage(node: FsNode, capacity: number): void;
  resizeFileStorage(node: FsNode, size: number): void;
  ops_table: { file: { stream: { write(stream: FsStream, ...rest: unknown[]): number } } };
}

export type CFunction = (...args: number[]) => number;

export interface EmscriptenModule {
  HEAPU8: Uint8Array;
  HEAPU32: Uint32Array;
  FS: Fs;
  MEMFS: MemFs;
  ENV: Record<string, string>;
  growMemory(bytes: number): number | undefined;
  _Py_Version: number;
  _malloc: CFunction;
  _free: CFunction;
  _sbrk: CFunction;
  _PyImport_ImportModule: CFunction;
  _PyObject_GetAttrString: CFunction;
  _PyObject_CallNoArgs: CFunction;
  _PyObject_CallOneArg: CFunction;
  _PyUnicode_FromStringAndSize: CFunction;
  _PyUnicode_AsUTF8AndSize: CFunction;
  _Py_DecRef: CFunction;
  _PyErr_Print: CFunction;
}

/** JavaScript function that WebAssembly code calls. */
export type ImportedFunction = ((...args: number[]) => unknown) & { readonly sig?: string };

/** Settings of the module's factory. */
export interface EmscriptenSettings {
  readonly API: object;
  readonly arguments: readonly string[];
  readonly thisProgram: string;
  readonly noInitialRun: boolean;
  readonly noImageDecoding: true;
  readonly noAudioDecoding: true;
  readonly preRun: readonly ((module: EmscriptenModule) => void)[];
  readonly print: (line: string) => void;
  readonly printErr: (line: string) => void;
  readonly locateFile: (name: string) => string;
  readonly instantiateWasm: (
    imports: Record<string, Record<string, ImportedFunction>>,
    done: (instance: WasmInstance, program: WasmProgram) => void,
  ) => object;
}
