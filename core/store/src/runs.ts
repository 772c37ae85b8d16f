/**
 * Run-length code of integers, little-endian pairs (value, length): masks and weight versions have few runs.
 * @returns 8 bytes for each run
 */
export function encodeRuns(values: Uint8Array | Int32Array): Uint8Array {
  const pairs: number[] = [];
  let start = 0;
  for (let i = 1; i <= values.length; i++) {
    if (i < values.length && values[i] === values[start]) continue;
    if (i > start) pairs.push(values[start] as number, i - start);
    start = i;
  }
  return bytesOf(Int32Array.from(pairs));
}

/** Decodes {@link encodeRuns} into `target`, whose length is that of the encoded values. */
export function decodeRuns<T extends Uint8Array | Int32Array>(bytes: Uint8Array, target: T): T {
  const pairs = int32Of(bytes);
  let at = 0;
  for (let i = 0; i < pairs.length; i += 2) {
    const end = at + (pairs[i + 1] as number);
    target.fill(pairs[i] as number, at, end);
    at = end;
  }
  return target;
}

/** Bytes of a typed array, without a copy. */
export function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Integers of a blob, copied: a blob need not be aligned. */
export function int32Of(bytes: Uint8Array): Int32Array {
  return new Int32Array(Uint8Array.from(bytes).buffer);
}

/** Floating-point numbers of a blob, copied: a blob need not be aligned. */
export function float32Of(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
