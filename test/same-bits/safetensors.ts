import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Fingerprint of a tensor: equal for equal bits of the same type and shape. */
export interface TensorPrint {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly sha256: string;
}

/** A tensor in a file. */
export interface TensorPlace {
  readonly file: string;
  readonly name: string;
}

interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Buffer;
}

/** Returns the fingerprint of each tensor of a safetensors file, by its name. */
export function tensorPrints(file: string): Record<string, TensorPrint> {
  return Object.fromEntries(
    Array.from(readTensors(file), ([name, { dtype, shape, bytes }]) => [
      name,
      { dtype, shape, sha256: createHash("sha256").update(bytes).digest("hex") },
    ]),
  );
}

/** Returns ||there - here|| / ||there|| of two tensors; `undefined` where their types or shapes differ, or the type is none of F64, F32 and BF16. */
export function relativeNorm(there: TensorPlace, here: TensorPlace): number | undefined {
  const [one, other] = [there, here].map(({ file, name }) => readTensors(file).get(name));
  if (
    one === undefined ||
    other === undefined ||
    one.dtype !== other.dtype ||
    String(one.shape) !== String(other.shape)
  )
    return undefined;
  const [a, b] = [numbers(one), numbers(other)];
  if (a === undefined || b === undefined) return undefined;
  let [distance, norm] = [0, 0];
  for (const [i, value] of a.entries()) {
    distance += (value - (b[i] as number)) ** 2;
    norm += value ** 2;
  }
  return Math.sqrt(norm === 0 ? distance : distance / norm);
}

/** Reads the tensors of a file. Format: an unsigned 64-bit length, a JSON header of that length, then the data of all tensors (little-endian). */
function readTensors(file: string): Map<string, Tensor> {
  const content = readFileSync(file);
  const length = Number(content.readBigUInt64LE(0));
  const { __metadata__: _, ...header } = JSON.parse(content.toString("utf8", 8, 8 + length)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const data = content.subarray(8 + length);
  return new Map(
    Object.entries(header).map(([name, { dtype, shape, data_offsets }]) => [
      name,
      { dtype, shape, bytes: data.subarray(...data_offsets) },
    ]),
  );
}

function numbers({ dtype, bytes }: Tensor): Float64Array | undefined {
  if (dtype === "F64") return Float64Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i));
  if (dtype === "F32") return Float64Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
  if (dtype !== "BF16") return undefined;
  // A bfloat16 is the upper half of a float32.
  const widened = Buffer.alloc(4);
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) => {
    bytes.copy(widened, 2, 2 * i, 2 * i + 2);
    return widened.readFloatLE(0);
  });
}
