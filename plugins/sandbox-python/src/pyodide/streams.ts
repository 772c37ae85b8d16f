import { addDevice } from "./device.ts";
import type { EmscriptenModule, Fs } from "./emscripten.ts";

const STDIN = 0;
/** Output that is buffered before it is sent. */
const BUFFERED_BYTES = 8192;

export type OutputName = "stdout" | "stderr";

/** Standard input, output and error of the interpreter. */
export class Streams {
  /** Receives the output in pieces. */
  onOutput: (name: OutputName, text: string) => void = () => {};
  readonly #outputs = { stdout: new Output(), stderr: new Output() };
  #input: Uint8Array = new Uint8Array();
  #inputAt = 0;

  constructor({ FS }: EmscriptenModule) {
    const paths = [
      addDevice(
        FS,
        "submission-stdin",
        (into) => this.#read(into),
        () => {},
      ),
      addDevice(
        FS,
        "submission-stdout",
        () => 0,
        (bytes) => this.#write("stdout", bytes),
      ),
      addDevice(
        FS,
        "submission-stderr",
        () => 0,
        (bytes) => this.#write("stderr", bytes),
      ),
    ];
    for (const [fd, path] of paths.entries()) reopen(FS, fd, path);
  }

  /** Sets the standard input of the next program, and the limit of each output. */
  begin(input: string, outputBytes: number): void {
    this.#input = new TextEncoder().encode(input);
    this.#inputAt = 0;
    for (const output of Object.values(this.#outputs)) output.begin(outputBytes);
  }

  /** Sends the buffered output. */
  flush(): void {
    for (const name of ["stdout", "stderr"] as const) {
      const text = this.#outputs[name].take();
      if (text !== "") this.onOutput(name, text);
    }
  }

  reset(): void {
    this.begin("", 0);
  }

  #read(into: Uint8Array): number {
    const bytes = this.#input.subarray(this.#inputAt, this.#inputAt + into.length);
    into.set(bytes);
    this.#inputAt += bytes.length;
    return bytes.length;
  }

  #write(name: OutputName, bytes: Uint8Array): void {
    if (this.#outputs[name].add(bytes) >= BUFFERED_BYTES) this.flush();
  }
}

/** Output of one stream, limited and cut between characters. */
class Output {
  #left = 4096;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  #decoder = new TextDecoder();

  begin(bytes: number): void {
    // One whole character more, of up to four bytes, shows the parent that the output was longer.
    this.#left = bytes + 4;
    this.#chunks = [];
    this.#buffered = 0;
    this.#decoder = new TextDecoder();
  }

  /** Buffers bytes. Returns the number of buffered bytes. */
  add(bytes: Uint8Array): number {
    const kept = bytes.slice(0, this.#left);
    this.#left -= kept.length;
    if (kept.length > 0) this.#chunks.push(kept);
    this.#buffered += kept.length;
    return this.#buffered;
  }

  take(): string {
    if (this.#buffered === 0) return "";
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#buffered = 0;
    return this.#decoder.decode(bytes, { stream: true });
  }
}

/** Makes descriptor `fd` the device at `path`. */
function reopen(fs: Fs, fd: number, path: string): void {
  const old = fs.streams[fd];
  if (old) fs.close(old);
  const stream = fs.open(path, fd === STDIN ? 0 : 1);
  if (stream.fd !== fd) throw new Error(`descriptor ${fd} is not free`);
}
