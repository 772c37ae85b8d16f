import { readLines } from "@mrlm/kit/service";
import { fileFault, isObject, type JsonObject, type JsonValue, MrlmError, parseJson } from "@mrlm/spec";

/** Span of OpenTelemetry, with the attributes as JSON values. */
export interface TracedSpan {
  /** Trace and span: `5b8efff798038103d269b633813fc60c/eee19b7ec3c1b174`. */
  readonly id: string;
  /** The same of the span around it. */
  readonly parent: string | undefined;
  readonly isError: boolean;
  readonly attributes: JsonObject;
  readonly events: readonly { readonly name: string; readonly attributes: JsonObject }[];
}

/** Status code of a span that failed (STATUS_CODE_ERROR). */
const FAILED = 2;

/**
 * Reads the spans of a file in OTLP's JSON encoding, one ExportTraceServiceRequest a line, as the file exporter of the Collector writes it
 * (https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/). Rejects with DATA_INVALID, with the line.
 */
export async function* otlpSpans(path: string): AsyncGenerator<TracedSpan> {
  let number = 0;
  try {
    for await (const line of readLines(path)) {
      number++;
      if (line.trim() === "") continue;
      const { resourceSpans } = objectOf(parseJson(line));
      if (!Array.isArray(resourceSpans)) throw new TypeError("it has no list `resourceSpans`");
      for (const resource of resourceSpans)
        for (const scope of listOf(objectOf(resource)["scopeSpans"]))
          for (const span of listOf(objectOf(scope)["spans"])) yield spanOf(objectOf(span));
    }
  } catch (error) {
    if (MrlmError.isInstance(error)) throw error;
    const isContent = error instanceof SyntaxError || error instanceof TypeError;
    throw new MrlmError(
      "DATA_INVALID",
      isContent
        ? `${path}:${number} is no export of traces: ${error.message}.`
        : `The traces ${path} cannot be read: ${fileFault(error)}.`,
      {
        hint: "Write spans as JSON lines of OTLP: the file exporter of the OpenTelemetry Collector does.",
        cause: error,
      },
    );
  }
}

function spanOf(span: JsonObject): TracedSpan {
  const { traceId, spanId, parentSpanId, status, attributes, events } = span;
  if (typeof traceId !== "string" || typeof spanId !== "string") throw new TypeError("a span has no ids");
  return {
    id: `${traceId}/${spanId}`,
    parent: typeof parentSpanId === "string" && parentSpanId !== "" ? `${traceId}/${parentSpanId}` : undefined,
    isError: isObject(status) && [FAILED, "STATUS_CODE_ERROR"].includes(status["code"] as number),
    attributes: attributesOf(attributes),
    events: listOf(events).map((each) => {
      const event = objectOf(each);
      return { name: String(event["name"]), attributes: attributesOf(event["attributes"]) };
    }),
  };
}

function attributesOf(value: JsonValue | undefined): JsonObject {
  return Object.fromEntries(
    listOf(value).map((each) => {
      const { key, value: given } = objectOf(each);
      return [String(key), anyValue(objectOf(given))];
    }),
  );
}

/** Returns the JSON value of an AnyValue. 64-bit integers are texts there. */
function anyValue(value: JsonObject): JsonValue {
  const { intValue, arrayValue, kvlistValue, stringValue, doubleValue, boolValue } = value;
  if (intValue !== undefined) return Number(intValue);
  if (isObject(arrayValue)) return listOf(arrayValue["values"]).map((each) => anyValue(objectOf(each)));
  if (isObject(kvlistValue)) return attributesOf(kvlistValue["values"]);
  return stringValue ?? doubleValue ?? boolValue ?? null;
}

function objectOf(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new TypeError("it is not in the form of OTLP");
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new TypeError("it is not in the form of OTLP");
}
