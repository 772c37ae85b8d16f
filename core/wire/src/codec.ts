/** Conversion of a value to its protobuf message, and back. */
export interface Codec<Value, Message, Received = Message> {
  readonly encode: (value: Value) => Message;
  /** Throws MESSAGE_INVALID for a malformed message. */
  readonly decode: (message: Received) => Value;
}
