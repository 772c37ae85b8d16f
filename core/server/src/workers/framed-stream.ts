import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { Metadata, status, type StatusObject } from "@grpc/grpc-js";
import { ERROR_METADATA_KEY } from "@mrlm/wire";

/** First byte of a frame: its kind. */
const FRAME = 0;
const FAILURE = 1;
const HEADER_BYTES = 5;
/** Longest frame that is accepted. The other side writes frames of about 1 MiB at most. */
const MAX_FRAME_BYTES = 4 << 20;

/**
 * Stream of frames between the server process and a worker. It costs a fraction of a gRPC stream, and it delivers what a process had written before it ended.
 * The client of grpc-js drops messages that it has received when the connection is lost, and a failed write to a socket drops what it has not yet read:
 * each direction has a socket of its own.
 *
 * Emits `failure` with the status that the other side gave to `fail`.
 */
export class FramedStream extends Duplex {
  readonly #reader: Socket;
  readonly #writer: Socket;
  /** Bytes of a frame that is not yet whole. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** Bytes with which the first frame is whole. */
  #needed = HEADER_BYTES;
  #isEnded = false;

  /** @param endsWithWriter whether the stream closes when the other side reads no more; else it closes when it has read all */
  constructor(reader: Socket, writer: Socket, endsWithWriter = false) {
    super({ objectMode: true, writableHighWaterMark: 8, readableHighWaterMark: 8 });
    this.#reader = reader;
    this.#writer = writer;
    reader.on("data", (chunk: Buffer) => this.#receive(chunk));
    for (const event of ["end", "error", "close"]) reader.on(event, () => this.#end());
    // The end of the reader shows that the other process is gone.
    writer.on("error", () => undefined);
    if (!endsWithWriter) return;
    for (const event of ["end", "close"]) writer.on(event, () => this.destroy());
    writer.resume();
  }

  /** Reports the status of gRPC with which the client's stream cannot continue, and ends this one. */
  fail(failure: Partial<StatusObject>): void {
    this.#writer.write(framed(FAILURE, encodeFailure(failure)));
    this.end();
  }

  override _write(frame: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    if (this.#writer.destroyed) done();
    else this.#writer.write(framed(FRAME, frame), () => done());
  }

  override _final(done: () => void): void {
    if (this.#writer.destroyed) done();
    else this.#writer.end(() => done());
  }

  override _read(): void {
    if (this.#reader.isPaused()) this.#reader.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#reader.destroy();
    this.#writer.destroySoon();
    this.#rest = [];
    done(error);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.push(null);
  }

  #receive(chunk: Buffer): void {
    this.#rest.push(chunk);
    this.#restBytes += chunk.length;
    if (this.#restBytes < this.#needed) return;
    let bytes = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest, this.#restBytes);
    for (;;) {
      this.#needed = HEADER_BYTES;
      if (bytes.length < HEADER_BYTES) break;
      const length = bytes.readUInt32BE(1);
      if (length > MAX_FRAME_BYTES) return void this.destroy();
      this.#needed = HEADER_BYTES + length;
      if (bytes.length < this.#needed) break;
      const frame = bytes.subarray(HEADER_BYTES, this.#needed);
      if (bytes[0] === FAILURE) this.emit("failure", decodeFailure(frame));
      else if (!this.push(frame)) this.#reader.pause();
      bytes = bytes.subarray(this.#needed);
    }
    this.#rest = bytes.length === 0 ? [] : [bytes];
    this.#restBytes = bytes.length;
  }
}

function framed(kind: number, frame: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + frame.length);
  bytes[0] = kind;
  bytes.writeUInt32BE(frame.length, 1);
  bytes.set(frame, HEADER_BYTES);
  return bytes;
}

/** Status between processes. */
interface Failure {
  readonly code: number;
  readonly details: string;
  /** Serialised ErrorDetail in base64. */
  readonly error: string;
}

function encodeFailure({ code = status.INTERNAL, details = "", metadata }: Partial<StatusObject>): Buffer {
  const [error] = metadata?.get(ERROR_METADATA_KEY) ?? [];
  const failure: Failure = { code, details, error: error instanceof Buffer ? error.toString("base64") : "" };
  return Buffer.from(JSON.stringify(failure));
}

function decodeFailure(text: Buffer): StatusObject {
  const metadata = new Metadata();
  try {
    const { code, details, error } = JSON.parse(text.toString()) as Failure;
    if (error !== "") metadata.set(ERROR_METADATA_KEY, Buffer.from(error, "base64"));
    return { code: Number(code), details: String(details), metadata };
  } catch {
    return { code: status.INTERNAL, details: "A worker ended the stream without a reason.", metadata };
  }
}
