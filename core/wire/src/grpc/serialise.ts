import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** Encoder of one message type. */
export interface MessageType<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(bytes: Uint8Array): T;
}

/** Largest writer that is reused, in bytes. */
const KEPT_BYTES = 2 << 20;

let writer = new BinaryWriter();

/** Serialises a message. All messages share one writer, so that its memory is allocated once. */
export function serialise<T>(type: MessageType<T>, message: T): Buffer {
  const used = writer;
  try {
    const bytes = type.encode(message, used).finish();
    if (bytes.byteLength > KEPT_BYTES) writer = new BinaryWriter();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    writer = new BinaryWriter();
    throw error;
  }
}
