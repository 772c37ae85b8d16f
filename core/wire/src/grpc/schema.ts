import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { FILE_DESCRIPTOR_SET } from "../gen/descriptors.ts";

/** Serialised descriptor of a protocol file, with the keys by which reflection finds it. */
export interface SchemaFile {
  readonly name: string;
  readonly imports: readonly string[];
  /** Full names of services, methods, messages and enums. */
  readonly symbols: readonly string[];
  readonly services: readonly string[];
  readonly bytes: Uint8Array;
}

/** Reads the protocol files from the descriptor set, by the field numbers of google/protobuf/descriptor.proto. */
export function schemaFiles(): SchemaFile[] {
  return fields(Buffer.from(FILE_DESCRIPTOR_SET, "base64"), 1).map((bytes) => {
    const packageName = text(bytes, 2);
    const services = fields(bytes, 6).map((service) => `${packageName}.${text(service, 1)}`);
    const methods = fields(bytes, 6).flatMap((service) =>
      fields(service, 2).map((method) => `${packageName}.${text(service, 1)}.${text(method, 1)}`),
    );
    const messages = fields(bytes, 4).flatMap((message) => messageNames(packageName, message));
    const enums = fields(bytes, 5).map((item) => `${packageName}.${text(item, 1)}`);
    return {
      name: text(bytes, 1),
      imports: fields(bytes, 3).map((name) => name.toString()),
      symbols: [...services, ...methods, ...messages, ...enums],
      services,
      bytes,
    };
  });
}

function messageNames(scope: string, message: Buffer): string[] {
  const name = `${scope}.${text(message, 1)}`;
  const enums = fields(message, 4).map((item) => `${name}.${text(item, 1)}`);
  return [name, ...enums, ...fields(message, 3).flatMap((nested) => messageNames(name, nested))];
}

function text(message: Buffer, number: number): string {
  return fields(message, number)[0]?.toString() ?? "";
}

/** Returns every length-delimited field with this number. */
function fields(message: Buffer, number: number): Buffer[] {
  const reader = new BinaryReader(message);
  const found: Buffer[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === number && type === WireType.LengthDelimited) found.push(Buffer.from(reader.bytes()));
    else reader.skip(type);
  }
  return found;
}
