import { link, threadLink } from "../lib/router";
import type { Links } from "../lib/types";
import { Icon } from "../ui/icons";

// What opened or closed an item.
export function LinkList({ links }: { links: Links }) {
  const { thread, run, checkpoint, commit, session } = links;
  return (
    <span class="links">
      {thread && !links.thread_is_gone && (
        <a href={threadLink(thread)}>
          <Icon name="threads" size={14} /> thread {thread.slice(0, 6)}
        </a>
      )}
      {thread && links.thread_is_gone && <span>thread {thread.slice(0, 6)}, deleted</span>}
      {checkpoint && (
        <a href={link(["checkpoints", checkpoint])}>
          <Icon name="checkpoints" size={14} /> {checkpoint}
        </a>
      )}
      {commit && (
        <span>
          <Icon name="commit" size={14} /> <code>{commit.slice(0, 10)}</code>
        </span>
      )}
      {run && <span>run {run.slice(0, 8)}</span>}
      {session && <span>session {session.slice(0, 8)}</span>}
    </span>
  );
}
