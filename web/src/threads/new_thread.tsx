import { useEffect, useState } from "preact/hooks";
import { agents, loadAgents } from "../lib/agents";
import { client, given, messageOf } from "../lib/api";
import { go } from "../lib/router";
import { useSignal } from "../lib/signal";
import { Dialog } from "../ui/bits";

export function NewThread({ onClose }: { onClose: () => void }) {
  const known = useSignal(agents);
  const [agent, setAgent] = useState("");
  const [title, setTitle] = useState("");
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => void loadAgents(), []);

  const create = async () => {
    setBusy(true);
    setError("");
    try {
      const thread = await client.createThread(given({ agentId: agent, title }));
      if (text.trim()) await client.startRun({ threadId: thread.threadId, text });
      onClose();
      go(["thread", thread.threadId]);
    } catch (problem) {
      setError(messageOf(problem));
      setBusy(false);
    }
  };

  return (
    <Dialog title="New thread" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          Agent
          <input
            list="new-agents"
            value={agent}
            placeholder="the default agent"
            onInput={(event) => setAgent(event.currentTarget.value)}
          />
          <datalist id="new-agents">
            {known.map((one) => (
              <option key={one.id} value={one.id}>
                {one.description ?? one.engine}
              </option>
            ))}
          </datalist>
        </label>
        <label>
          Title
          <input value={title} placeholder="found from what is said" onInput={(event) => setTitle(event.currentTarget.value)} />
        </label>
        <label>
          First message
          <textarea
            rows={4}
            value={text}
            placeholder="Sent to the agent, which answers right away"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {error && (
          <p class="form-error" role="alert">
            {error}
          </p>
        )}
        <div class="form-actions">
          <button type="submit" class="button primary" disabled={busy}>
            {text.trim() ? "Create and run" : "Create"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
