/** Versions of the protocols `mrlm.env.v1`, `mrlm.engine.v1`, `mrlm.sampler.v1` and `mrlm.store.v1` that this package implements. */
export const PROTOCOLS = {
  environment: { major: 1, minor: 0 },
  engine: { major: 1, minor: 0 },
  sampler: { major: 1, minor: 0 },
  store: { major: 1, minor: 0 },
} as const;

/** Metadata key of a client's secret, to which its sessions are bound. */
export const CLIENT_METADATA_KEY = "mrlm-client";
/** Metadata of a unary call with the caller's trace (W3C Trace Context). */
export const TRACE_METADATA_KEY = "traceparent";

/** Approximate limit of frames and of messages with units, in bytes. */
export const FRAME_BYTES = 1 << 20;
