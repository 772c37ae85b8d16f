const IS_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Returns little-endian bytes of 32-bit numbers: a view of the same memory (a copy on a big-endian machine). */
export function bytesOf(numbers: Float32Array | Int32Array | undefined): Uint8Array {
  if (numbers === undefined) return EMPTY;
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  return IS_LITTLE_ENDIAN ? bytes : swapped(bytes);
}

/** Reads float32 numbers from little-endian bytes: a view where the bytes are aligned to 4, else a copy. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const aligned = align(bytes);
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2);
}

/** Reads int32 numbers from little-endian bytes: a view where the bytes are aligned to 4, else a copy. */
export function integersOf(bytes: Uint8Array): Int32Array {
  const aligned = align(bytes);
  return new Int32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2);
}

/** Empty byte array. */
export const EMPTY: Uint8Array = new Uint8Array(0);

/** Returns a plain Uint8Array over the same memory, because `slice` of a Buffer does not copy. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function align(bytes: Uint8Array): Uint8Array {
  if ((bytes.byteLength & 3) !== 0)
    throw new RangeError(`${bytes.byteLength} bytes are not a whole number of 32-bit values`);
  if (!IS_LITTLE_ENDIAN) return swapped(bytes);
  return (bytes.byteOffset & 3) === 0 ? bytes : Uint8Array.prototype.slice.call(bytes);
}

function swapped(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes);
  const view = new DataView(copy.buffer);
  for (let i = 0; i < copy.byteLength; i += 4) view.setUint32(i, view.getUint32(i, true), false);
  return copy;
}
