// What /v1 gives: the types of the client that is made from the server's own description, and what that leaves open.
import type * as api from "../../../clients/typescript/src/api";

export type {
  Agent,
  CheckpointEntry,
  ContextStrategy as Strategy,
  ContextWindow,
  ItemDetails as Item,
  ItemList,
  LedgerEntry,
  Run,
  SearchAnswer,
  SearchResult,
  Thread,
  ThreadPage,
  ThreadStatus,
  UsageReport,
  UsageRow,
  UsageTotals,
} from "../../../clients/typescript/src/api";

export const threadStatuses: api.ThreadStatus[] = ["active", "paused", "closed", "archived"];

export type Links = api.ItemDetails["opened_by"];

// The named fields, without "and whatever else".
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };
type Only<T> = Partial<Omit<Named<T>, "type">>;

// An event of whatever type: its fields are there or not.
export type ThreadEvent = Pick<api.MessageEvent, "seq" | "timestamp"> & { type: api.Event["type"] } & Only<api.MessageEvent> &
  Only<api.ToolUseEvent> &
  Only<api.ResultEvent> &
  Only<api.UnreadableEvent>;

export type FeedEvent = Omit<Named<api.ThreadEvent>, "message" | "thread"> & { message?: ThreadEvent; thread?: Partial<api.Thread> };

export interface Drift {
  unknown?: string;
  none?: boolean;
  branch_then?: string;
  branch_now?: string;
  commit_then?: string;
  commit_now?: string;
  commit_missing?: boolean;
  commits_since?: number;
  new_commits?: string[];
  commits_left?: number;
  changed_files?: string[];
  dirty?: boolean;
}

export type Checkpoint = Omit<Named<api.Checkpoint>, "git" | "worker" | "metadata"> & {
  git?: {
    branch?: string;
    initial_commit?: string;
    current_commit?: string;
    commits_made?: string[];
    dirty?: boolean;
  };
  worker?: { id: string; skill?: string; state?: string };
  metadata?: { title?: string; tags?: string[] };
};

export type ResumedCheckpoint = Omit<Named<api.ResumedCheckpoint>, "checkpoint" | "drift"> & { checkpoint: Checkpoint; drift: Drift };
