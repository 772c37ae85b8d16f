/** Version of `mrlm.env.v1` that this package implements. */
export const ENVIRONMENT_PROTOCOL = { major: 1, minor: 0 } as const;

/** Version of `mrlm.engine.v1` that this package implements. */
export const ENGINE_PROTOCOL = { major: 1, minor: 0 } as const;

/** Version of `mrlm.sampler.v1` that this package implements. */
export const SAMPLER_PROTOCOL = { major: 1, minor: 0 } as const;

/** Version of `mrlm.store.v1` that this package implements. */
export const STORE_PROTOCOL = { major: 1, minor: 0 } as const;

/** Metadata key of a client's secret, to which its sessions are bound. */
export const CLIENT_METADATA_KEY = "mrlm-client";
/** Metadata of a unary call with the caller's trace (W3C Trace Context). */
export const TRACE_METADATA_KEY = "traceparent";

/** Approximate limit of frames and of messages with units, in bytes. */
export const FRAME_BYTES = 1 << 20;
