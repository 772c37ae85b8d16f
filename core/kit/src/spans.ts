import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { MrlmError } from "@mrlm/spec";

let tracer: Tracer | undefined;
/** Span of the work under way. */
const running = new AsyncLocalStorage<Span>();

/** Makes spans by this tracer from now on. Without one, work runs as it is: no span, attribute or context is made. */
export function traceWith(given: Tracer | undefined): void {
  tracer = given;
}

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** Place and kind of a span. */
export interface SpanOptions {
  /** `server`: the work was asked for by another process. `client`: another process does the work. Default: `internal`, neither. */
  readonly kind?: keyof typeof KINDS;
  /** Trace of the caller in another process, `00-TRACE-PARENT-FLAGS`; default: the span of the work under way. */
  readonly parent?: string | undefined;
}

/**
 * Runs work in a span of OpenTelemetry, the child of the span of the work around it. A failure is recorded in the span, with its code as `error.type`.
 * @param attributes read only where spans are made
 * @param work receives the span, to which it adds attributes of its result; `undefined` where none is made
 */
export function traced<T>(
  name: string,
  attributes: () => Attributes,
  work: (span: Span | undefined) => Promise<T>,
  options: SpanOptions = {},
): Promise<T> {
  return tracer === undefined ? work(undefined) : inSpan(tracer, name, attributes(), work, options);
}

/**
 * Returns the trace for a call of another process, `00-TRACE-SPAN-FLAGS`: that of the work under way, else the given one. No member where there is neither.
 * @param caller trace of the caller, where this process makes no spans
 */
export function traceOption(caller?: string): { readonly trace?: string } {
  const found = tracer === undefined ? undefined : running.getStore()?.spanContext();
  const trace =
    found === undefined
      ? caller
      : `00-${found.traceId}-${found.spanId}-${found.traceFlags.toString(16).padStart(2, "0")}`;
  return trace === undefined ? {} : { trace };
}

async function inSpan<T>(
  made: Tracer,
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
  { kind = "internal", parent }: SpanOptions,
): Promise<T> {
  const span = made.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent));
  try {
    return await running.run(span, work, span);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    span.setStatus({ code: SpanStatusCode.ERROR, message });
    span.setAttribute("error.type", MrlmError.isInstance(error) ? error.code : "INTERNAL");
    throw error;
  } finally {
    span.end();
  }
}

function contextOf(parent: string | undefined): Context {
  if (parent === undefined) {
    const around = running.getStore();
    return around === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, around);
  }
  const [, traceId = "", spanId = "", flags = "00"] = parent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}
