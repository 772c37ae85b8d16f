import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { MemoryImage, type Run } from "./memory-image.ts";

/** Memory of an interpreter right after its start, with the values that JavaScript needs to use it. */
export interface BootImage {
  readonly memory: MemoryImage;
  readonly stackPointer: number;
  /** Address of the Python function that answers messages. */
  readonly handler: number;
}

interface Header {
  readonly length: number;
  readonly runs: readonly { readonly start: number; readonly end: number; readonly isZero: boolean }[];
  readonly stackPointer: number;
  readonly handler: number;
}

const HEADER_LENGTH_BYTES = 4;

/** Writes an image to a file atomically. */
export function writeBootImage(path: string, { memory, stackPointer, handler }: BootImage): void {
  const runs = memory.runs.map(({ start, end, bytes }) => ({ start, end, isZero: bytes === undefined }));
  const header = Buffer.from(JSON.stringify({ length: memory.length, runs, stackPointer, handler } satisfies Header));
  const length = Buffer.alloc(HEADER_LENGTH_BYTES);
  length.writeUInt32LE(header.length);
  const part = `${path}.${process.pid}.part`;
  writeFileSync(
    part,
    Buffer.concat([length, header, ...memory.runs.flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes]))]),
  );
  renameSync(part, path);
}

export function readBootImage(path: string): BootImage {
  const file = readFileSync(path);
  let at = HEADER_LENGTH_BYTES + file.readUInt32LE(0);
  const header = JSON.parse(file.toString("utf8", HEADER_LENGTH_BYTES, at)) as Header;
  const runs = header.runs.map(({ start, end, isZero }): Run => {
    if (isZero) return { start, end };
    const bytes = file.subarray(at, at + end - start);
    at += bytes.length;
    return { start, end, bytes };
  });
  return { memory: new MemoryImage(header.length, runs), stackPointer: header.stackPointer, handler: header.handler };
}
