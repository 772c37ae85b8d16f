import { useEffect, useState } from "preact/hooks";

/** Address of the page: its path in decoded parts, and its arguments. The whole state of a view stands in it. */
export interface Address {
  readonly parts: readonly string[];
  readonly search: URLSearchParams;
}

/** Writes a path from parts, each of which may hold any characters. */
export function pathOf(...parts: readonly string[]): string {
  return `/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}

/** Returns the address with other arguments: `null` removes one. */
export function withArguments(search: URLSearchParams, changes: Readonly<Record<string, string | null>>): string {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === "" ? location.pathname : `${location.pathname}?${text}`;
}

/** Shows another address. @param isReplaced whether the present one is left out of the history */
export function goTo(href: string, isReplaced = false): void {
  if (isReplaced) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
  if (!isReplaced) scrollTo(0, 0);
}

export function useAddress(): Address {
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const onChange = (): void => setAddress(read());
    addEventListener("popstate", onChange);
    addEventListener("click", followLink);
    return () => {
      removeEventListener("popstate", onChange);
      removeEventListener("click", followLink);
    };
  }, []);
  return address;
}

function read(): Address {
  const parts = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  return { parts, search: new URLSearchParams(location.search) };
}

/** Follows a link of this page without loading it again. */
function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest?.("a");
  if (link === null || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || link.hasAttribute("download") || link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  goTo(link.pathname + link.search);
}
