import { PassThrough, pipeline, type Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { WebError } from "./web-error.ts";

/** Body of a response after decompression, cut at a limit. */
export interface Body {
  readonly bytes: Buffer;
  readonly isTruncated: boolean;
}

/** Value of `accept-encoding`: the codings that `readBody` decodes. */
export const ACCEPT_ENCODING = "gzip, deflate, br";

/** An incomplete end is accepted, as browsers do: the page is cut, not lost. */
const ZLIB = { finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

/**
 * Reads a body and decodes its content coding. Stops at `maxBytes` of decoded bytes, and at `maxBytes` of received bytes: a compressed stream may
 * decode to nothing. Destroys the stream at the end.
 * @throws WebError `encoding` for an unknown coding and for damaged data; the errors of the stream
 */
export async function readBody(stream: Readable, coding: string, maxBytes: number): Promise<Body> {
  const received = { isCut: false };
  const source = limitBytes(stream, maxBytes, received);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    const first = await source.next();
    const decoder = decoderOf(coding.trim().toLowerCase(), first.value);
    const decoded = pipeline(
      async function* () {
        if (first.value !== undefined) yield first.value;
        yield* source;
      },
      decoder,
      () => undefined, // the loop below receives the error too
    );
    for await (const chunk of decoded as AsyncIterable<Buffer>) {
      const rest = maxBytes - length;
      chunks.push(chunk.subarray(0, rest));
      length += Math.min(chunk.length, rest);
      if (chunk.length > rest) return { bytes: Buffer.concat(chunks, length), isTruncated: true };
    }
    return { bytes: Buffer.concat(chunks, length), isTruncated: received.isCut };
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new WebError("encoding", `The page is damaged: its ${coding} data cannot be decoded.`, { cause: error });
  } finally {
    stream.destroy();
  }
}

/** Yields at most `maxBytes` bytes of a stream. */
async function* limitBytes(
  stream: Readable,
  maxBytes: number,
  received: { isCut: boolean },
): AsyncGenerator<Buffer, undefined, undefined> {
  let rest = maxBytes;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    received.isCut = chunk.length > rest;
    if (rest > 0) yield chunk.subarray(0, rest);
    rest -= chunk.length;
    if (received.isCut) return undefined;
  }
  return undefined;
}

/** Returns the decoder of a coding. `deflate` is the zlib format (RFC 9110) or raw deflate data: the first byte states which. */
function decoderOf(coding: string, first: Buffer | undefined): Transform {
  if (coding === "" || coding === "identity") return new PassThrough();
  if (coding === "gzip" || coding === "x-gzip") return createGunzip(ZLIB);
  if (coding === "br") return createBrotliDecompress(BROTLI);
  if (coding === "deflate") return ((first?.[0] ?? 8) & 0x0f) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB);
  throw new WebError(
    "encoding",
    `The page has the content coding ${JSON.stringify(coding.slice(0, 40))}, which is not supported.`,
  );
}

function isDamage(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^(Z_|ERR__?ERROR|ERR_BROTLI|ERR_PADDING|ERR_ZLIB)/.test(code);
}
