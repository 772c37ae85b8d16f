// oxlint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * Replaces each character that controls a terminal by its escape (`\u001b`). Models, environments and plugins write part of what is printed:
 * their sequences could clear the screen, set its title or rewrite earlier lines. Line breaks and tabs remain.
 */
export function printable(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
