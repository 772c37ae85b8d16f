import type { EmscriptenModule, Fs, FsNode, FsStream } from "./emscripten.ts";

const EROFS = 69;
const ENOSPC = 51;
/** Approximate memory of a node without its contents. */
const NODE_BYTES = 1024;

type Fields = Pick<
  FsNode,
  | "name"
  | "mode"
  | "parent"
  | "usedBytes"
  | "link"
  | "name_next"
  | "mounted"
  | "stream_ops"
  | "atime"
  | "mtime"
  | "ctime"
>;

interface Kept {
  readonly node: FsNode;
  readonly fields: Partial<Fields>;
  readonly contents: Record<string, FsNode> | Uint8Array | undefined;
}

/** Copy of the in-memory file system for restoring: nodes, names, open files, the working directory. */
export interface FileSystemImage {
  readonly nodes: readonly Kept[];
  readonly nameTable: Fs["nameTable"];
  readonly streams: readonly {
    readonly fd: number;
    readonly stream: FsStream;
    readonly fields: object;
    readonly shared: object;
  }[];
  readonly nextInode: number;
  readonly currentPath: string;
}

/** Limits, copies and restores the file system, which Emscripten keeps in JavaScript, outside the memory of the interpreter. */
export class FileSystem {
  readonly #fs: Fs;
  /** Files that exist before any submission. They are read-only, so images share their contents. */
  readonly #lasting = new Set<FsNode>();
  #leftBytes = Number.POSITIVE_INFINITY;

  constructor({ FS, MEMFS }: EmscriptenModule) {
    this.#fs = FS;
    const refuse = (errno: number): never => {
      throw new FS.ErrnoError(errno);
    };
    const charge = (bytes: number): void => {
      if (bytes > this.#leftBytes) refuse(ENOSPC);
      this.#leftBytes -= bytes;
    };
    const { createNode, destroyNode } = FS;
    FS.createNode = (...args) => {
      charge(NODE_BYTES);
      return createNode(...args);
    };
    FS.destroyNode = (node) => {
      const isOpen = FS.streams.some((stream) => stream?.node === node);
      if (!isOpen) charge(-NODE_BYTES - (node.contents instanceof Uint8Array ? node.contents.length : 0));
      destroyNode(node);
    };
    // Emscripten's own functions copy a file each time that it grows by an eighth or changes its length, which makes much garbage.
    MEMFS.expandFileStorage = (node, size) => {
      if (this.#lasting.has(node)) refuse(EROFS);
      const old = node.contents as Uint8Array;
      if (size <= old.length) return;
      const capacity = Math.max(size, Math.min(2 * old.length, old.length + this.#leftBytes));
      charge(capacity - old.length);
      const contents = new Uint8Array(capacity);
      contents.set(old.subarray(0, node.usedBytes));
      node.contents = contents;
    };
    MEMFS.resizeFileStorage = (node, size) => {
      if (this.#lasting.has(node)) refuse(EROFS);
      MEMFS.expandFileStorage(node, size);
      (node.contents as Uint8Array).fill(0, Math.min(size, node.usedBytes as number), node.usedBytes);
      node.usedBytes = size;
    };
    const files = MEMFS.ops_table.file.stream;
    const { write } = files;
    files.write = (stream, ...rest) => {
      const { node } = stream;
      if (this.#lasting.has(node)) refuse(EROFS);
      // The first write to an empty file replaces its buffer.
      const [, , length, position] = rest as [unknown, unknown, number, number];
      if (node.usedBytes === 0 && position === 0 && length > 0) charge(length - (node.contents as Uint8Array).length);
      return write(stream, ...rest);
    };
  }

  /** Bytes by which it may still grow. */
  get leftBytes(): number {
    return this.#leftBytes;
  }

  /** Sets the bytes by which the file system may grow. */
  limit(bytes: number): void {
    this.#leftBytes = bytes;
  }

  /** Makes the present files read-only. */
  makeLasting(): void {
    for (const node of this.#nodes()) if (this.#fs.isFile(node.mode)) this.#lasting.add(node);
  }

  capture(): FileSystemImage {
    const { nameTable, streams, nextInode, currentPath } = this.#fs;
    return {
      nodes: [...this.#nodes()].map((node) => this.#keep(node)),
      nameTable: [...nameTable],
      streams: streams.flatMap((stream, fd) =>
        stream ? [{ fd, stream, fields: { ...stream }, shared: { ...stream.shared } }] : [],
      ),
      nextInode,
      currentPath,
    };
  }

  restore(image: FileSystemImage): void {
    const fs = this.#fs;
    for (const { node, fields, contents } of image.nodes) {
      Object.assign(node, fields);
      if (contents !== undefined) node.contents = this.#lasting.has(node) ? contents : copyOf(contents);
    }
    for (let index = 0; index < image.nameTable.length; index++) fs.nameTable[index] = image.nameTable[index];
    fs.streams.length = 0;
    for (const { fd, stream, fields, shared } of image.streams) {
      // A closed stream has lost its number.
      Object.assign(stream, fields);
      Object.assign(stream.shared, shared);
      fs.streams[fd] = stream;
    }
    fs.nextInode = image.nextInode;
    fs.currentPath = image.currentPath;
  }

  #keep(node: FsNode): Kept {
    const { name, mode, parent, usedBytes, link, name_next, mounted, stream_ops, atime, mtime, ctime } = node;
    const all: Fields = {
      name,
      mode,
      parent,
      mounted,
      stream_ops,
      atime,
      mtime,
      ctime,
      name_next,
      ...(usedBytes === undefined ? {} : { usedBytes }),
      ...(link === undefined ? {} : { link }),
    };
    const contents = node.contents === undefined || this.#lasting.has(node) ? node.contents : copyOf(node.contents);
    return { node, fields: all, contents };
  }

  *#nodes(node: FsNode = this.#fs.root): Generator<FsNode> {
    yield node;
    if (node.mounted && node.mounted.root !== node) yield* this.#nodes(node.mounted.root);
    if (this.#fs.isDir(node.mode) && node.contents !== undefined) {
      for (const child of Object.values(node.contents as Record<string, FsNode>)) yield* this.#nodes(child);
    }
  }
}

function copyOf(contents: Record<string, FsNode> | Uint8Array): Record<string, FsNode> | Uint8Array {
  return contents instanceof Uint8Array ? contents.slice() : { ...contents };
}
