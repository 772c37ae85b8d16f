import { isBuiltin } from "node:module";
import { init, parse } from "es-module-lexer";
import type { Problem } from "./problem.ts";
import type { PackedFile } from "./tarball.ts";

const MAX_BYTES = 10 * 1_000_000;

/** Files that no package needs: secrets, installed packages, tests. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)\.env(\..+)?$/, "it holds variables of an environment"],
  [/(^|\/)\.(npmrc|yarnrc\.yml|netrc|pypirc|git-credentials)$/, "it can hold a token or a password"],
  [/\.(pem|key|p12|pfx|jks|keystore|ppk)$|(^|\/)id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/, "it can be a private key"],
  [/(^|\/)node_modules\//, "dependencies are installed, not packed"],
  [/(^|\/)(test|tests|__tests__)\/|\.(test|spec)(\.d)?\.[cm]?[jt]sx?(\.map)?$/, "it is a test"],
  [/(^|\/)\.git\//, "it is history"],
];

/** Private keys, and tokens of npm, GitHub, GitLab, AWS, Hugging Face, OpenAI, Anthropic and Slack, by the forms that these services document. */
const SECRETS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{36}\b/,
  /\bgithub_pat_[A-Za-z0-9_]{60,}\b/,
  /\bglpat-[A-Za-z0-9_-]{20,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bhf_[A-Za-z]{34}\b/,
  /\bsk-(proj|svcacct|ant-api03)-[A-Za-z0-9_-]{40,}/,
  /\bxox[abpr]-[A-Za-z0-9-]{20,}/,
];

/** Fields of package.json that decide about its files. */
export interface PackageFields {
  readonly name: string;
  readonly mrlm?: { readonly entry?: unknown };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  /** Configuration of npm with which it publishes this package. */
  readonly publishConfig?: Readonly<Record<string, string>>;
}

/** Returns the problems of the files of a packed plugin. */
export async function problemsOfFiles(files: readonly PackedFile[], fields: PackageFields): Promise<Problem[]> {
  await init();
  return [
    ...problemsOfEntry(files, fields),
    ...files.flatMap((file) => problemsOfFile(file)),
    ...undeclaredImports(files, fields),
  ];
}

function problemsOfEntry(files: readonly PackedFile[], { mrlm }: PackageFields): Problem[] {
  const entry = String(mrlm?.entry ?? "").replace(/^\.\//, "");
  if (/\.[cm]?tsx?$/.test(entry)) return [{ code: "ENTRY_TYPESCRIPT", message: `The entry ${entry} is TypeScript.` }];
  return files.some(({ path }) => path === entry)
    ? []
    : [{ code: "ENTRY_MISSING", message: `The packed package has no ${entry || "entry"}.` }];
}

function problemsOfFile({ path, content }: PackedFile): Problem[] {
  const forbidden = FORBIDDEN.find(([pattern]) => pattern.test(path));
  if (forbidden !== undefined)
    return [{ code: "FILE_FORBIDDEN", message: `${path} would be published: ${forbidden[1]}.` }];
  if (content.length > MAX_BYTES)
    return [
      {
        code: "FILE_LARGE",
        message: `${path} has ${(content.length / 1e6).toFixed(1)} MB; at most 10 MB are published.`,
      },
    ];
  const text = content.toString("latin1");
  return SECRETS.some((pattern) => pattern.test(text))
    ? [{ code: "FILE_SECRET", message: `${path} has a text in the form of a private key or token.` }]
    : [];
}

function undeclaredImports(files: readonly PackedFile[], fields: PackageFields): Problem[] {
  const { name, dependencies, peerDependencies, optionalDependencies } = fields;
  const declared = new Set([
    name,
    ...[dependencies, peerDependencies, optionalDependencies].flatMap((each) => Object.keys(each ?? {})),
  ]);
  const found = new Map<string, string>();
  for (const { path, content } of files) {
    if (!/\.m?js$/.test(path)) continue;
    for (const specifier of importsOf(content.toString("utf8"))) {
      const imported = packageOf(specifier);
      if (imported !== undefined && !declared.has(imported)) found.set(imported, found.get(imported) ?? path);
    }
  }
  return [...found].map(([imported, path]) => ({
    code: "IMPORT_UNDECLARED",
    message: `${path} imports ${imported}, which package.json does not list as a dependency.`,
  }));
}

function importsOf(source: string): string[] {
  try {
    return parse(source)[0].flatMap(({ specifier }) => specifier ?? []);
  } catch {
    // The check of the plugin reports a module that cannot be parsed.
    return [];
  }
}

/** Returns the package of an import specifier; `undefined` for paths, `#imports`, built-in modules and URLs. */
function packageOf(specifier: string): string | undefined {
  if (/^[./#]|^[a-z]+:/.test(specifier) || isBuiltin(specifier)) return undefined;
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
