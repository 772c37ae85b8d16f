import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Tensor {
  readonly dtype: string;
  readonly bytes: Buffer;
}

/** Reads the tensors of a trained model: a Hugging Face directory with one safetensors file (https://github.com/huggingface/safetensors), or a bigram's. */
function tensorsOf(directory: string): Map<string, Tensor> {
  if (existsSync(join(directory, "weights.bin")))
    return new Map([["weights", { dtype: "F64", bytes: readFileSync(join(directory, "weights.bin")) }]]);
  const file = readFileSync(join(directory, "model.safetensors"));
  const length = Number(file.readBigUInt64LE(0));
  const { __metadata__: _, ...entries } = JSON.parse(file.toString("utf8", 8, 8 + length)) as Record<
    string,
    { readonly dtype: string; readonly data_offsets: readonly [number, number] }
  >;
  return new Map(
    Object.entries(entries).map(
      ([
        name,
        {
          dtype,
          data_offsets: [start, end],
        },
      ]) => [name, { dtype, bytes: file.subarray(8 + length + start, 8 + length + end) }],
    ),
  );
}

/** Returns the change of the weights between two directories. */
export function compareWeights(
  before: string,
  after: string,
): { readonly isSame: boolean; readonly nonFinite: readonly string[] } {
  const [old, now] = [tensorsOf(before), tensorsOf(after)];
  const isSame =
    old.size === now.size && [...old].every(([name, { bytes }]) => now.get(name)?.bytes.equals(bytes) === true);
  return {
    isSame,
    nonFinite: [...now].flatMap(([name, { dtype, bytes }]) => (isFiniteThroughout(dtype, bytes) ? [] : [name])),
  };
}

function isFiniteThroughout(dtype: string, bytes: Buffer): boolean {
  const copy = new Uint8Array(bytes).buffer;
  if (dtype === "F64") return new Float64Array(copy).every(Number.isFinite);
  if (dtype === "F32") return new Float32Array(copy).every(Number.isFinite);
  // An exponent of ones alone is infinity or no number.
  const exponent = dtype === "BF16" ? 0x7f80 : 0x7c00;
  return new Uint16Array(copy).every((bits) => (bits & exponent) !== exponent);
}
