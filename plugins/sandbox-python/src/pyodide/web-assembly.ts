/** Part of WebAssembly's interface that this package uses. The types of Node lack it; those of browsers contain the whole DOM. */
export interface WasmGlobal {
  value: number;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Compiled program. */
export type WasmProgram = object;

export const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => WasmProgram;
    readonly Instance: new (program: WasmProgram, imports: object) => WasmInstance;
  };
};
