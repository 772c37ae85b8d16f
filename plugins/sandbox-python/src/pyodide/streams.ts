import { addDevice } from "./device.ts";
import type { EmscriptenModule, Fs } from "./emscripten.ts";

const STDIN = 0;
/** Output that is gathered before it is told. */
const GATHERED_BYTES = 8192;

export type OutputName = "stdout" | "stderr";

/** Standard input, output and error of the interpreter. */
export class Streams {
  /** Takes the output as it comes, in pieces. */
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

  /** What the next program reads, and how much of each of its outputs is wanted. */
  begin(input: string, outputBytes: number): void {
    this.#input = new TextEncoder().encode(input);
    this.#inputAt = 0;
    for (const output of Object.values(this.#outputs)) output.begin(outputBytes);
  }

  /** Tells what has been gathered. */
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
    if (this.#outputs[name].add(bytes) >= GATHERED_BYTES) this.flush();
  }
}

/** One stream's output: a limit, and characters that are never cut in two. */
class Output {
  #left = 4096;
  #chunks: Uint8Array[] = [];
  #gathered = 0;
  #decoder = new TextDecoder();

  begin(bytes: number): void {
    // One byte more than is wanted tells whoever counts that there was more.
    this.#left = bytes + 1;
    this.#chunks = [];
    this.#gathered = 0;
    this.#decoder = new TextDecoder();
  }

  /** Bytes that wait. */
  add(bytes: Uint8Array): number {
    const kept = bytes.slice(0, this.#left);
    this.#left -= kept.length;
    if (kept.length > 0) this.#chunks.push(kept);
    this.#gathered += kept.length;
    return this.#gathered;
  }

  take(): string {
    if (this.#gathered === 0) return "";
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#gathered = 0;
    return this.#decoder.decode(bytes, { stream: true });
  }
}

/** Descriptor `fd` becomes the device at `path`. */
function reopen(fs: Fs, fd: number, path: string): void {
  const old = fs.streams[fd];
  if (old) fs.close(old);
  const stream = fs.open(path, fd === STDIN ? 0 : 1);
  if (stream.fd !== fd) throw new Error(`descriptor ${fd} is not free`);
}
