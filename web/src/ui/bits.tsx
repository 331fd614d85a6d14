// Small parts that all views are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Refusal, locked, messageOf } from "../lib/api";
import { ago, moment } from "../lib/format";
import type { ThreadStatus } from "../lib/types";
import { Icon, type IconName } from "./icons";

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}

export function IconButton(props: {
  icon: IconName;
  label: string;
  onClick: () => void;
  pressed?: boolean;
  size?: number;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={props.label}
      title={props.label}
      onClick={props.onClick}
      {...(props.pressed === undefined ? {} : { "aria-pressed": props.pressed })}
    >
      <Icon name={props.icon} size={props.size ?? 18} />
    </button>
  );
}

export function Status({ status }: { status: ThreadStatus }) {
  return <span class={`status status-${status}`}>{status}</span>;
}

export function Tag({ children }: { children: ComponentChildren }) {
  return (
    <span class="tag">
      <bdi>{children}</bdi>
    </span>
  );
}

// Nothing is there, and what one does about it.
export function Empty(props: { title: string; icon?: IconName; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {props.icon && <Icon name={props.icon} size={32} />}
      <h2>{props.title}</h2>
      <div class="empty-text">{props.children}</div>
    </div>
  );
}

export function Command({ children }: { children: string }) {
  return <code class="command">{children}</code>;
}

const hints: [(refusal: Refusal) => boolean, string][] = [
  [(one) => one.status === 0, "Is it running? The page goes on by itself as soon as skein serve answers again."],
  [(one) => one.status === 401, "Enter a key of this server."],
  [(one) => one.status === 403, "Use a key that may do this: skein key create makes one."],
  [(one) => one.status === 404, "It may have been deleted, or the key in use does not see it."],
  [(one) => one.status === 429 || one.status === 503, "The server has too much to do at the moment. Try again."],
];

export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const hint = error instanceof Refusal ? hints.find(([fits]) => fits(error))?.[1] : undefined;
  return (
    <div class="failure" role="alert">
      <Icon name="alert" />
      <div>
        <p class="failure-what">{messageOf(error)}</p>
        {hint && <p>{hint}</p>}
        <p class="failure-actions">
          {again && (
            <button type="button" class="button" onClick={again}>
              Try again
            </button>
          )}
          {error instanceof Refusal && error.status === 403 && (
            <button type="button" class="button" onClick={() => locked.set(true)}>
              Enter another key
            </button>
          )}
        </p>
      </div>
    </div>
  );
}

export function Loading({ label = "Loading" }: { label?: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" />
      {label}…
    </div>
  );
}

// A dialog that closes by Escape and gives the focus back.
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) props.onClose();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClick={onClick}
    >
      <div class="dialog-head">
        <h2 id="dialog-title">{props.title}</h2>
        <IconButton icon="close" label="Close" onClick={props.onClose} />
      </div>
      {props.children}
    </dialog>
  );
}

export function CopyButton({ text, label = "Copy" }: { text: () => string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      // A browser that does not let pages copy: the text can be selected.
    }
  };
  return <IconButton icon={done ? "check" : "copy"} label={done ? "Copied" : label} onClick={copy} size={16} />;
}
