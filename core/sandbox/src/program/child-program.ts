/** How to start a child. Paths are those that the child sees: with a jail, the targets of `mounts`; without, host paths. */
export interface ChildProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** What a jailed child can read beside the system's libraries, and where it sees it. */
  readonly mounts: readonly { readonly source: string; readonly target: string }[];
  /** Symbolic links in the jail. */
  readonly links?: readonly { readonly target: string; readonly path: string }[];
  /** The whole environment of the child. */
  readonly env?: Readonly<Record<string, string>>;
  /** It makes processes of its own: they count toward its limits, and the jail lets it fork. */
  readonly forks?: boolean;
}

/** The near side of the seam: how one kind of sandbox starts its children. Everything else is the pool's. */
export interface SandboxBackend {
  /** `isolated-vm`, `pyodide`, `native`. */
  readonly kind: string;
  readonly language: string;
  /** Sessions can `snapshot` and `restore`. */
  readonly hasSnapshots: boolean;
  /** Rejects with SANDBOX_FAILED, and what to do, when there is nothing to start. */
  program(options: { readonly isJailed: boolean }): ChildProgram | Promise<ChildProgram>;
}
