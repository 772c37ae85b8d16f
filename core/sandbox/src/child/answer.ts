import { writeSync } from "node:fs";
import type { SandboxTestResult } from "@mrlm/spec";
import { encodeFrame } from "../protocol/frames.ts";
import { ANSWER_FD, type ChildMessage, type ChildResult, MAX_FRAME_BYTES } from "../protocol/messages.ts";

/** Number of pieces of output that are sent immediately; later pieces are collected first. */
const PROMPT_PIECES = 64;
const GATHERED_CHARACTERS = 4096;
/** Maximum characters of output in a frame: the parent limits frames, and JSON writes some characters as six. */
const LONGEST_PIECE = 1 << 20;

/** Writes a message synchronously, so that the parent receives it even if the child is killed afterwards. */
export function send(message: ChildMessage): void {
  write(encodeFrame(message));
}

function write(frame: Buffer): void {
  for (let sent = 0; sent < frame.length;) sent += writeSync(ANSWER_FD, frame, sent);
}

/** Answers to one request. */
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

  /** Sends output of the submission, up to the limit. Returns false once the limit is reached. */
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

  /** Reports that the top-level code has ended without error and the tests begin. */
  testing(): void {
    send({ type: "testing", id: this.#id });
  }

  /** Reports the verdict of the test at this position. */
  tested(index: number, result: Omit<SandboxTestResult, "name">): void {
    this.#sendOrElse(
      { type: "tested", id: this.#id, index, result },
      { type: "tested", id: this.#id, index, result: { verdict: "failed" } },
    );
  }

  /** Sends the result, which is the last message. */
  end(result: ChildResult): void {
    this.#flush("stdout");
    this.#flush("stderr");
    const { spent } = result;
    this.#sendOrElse(
      { type: "result", id: this.#id, result },
      { type: "result", id: this.#id, result: { verdict: "killed", ...(spent === undefined ? {} : { spent }) } },
    );
  }

  /** Sends the failure of the sandbox, the last message when there is no verdict. */
  fail(message: string): void {
    send({ type: "failed", id: this.#id, message });
  }

  /** Sends `message`, or `otherwise` if the submission made `message` longer than a frame or too deep to be written. */
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

/** Splits a text into pieces between characters; an empty text is one piece. */
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

/** Returns the longest start of `text` with at most `bytes` in UTF-8, cut between characters. */
export function cutAtBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const cut = Buffer.from(text.slice(0, bytes), "utf8");
  let end = Math.min(bytes, cut.length);
  while (end > 0 && end < cut.length && ((cut[end] as number) & 0xc0) === 0x80) end -= 1;
  return cut.toString("utf8", 0, end);
}
