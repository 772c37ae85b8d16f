import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type SchemaFile, type reflectionProto as wire, schemaFiles } from "@mrlm/wire";

type Call = ServerDuplexStream<wire.ServerReflectionRequest, wire.ServerReflectionResponse>;
type Answer = NonNullable<wire.ServerReflectionResponse["messageResponse"]>;

/** Returns the methods of the standard reflection service over the project's protocol files. */
export function reflectionMethods(services: readonly string[]) {
  const files = schemaFiles();
  const withImports = (file: SchemaFile): SchemaFile[] => [
    file,
    ...file.imports.flatMap((name) => files.filter((other) => other.name === name).flatMap(withImports)),
  ];
  const answerWith = (file: SchemaFile | undefined, wanted: string): Answer =>
    file === undefined
      ? {
          $case: "errorResponse",
          errorResponse: { errorCode: status.NOT_FOUND, errorMessage: `There is no ${wanted}.` },
        }
      : {
          $case: "fileDescriptorResponse",
          fileDescriptorResponse: { fileDescriptorProto: withImports(file).map(({ bytes }) => bytes) },
        };

  const answer = (request: wire.ServerReflectionRequest["messageRequest"]): Answer => {
    switch (request?.$case) {
      case "listServices":
        return { $case: "listServicesResponse", listServicesResponse: { service: services.map((name) => ({ name })) } };
      case "fileByFilename":
        return answerWith(
          files.find(({ name }) => name === request.fileByFilename),
          `file "${request.fileByFilename}"`,
        );
      case "fileContainingSymbol":
        return answerWith(
          files.find(({ symbols }) => symbols.includes(request.fileContainingSymbol)),
          `symbol "${request.fileContainingSymbol}"`,
        );
      default:
        return {
          $case: "errorResponse",
          errorResponse: { errorCode: status.UNIMPLEMENTED, errorMessage: "These protocols have no extensions." },
        };
    }
  };

  return {
    serverReflectionInfo: (call: Call): void => {
      call.on("data", (request: wire.ServerReflectionRequest) => {
        // A response is larger than its request. A client that does not read must not fill memory.
        if (
          !call.write({
            validHost: request.host,
            originalRequest: request,
            messageResponse: answer(request.messageRequest),
          })
        )
          call.pause();
      });
      call.on("drain", () => call.resume());
      call.on("end", () => call.end());
    },
  };
}
