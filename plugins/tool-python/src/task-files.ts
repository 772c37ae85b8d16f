/** Files of a task by relative path. */
export type TaskFiles = Readonly<Record<string, string | Uint8Array>>;

/** Separates files that are text from those that are not UTF-8. A sandbox accepts text only. */
export function splitFiles(files: TaskFiles): {
  readonly texts: Readonly<Record<string, string>>;
  readonly binaries: Readonly<Record<string, Uint8Array>>;
} {
  const texts: Record<string, string> = {};
  const binaries: Record<string, Uint8Array> = {};
  for (const [path, content] of Object.entries(files)) {
    const text = typeof content === "string" ? content : textOf(content);
    if (text === undefined) binaries[path] = content as Uint8Array;
    else texts[path] = text;
  }
  return { texts, binaries };
}

/** Returns Python code that writes files and defines no name. */
export function codeThatWrites(files: Readonly<Record<string, Uint8Array>>): string {
  const encoded = Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes).toString("base64")]);
  return [
    "for _path, _data in __import__('json').loads(" + JSON.stringify(JSON.stringify(encoded)) + "):",
    "    __import__('os').makedirs(__import__('os').path.dirname(_path) or '.', exist_ok=True)",
    "    with open(_path, 'wb') as _file:",
    "        _file.write(__import__('base64').b64decode(_data))",
    "del _path, _data, _file",
  ].join("\n");
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
