// A value that components follow.
import { useEffect, useState } from "preact/hooks";

export class Signal<T> {
  private listeners = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(next: T): void {
    if (Object.is(next, this.current)) return;
    this.current = next;
    for (const listener of [...this.listeners]) listener();
  }

  follow(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useSignal<T>(signal: Signal<T>): T {
  const [, turn] = useState(0);
  const shown = signal.value;
  useEffect(() => {
    const stop = signal.follow(() => turn((count) => count + 1));
    // It may have changed after it was drawn, and before anybody followed it.
    if (!Object.is(shown, signal.value)) turn((count) => count + 1);
    return stop;
  }, [signal]);
  return shown;
}
