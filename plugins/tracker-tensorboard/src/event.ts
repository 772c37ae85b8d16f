/** Field of a protocol buffer: number and value. */
type Field = readonly [
  number: number,
  value:
    | { readonly bytes: Uint8Array }
    | { readonly double: number }
    | { readonly float: number }
    | { readonly integer: number },
];

/** Returns the first event of a file, which names its format. Readers use session logs from version 2. */
export function versionEvent(wallTime: number): Uint8Array {
  return message([1, { double: wallTime }], [3, { bytes: Buffer.from("brain.Event:2") }]);
}

/** Returns the event of a resumed run: readers discard this step and later ones of older files. */
export function sessionStartEvent(wallTime: number, step: number): Uint8Array {
  return message([1, { double: wallTime }], [2, { integer: step }], [7, { bytes: message([1, { integer: 1 }]) }]);
}

/** Returns the scalars of one step: tensorflow.Event with a Summary of simple values (tensorflow/core/util/event.proto, framework/summary.proto). */
export function scalarsEvent(wallTime: number, step: number, scalars: Readonly<Record<string, number>>): Uint8Array {
  const values = Object.entries(scalars).map(([tag, value]): Field => [
    1,
    { bytes: message([1, { bytes: Buffer.from(tag) }], [2, { float: value }]) },
  ]);
  return message([1, { double: wallTime }], [2, { integer: step }], [5, { bytes: message(...values) }]);
}

/** Returns a TFRecord: length, checksum of the length, data, checksum of the data, all little-endian. */
export function record(data: Uint8Array): Buffer {
  const result = Buffer.alloc(data.length + 16);
  result.writeBigUInt64LE(BigInt(data.length), 0);
  result.writeUInt32LE(maskedCrc32c(result.subarray(0, 8)), 8);
  result.set(data, 12);
  result.writeUInt32LE(maskedCrc32c(data), 12 + data.length);
  return result;
}

function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if ("bytes" in value) return [varint(number * 8 + 2), varint(value.bytes.length), value.bytes];
      if ("integer" in value) return [varint(number * 8), varint(value.integer)];
      const fixed = Buffer.alloc("double" in value ? 8 : 4);
      if ("double" in value) fixed.writeDoubleLE(value.double);
      else fixed.writeFloatLE(value.float);
      return [varint(number * 8 + ("double" in value ? 1 : 5)), fixed];
    }),
  );
}

/** @param value whole number ≥ 0 */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** Table of CRC-32C (Castagnoli), reflected polynomial 0x82f63b78. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** Computes CRC-32C (RFC 3720, appendix B.4). */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 255] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Masks a checksum as in TFRecord files: rotated by 15 bits, plus a constant, so that checksums of data with checksums stay strong. */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
