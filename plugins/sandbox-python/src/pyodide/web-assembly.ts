/** The part of WebAssembly's interface that this package uses; the types of Node do not have it, and those of browsers have too much. */
export interface WasmGlobal {
  value: number;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** A compiled program. */
export type WasmProgram = object;

export const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => WasmProgram;
    readonly Instance: new (program: WasmProgram, imports: object) => WasmInstance;
  };
};
