import { useRef, useState } from "preact/hooks";
import { client, messageOf } from "../lib/api";
import type { Thread } from "../lib/types";
import { Icon } from "../ui/icons";
import type { ThreadModel } from "./model";

const kClosed: Record<string, string> = {
  closed: "This thread is closed, and stays so. Fork it to go on from any of its messages.",
  archived: "This thread is archived. Fork it to go on from any of its messages.",
};

export function Composer({ model, thread }: { model: ThreadModel; thread: Thread }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const running = model.runs.busy;

  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setError("");
    try {
      await work();
      return true;
    } catch (problem) {
      setError(messageOf(problem));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const said = async (work: () => Promise<unknown>) => {
    if (!(await attempt(work))) return;
    setText("");
    area.current?.focus();
  };
  const run = () => said(() => model.runs.begin(text.trim() === "" ? "" : text));
  const add = () => said(() => client.addMessage(model.id, { text }));

  const closed = kClosed[thread.status];
  if (closed) return <p class="composer-closed">{closed}</p>;
  const paused = thread.status === "paused";
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void (paused ? add() : run());
      }}
    >
      {error && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
      {model.runs.current?.question && <Question model={model} attempt={attempt} />}
      <textarea
        ref={area}
        dir="auto"
        rows={2}
        value={text}
        aria-label={`Message to ${thread.agentId}`}
        placeholder={paused ? "Paused: messages are kept, runs wait until it is resumed" : `Message to ${thread.agentId}`}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            if (!busy && text.trim() !== "") void (paused ? add() : run());
          }
        }}
      />
      <div class="composer-actions">
        <span class="hint">
          <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line
        </span>
        <button type="button" class="button" disabled={busy || text.trim() === ""} onClick={add}>
          Only add
        </button>
        {running ? (
          <button type="button" class="button danger" onClick={() => void attempt(() => model.runs.cancel())}>
            <Icon name="stop" size={16} /> Stop
          </button>
        ) : (
          <button type="submit" class="button primary" disabled={busy || paused}>
            <Icon name="send" size={16} /> {text.trim() === "" ? "Continue" : "Run"}
          </button>
        )}
      </div>
    </form>
  );
}

// A tool needs a person's yes.
function Question(props: { model: ThreadModel; attempt: (work: () => Promise<unknown>) => Promise<boolean> }) {
  const { model, attempt } = props;
  const [note, setNote] = useState("");
  const calls = model.runs.current?.question?.calls ?? [];
  return (
    <div class="question" role="group" aria-label="The agent asks">
      <p>
        The agent wants to use{" "}
        {calls.map((call) => (
          <code key={call.id}>{call.name}</code>
        ))}{" "}
        with <code>{JSON.stringify(calls[0]?.input ?? {}).slice(0, 300)}</code>
      </p>
      <div class="composer-actions">
        <input
          class="field"
          value={note}
          placeholder="why not (said with a no)"
          aria-label="Why not"
          onInput={(event) => setNote(event.currentTarget.value)}
        />
        <button type="button" class="button" onClick={() => void attempt(() => model.runs.answer(false, note))}>
          No
        </button>
        <button type="button" class="button primary" onClick={() => void attempt(() => model.runs.answer(true, ""))}>
          Yes, use it
        </button>
      </div>
    </div>
  );
}
