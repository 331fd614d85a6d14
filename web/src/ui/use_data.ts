import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Refusal, locked, reached } from "../lib/api";
import { useSignal } from "../lib/signal";

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  loading: boolean;
  again: () => void;
}

// What `load` gives, loaded again when one of `inputs` changes, when a key was entered, and when the
// server is back. Old data stays while new data comes.
export function useData<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown; loading: boolean }>({
    data: undefined,
    error: undefined,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  const isLocked = useSignal(locked);
  const isReached = useSignal(reached);
  const failed = useRef(false);
  useEffect(() => {
    if (isLocked) return;
    const cut = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    load(cut.signal).then(
      (data) => {
        failed.current = false;
        if (!cut.signal.aborted) setState({ data, error: undefined, loading: false });
      },
      (error: unknown) => {
        if (cut.signal.aborted) return;
        failed.current = error instanceof Refusal && error.status === 0;
        setState((old) => ({ data: old.data, error, loading: false }));
      },
    );
    return () => cut.abort();
  }, [...inputs, turn, isLocked]);
  const again = useCallback(() => setTurn((count) => count + 1), []);
  // While the server is away, somebody must ask whether it is back.
  useEffect(() => {
    if (!failed.current) return;
    if (isReached) {
      again();
      return;
    }
    const timer = setInterval(again, 1500);
    return () => clearInterval(timer);
  }, [isReached, state.error]);
  return { ...state, again };
}

// Follows a value that changes quickly, such as what one types.
export function useCalm<T>(value: T, ms: number): T {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return calm;
}

export function useEvent<K extends keyof WindowEventMap>(
  name: K,
  handler: (event: WindowEventMap[K]) => void,
): void {
  const current = useRef(handler);
  current.current = handler;
  useEffect(() => {
    const listener = (event: WindowEventMap[K]) => current.current(event);
    window.addEventListener(name, listener);
    return () => window.removeEventListener(name, listener);
  }, [name]);
}

// Whether somebody types into something, so that letters are no commands.
export function isTyping(event: Event): boolean {
  const target = event.target;
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
