const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is a file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
};

/** Returns the cause of an error of the file system as a clause; for any other error its message. */
export function fileFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code !== undefined && Object.hasOwn(WORDS, code) ? WORDS[code] : undefined) ?? message;
}
