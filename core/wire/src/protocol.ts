/** Version of `mrlm.env.v1` that this package speaks. */
export const ENVIRONMENT_PROTOCOL = { major: 1, minor: 0 } as const;

/** Version of `mrlm.engine.v1` that this package speaks. */
export const ENGINE_PROTOCOL = { major: 1, minor: 0 } as const;

/** Metadata key by which a client says who it is; sessions are bound to it. */
export const CLIENT_METADATA_KEY = "mrlm-client";

/** Frames and messages of units are kept to about this size. */
export const FRAME_BYTES = 1 << 20;
