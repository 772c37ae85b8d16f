import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { environmentProto as wire, invalid, serialise } from "@mrlm/wire";

/** Kinds of requests that concern a session, with their field numbers in SessionRequest; SessionResponse has the same for the responses. */
const REQUEST_FIELD = { reset: 2, step: 3, close: 4, renew: 5 } as const;
const ERROR_FIELD = 6;
const CHUNK_FIELD = 7;
const TRACE_FIELD = 8;

export type RequestKind = keyof typeof REQUEST_FIELD;

const KIND_OF = new Map<number, RequestKind>(
  Object.entries(REQUEST_FIELD).map(([kind, field]) => [field, kind as RequestKind]),
);

/** Parts of a serialised SessionRequest that a proxy reads. */
export interface RequestEnvelope {
  readonly requestId: bigint;
  /** Whether it cancels the request with this id. */
  readonly cancel: boolean;
  /** `unknown`: a kind that this version does not know. */
  readonly kind: RequestKind | "chunk" | "unknown";
  /** Serialised message of this kind. */
  readonly body: Uint8Array;
  /** Empty: none. */
  readonly trace: string;
  /** The whole SessionRequest. */
  readonly entry: Uint8Array;
}

/** Parts of a serialised ResetRequest, StepRequest or CloseRequest that a proxy reads. */
export interface SessionAddress {
  readonly sessionId: Uint8Array;
  /** 0 in a CloseRequest. */
  readonly epoch: number;
  /** -1 except in a StepRequest. */
  readonly index: number;
  /** Id in the reference of the environment; empty except in a ResetRequest. */
  readonly environment: string;
  readonly deadlineMs: number;
  /** First session of the episode, if the client states one; else empty. */
  readonly episode: Uint8Array;
}

/** Parts of a serialised SessionResponse that a proxy reads. */
export interface ResponseEnvelope {
  readonly requestId: bigint;
  /** Whether no further piece follows. */
  readonly isLast: boolean;
  /** `undefined` for a piece. */
  readonly kind: RequestKind | "error" | undefined;
  readonly body: Uint8Array;
}

const NOTHING = new Uint8Array();
const ENTRY_FIELD = 1;

/** Returns the serialised entries of a MultiplexRequest or a MultiplexResponse. Throws MESSAGE_INVALID. */
export function entriesOf(frame: Uint8Array): Uint8Array[] {
  return read(() => {
    const reader = new BinaryReader(frame);
    const entries: Uint8Array[] = [];
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === ENTRY_FIELD && type === WireType.LengthDelimited) entries.push(reader.bytes());
      else reader.skip(type, field);
    }
    return entries;
  }, "a frame holds no entries");
}

/** Reads a SessionRequest. As in its decoder, the last of several values counts. Throws MESSAGE_INVALID. */
export function requestEnvelope(entry: Uint8Array): RequestEnvelope {
  return read(() => {
    const reader = new BinaryReader(entry);
    let requestId = 0n;
    let kind: RequestKind | "unknown" = "unknown";
    let body: Uint8Array = NOTHING;
    let chunk: Uint8Array | undefined;
    let cancel = false;
    let trace = "";
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      const known = type === WireType.LengthDelimited ? KIND_OF.get(field) : undefined;
      if (known !== undefined) {
        kind = known;
        body = reader.bytes();
      } else if (field === 1 && type === WireType.Varint) requestId = BigInt(reader.uint64());
      else if (field === ERROR_FIELD && type === WireType.Varint) cancel = reader.bool();
      else if (field === CHUNK_FIELD && type === WireType.LengthDelimited) chunk = reader.bytes();
      else if (field === TRACE_FIELD && type === WireType.LengthDelimited) trace = reader.string();
      else reader.skip(type, field);
    }
    if (chunk === undefined) return { requestId, cancel, kind, body, trace, entry };
    return { requestId, cancel, kind: "chunk", body: chunk, trace, entry };
  }, "a request cannot be read");
}

