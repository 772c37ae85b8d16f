import { writeSync } from "node:fs";
import type { SandboxTestResult } from "@mrlm/spec";
import { encodeFrame } from "../protocol/frames.ts";
import { ANSWER_FD, type ChildMessage, type ChildResult, MAX_FRAME_BYTES } from "../protocol/messages.ts";

/** Pieces of output that are sent at once; later ones are gathered first. */
const PROMPT_PIECES = 64;
const GATHERED_CHARACTERS = 4096;
/** Of a frame: the parent takes none of any length, and JSON makes six characters of some. */
const LONGEST_PIECE = 1 << 20;

/** Writes a message at once: what was said before a child is killed has been said. */
export function send(message: ChildMessage): void {
  write(encodeFrame(message));
}

function write(frame: Buffer): void {
  for (let sent = 0; sent < frame.length;) sent += writeSync(ANSWER_FD, frame, sent);
}

/** The answers to one request. */
export class Answer {
  readonly #id: string;
  readonly #outputBytes: number;
  readonly #streams = {
    stdout: { bytes: 0, isTruncated: false, gathered: "" },
    stderr: { bytes: 0, isTruncated: false, gathered: "" },
  };
  #pieces = 0;

  constructor(id: string, outputBytes: number) {
    this.#id = id;
    this.#outputBytes = outputBytes;
  }

  /** Text that the submission printed. What is past the limit is dropped; returns false once nothing more will be taken. */
  output(stream: "stdout" | "stderr", text: string): boolean {
    const state = this.#streams[stream];
    if (state.isTruncated || text === "") return !state.isTruncated;
    const kept = cutAtBytes(text, this.#outputBytes - state.bytes);
    state.isTruncated = kept.length < text.length;
    state.bytes += Buffer.byteLength(kept);
    state.gathered += kept;
    this.#pieces += 1;
    if (state.isTruncated || this.#pieces <= PROMPT_PIECES || state.gathered.length >= GATHERED_CHARACTERS)
      this.#flush(stream);
    return !state.isTruncated;
  }

  /** The top-level code has ended well, the tests begin. */
  testing(): void {
    send({ type: "testing", id: this.#id });
  }

  /** The verdict of the test at this position. */
  tested(index: number, result: Omit<SandboxTestResult, "name">): void {
    this.#sendOrElse(
      { type: "tested", id: this.#id, index, result },
      { type: "tested", id: this.#id, index, result: { verdict: "failed" } },
    );
  }

  /** The last word. */
  end(result: ChildResult): void {
    this.#flush("stdout");
    this.#flush("stderr");
    const { spent } = result;
    this.#sendOrElse(
      { type: "result", id: this.#id, result },
      { type: "result", id: this.#id, result: { verdict: "killed", ...(spent === undefined ? {} : { spent }) } },
    );
  }

  /** The last word when there is no verdict. */
  fail(message: string): void {
    send({ type: "failed", id: this.#id, message });
  }

  /** What a submission says of itself may be longer than a frame, or nested too deeply to be written: it has broken its interpreter then. */
  #sendOrElse(message: ChildMessage, otherwise: ChildMessage): void {
    let frame: Buffer;
    try {
      frame = encodeFrame(message);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return send(otherwise);
    }
    if (frame.length > 4 + MAX_FRAME_BYTES) send(otherwise);
    else write(frame);
  }

  #flush(stream: "stdout" | "stderr"): void {
    const state = this.#streams[stream];
    if (state.gathered === "" && !state.isTruncated) return;
    const pieces = piecesOf(state.gathered);
    for (const [i, text] of pieces.entries())
      send({
        type: "output",
        id: this.#id,
        stream,
        text,
        ...(state.isTruncated && i === pieces.length - 1 ? { isCut: true } : {}),
      });
    state.gathered = "";
  }
}

/** The text in pieces; no character is cut in two. One piece where there is no text. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let at = 0;
  do {
    let end = at + LONGEST_PIECE;
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    pieces.push(text.slice(at, end));
    at = end;
  } while (at < text.length);
  return pieces;
}

/** The longest start of `text` that takes no more than `bytes` in UTF-8; no character is cut in two. */
export function cutAtBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const cut = Buffer.from(text.slice(0, bytes), "utf8");
  let end = Math.min(bytes, cut.length);
  while (end > 0 && end < cut.length && ((cut[end] as number) & 0xc0) === 0x80) end -= 1;
  return cut.toString("utf8", 0, end);
}
