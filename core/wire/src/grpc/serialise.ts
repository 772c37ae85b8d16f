import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** What a message codec offers. */
export interface Codec<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(bytes: Uint8Array): T;
}

/** A writer that has grown beyond this is not kept. */
const KEPT_BYTES = 2 << 20;

let writer = new BinaryWriter();

/** The bytes of a message. All messages share one writer, whose memory has grown to their size already. */
export function serialise<T>(codec: Codec<T>, message: T): Buffer {
  const used = writer;
  try {
    const bytes = codec.encode(message, used).finish();
    if (bytes.byteLength > KEPT_BYTES) writer = new BinaryWriter();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    writer = new BinaryWriter();
    throw error;
  }
}
