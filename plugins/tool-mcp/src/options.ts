import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { z } from "zod";
import {
  EPISODE_DIRECTORY,
  expand,
  hasLiteralSecret,
  isLiteralSecret,
  missingVariables,
  unknownForm,
  uses,
} from "./variables.ts";

const texts = z.record(z.string(), z.string());

/** Entry of `mcpServers`, in the shape that MCP clients share. */
const entry = z.strictObject({
  type: z.enum(["stdio", "http", "streamable-http", "streamableHttp", "sse"]).optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  cwd: z.string().min(1).optional(),
  url: z.string().min(1).optional(),
  headers: texts.default({}),
  description: z.string().optional(),
  disabled: z.boolean().default(false),
});

const settings = z.strictObject({
  shared: z.boolean().default(false).describe("Whether all episodes use the same processes or sessions of the server"),
  processes: z.int().positive().max(1024).optional().describe("At the same time; default 1 if shared, else 64"),
  tools: z.array(z.string()).min(1).optional().describe("Names of the tools to offer, as the server has them"),
  timeout_ms: z.int().min(50).max(3_600_000).default(30_000).describe("Of a call, and after each report of progress"),
  max_timeout_ms: z.int().min(50).max(86_400_000).default(300_000).describe("Of a call that reports progress"),
  start_timeout_ms: z.int().min(50).max(600_000).default(30_000).describe("Of the start, up to the list of tools"),
  output_bytes: z.int().min(256).max(16_777_216).default(65_536).describe("UTF-8 bytes of a result"),
  message_bytes: z.int().min(65_536).max(268_435_456).default(16_777_216).describe("Of one message of the server"),
  protocol: z.enum(["initialize", "discover"]).default("initialize").describe("How the version is negotiated"),
});

/** Options of the plugin. */
export const mcpOptions = z
  .strictObject({
    mcpServers: z.record(z.string().min(1), entry).default({}),
    servers: z.record(z.string(), settings.prefault({})).default({}).describe("Settings of servers, by name"),
    starts: z.int().positive().max(64).default(4).describe("Servers that start at the same time"),
  })
  .prefault({})
  .superRefine((options, context) => {
    const report = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: "custom", path, message });
    for (const [name, server] of Object.entries(options.mcpServers))
      if (!server.disabled)
        for (const { path, message } of serverFaults(server, options.servers[name]?.shared ?? false))
          report(["mcpServers", name, ...path], message);
    const known = Object.keys(options.mcpServers);
    for (const name of Object.keys(options.servers))
      if (!known.includes(name))
        report(["servers", name], `is no server of mcpServers; known: ${known.join(", ") || "none"}`);
  });

export type McpOptions = z.output<typeof mcpOptions>;
export type ServerEntry = z.output<typeof entry>;
export type ServerSettings = z.output<typeof settings>;

export function settingsOf(options: McpOptions, name: string): ServerSettings {
  return options.servers[name] ?? settings.parse({});
}

/** Returns all texts of an entry that may use variables, with their paths and, for a named value, the name. */
export function textsOf(server: ServerEntry): { path: (string | number)[]; text: string; name?: string }[] {
  const { command, args, env, cwd, url, headers } = server;
  const one = (key: string, text: string | undefined) => (text === undefined ? [] : [{ path: [key], text }]);
  const named = (key: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, text]) => ({ path: [key, name], text, name }));
  return [
    ...one("command", command),
    ...args.map((text, i) => ({ path: ["args", i], text, ...argumentName(args, i) })),
    ...named("env", env),
    ...one("cwd", cwd),
    ...one("url", url),
    ...named("headers", headers),
  ];
}

/** `--token` for the argument after it. */
function argumentName(args: readonly string[], index: number): { name?: string } {
  const before = args[index - 1];
  return before?.startsWith("-") === true && !before.includes("=") ? { name: before } : {};
}

interface Fault {
  readonly path: (string | number)[];
  readonly message: string;
}

function serverFaults(server: ServerEntry, isShared: boolean): Fault[] {
  const { type, command, url, env } = server;
  const faults: Fault[] = [];
  const isProcess = type === "stdio" || (type === undefined && url === undefined);
  if (isProcess && command === undefined) faults.push({ path: ["command"], message: "is missing; or give a url" });
  if (!isProcess && url === undefined) faults.push({ path: ["url"], message: `is missing for type ${type}` });
  if (command !== undefined && url !== undefined)
    faults.push({ path: ["url"], message: "stands beside a command: a server has one of them" });
  if (!isProcess && uses(url ?? "", EPISODE_DIRECTORY))
    faults.push({ path: ["url"], message: `\${${EPISODE_DIRECTORY}} is for servers with a command` });
  const written = textsOf(server);
  for (const { path, text, name = "" } of written) {
    const unknown = unknownForm(text);
    if (unknown !== undefined)
      faults.push({ path, message: `${unknown} is no variable: write \${NAME} or \${NAME:-default}` });
    for (const variable of missingVariables(text, process.env))
      faults.push({ path, message: `the environment variable ${variable} is not set` });
    const [, option, value] = /^(--?[\w-]+)=(.*)$/s.exec(text) ?? [];
    if (isLiteralSecret(name, text) || isLiteralSecret(option ?? "", value ?? ""))
      faults.push({ path, message: `is a secret, and configurations are copied into runs: write \${NAME}` });
    if (isShared && uses(text, EPISODE_DIRECTORY))
      faults.push({ path, message: `\${${EPISODE_DIRECTORY}} is one episode's, and the server is shared` });
  }
  if (faults.length > 0) return faults;
  if (command !== undefined && !isCommand(expand(command, process.env), expand(env["PATH"] ?? "", process.env)))
    faults.push({ path: ["command"], message: `there is no command "${command}"` });
  if (url !== undefined) {
    const parsed = URL.parse(expand(url, process.env));
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      faults.push({ path: ["url"], message: "is no http or https URL" });
    else if (hasLiteralSecret(url))
      faults.push({ path: ["url"], message: "has a secret, and configurations are copied into runs: write ${NAME}" });
  }
  return faults;
}

/** Whether a command can be found. A relative path is found from the server's folder, when the server starts. */
function isCommand(command: string, path: string): boolean {
  if (isAbsolute(command)) return isExecutable(command);
  if (command.includes("/")) return true;
  const folders = (path === "" ? (process.env["PATH"] ?? "") : path).split(delimiter);
  return folders.some((folder) => isExecutable(join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
