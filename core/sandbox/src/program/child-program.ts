/** Description of how to start a child. Paths are those inside the jail (targets of `mounts`); without a jail, paths of the machine. */
export interface ChildProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Files that a jailed child can read besides the system's libraries, with their paths in the jail. */
  readonly mounts: readonly { readonly source: string; readonly target: string }[];
  /** Symbolic links in the jail. */
  readonly links?: readonly { readonly target: string; readonly path: string }[];
  /** Complete environment of the child. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it starts processes, which count toward its limits. In a jail it is process 1 and must reap orphans. */
  readonly forks?: boolean;
  /** Whether it ends a submission at the limit of processor time itself, more exactly than the parent. */
  readonly limitsCpu?: boolean;
  /** Whether it makes namespaces for the processes that it starts (unshare, mount); the jail then allows it. */
  readonly namespaces?: boolean;
  /** Size of its /tmp in a jail in bytes; 64 MB by default. */
  readonly tmpBytes?: number;
}

/** Interface of one kind of sandbox to the pool: describes how to start its children. */
export interface SandboxBackend {
  /** `isolated-vm`, `pyodide`, `native`. */
  readonly kind: string;
  readonly language: string;
  /** Isolation layers of its program and its children: `isolate`, `node-permissions`, ... */
  readonly layers: readonly string[];
  /** Layers of another kind, with the reasons why that kind is not used. */
  readonly missing?: readonly { readonly layer: string; readonly reason: string }[];
  /** Whether sessions have `snapshot` and `restore`. */
  readonly hasSnapshots: boolean;
  /** Returns the program. A child of a session runs no tests. Rejects with SANDBOX_FAILED and a hint if it cannot be started. */
  program(options: {
    readonly isJailed: boolean;
    readonly isForSession: boolean;
  }): ChildProgram | Promise<ChildProgram>;
}