/** Reads the address of a reset, a step or a close. Throws MESSAGE_INVALID. */
export function sessionAddress(kind: "reset" | "step" | "close", body: Uint8Array): SessionAddress {
  return read(() => {
    const reader = new BinaryReader(body);
    let sessionId: Uint8Array = NOTHING;
    let epoch = 0;
    let index = kind === "step" ? 0 : -1;
    let environment = "";
    let deadlineMs = 0;
    let episode: Uint8Array = NOTHING;
    const deadlineField = kind === "reset" ? 7 : 5;
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      const isBytes = type === WireType.LengthDelimited;
      if (field === 1 && isBytes) sessionId = reader.bytes();
      else if (kind !== "close" && field === 2 && type === WireType.Varint) epoch = reader.uint32();
      else if (kind === "step" && field === 3 && type === WireType.Varint) index = reader.uint32();
      else if (kind === "reset" && field === 3 && isBytes) environment = referencedId(reader.bytes());
      else if (kind !== "close" && field === deadlineField && type === WireType.Varint) deadlineMs = reader.uint32();
      else if (kind === "reset" && field === 8 && isBytes) episode = reader.bytes();
      else reader.skip(type, field);
    }
    return { sessionId, epoch, index, environment, deadlineMs, episode };
  }, `a ${kind} cannot be read`);
}

/** Reads a SessionResponse. Throws MESSAGE_INVALID. */
export function responseEnvelope(entry: Uint8Array): ResponseEnvelope {
  return read(() => {
    const reader = new BinaryReader(entry);
    let requestId = 0n;
    let kind: ResponseEnvelope["kind"];
    let body: Uint8Array = NOTHING;
    let isLast = true;
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === 1 && type === WireType.Varint) requestId = BigInt(reader.uint64());
      else if (type !== WireType.LengthDelimited) reader.skip(type, field);
      else {
        const bytes = reader.bytes();
        if (field === CHUNK_FIELD) isLast = isLastPiece(bytes);
        else {
          kind = field === ERROR_FIELD ? "error" : KIND_OF.get(field);
          body = bytes;
        }
      }
    }
    return { requestId, isLast, kind, body };
  }, "a response cannot be read");
}

/** Serialises a SessionRequest around a serialised message of its kind. */
export function requestEntry(requestId: bigint, kind: RequestKind, body: Uint8Array, trace = ""): Uint8Array {
  const writer = new BinaryWriter()
    .uint32((1 << 3) | WireType.Varint)
    .uint64(requestId)
    .uint32((REQUEST_FIELD[kind] << 3) | WireType.LengthDelimited)
    .bytes(body);
  if (trace !== "") writer.uint32((TRACE_FIELD << 3) | WireType.LengthDelimited).string(trace);
  return writer.finish();
}

/** Serialises a SessionRequest that cancels another. */
export function cancelEntry(requestId: bigint): Uint8Array {
  return serialise(wire.SessionRequest, {
    requestId,
    request: undefined,
    cancel: true,
    chunk: undefined,
    traceparent: "",
  });
}

function referencedId(reference: Uint8Array): string {
  const reader = new BinaryReader(reference);
  let id = "";
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === WireType.LengthDelimited) id = reader.string();
    else reader.skip(type, field);
  }
  return id;
}

function isLastPiece(chunk: Uint8Array): boolean {
  const reader = new BinaryReader(chunk);
  let isLast = false;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2 && type === WireType.Varint) isLast = reader.bool();
    else reader.skip(type, field);
  }
  return isLast;
}

/** Decodes a part of an envelope. Throws MESSAGE_INVALID. */
export function decodedPart<T>(codec: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T {
  return read(() => codec.decode(bytes), "a part of a request cannot be read");
}

function read<T>(decode: () => T, problem: string): T {
  try {
    return decode();
  } catch (error) {
    throw invalid(`${problem} (${(error as Error).message})`);
  }
}
