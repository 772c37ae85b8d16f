import { useEffect, useRef, useState } from "preact/hooks";

/** Error of the API, or of the connection to it. */
export interface ApiFault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** State of a request. The value of the last answer stays while another one is awaited. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly fault: ApiFault | undefined;
  readonly isLoading: boolean;
}

/** Requests a value, and again whenever the run changes. @param path `undefined` for none */
export function useApi<T>(path: string | undefined, run?: string): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: undefined, fault: undefined, isLoading: true });
  const shown = useRef<string>(undefined);
  const version = useChanges(run);
  useEffect(() => {
    if (path === undefined) return undefined;
    const ending = new AbortController();
    // A value of another address must not stand below this one.
    setState((last) => ({
      value: samePlace(shown.current, path) ? last.value : undefined,
      fault: undefined,
      isLoading: true,
    }));
    shown.current = path;
    request<T>(path, { signal: ending.signal }).then(
      (value) => setState({ value, fault: undefined, isLoading: false }),
      (error: unknown) => {
        if (!ending.signal.aborted)
          setState((last) => ({ value: last.value, fault: faultOf(error), isLoading: false }));
      },
    );
    return () => ending.abort();
  }, [path, version]);
  return state;
}

/** Returns a number that rises at an interval. */
export function useTurns(intervalMs: number): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTurn((last) => last + 1), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return turn;
}

/** Requests JSON. Rejects with an {@link ApiFault}. */
export async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(path, init);
  const body = (await response.json()) as T & { readonly error?: ApiFault };
  if (!response.ok) throw body.error ?? { code: String(response.status), message: response.statusText };
  return body;
}

/** Requests bytes. Rejects with an {@link ApiFault}. */
export async function requestBytes(path: string): Promise<ArrayBuffer> {
  const response = await fetch(path);
  if (!response.ok) throw ((await response.json()) as { readonly error: ApiFault }).error;
  return response.arrayBuffer();
}

export function faultOf(error: unknown): ApiFault {
  if (typeof error === "object" && error !== null && "code" in error && "message" in error) return error as ApiFault;
  return {
    code: "SERVER_UNAVAILABLE",
    message: "The server of this page does not answer.",
    hint: "Start mrlm ui again.",
  };
}

function samePlace(one: string | undefined, other: string): boolean {
  return one?.split("?", 1)[0] === other.split("?", 1)[0];
}

const listeners = new Set<(runs: readonly string[]) => void>();
let stream: EventSource | undefined;

/** Returns a number that rises when a run changes; when any run does, without one. */
export function useChanges(run?: string): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const listener = (runs: readonly string[]): void => {
      if (run === undefined || runs.includes(run)) setVersion((last) => last + 1);
    };
    listeners.add(listener);
    if (stream === undefined) {
      stream = new EventSource("/api/events");
      stream.addEventListener("message", ({ data }) => {
        const { runs } = JSON.parse(String(data)) as { readonly runs: readonly string[] };
        for (const each of listeners) each(runs);
      });
    }
    return () => void listeners.delete(listener);
  }, [run]);
  return version;
}
