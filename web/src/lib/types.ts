// What /v1 gives, as far as the page looks at it.

export type Role = "user" | "assistant" | "system" | "tool";
export type ThreadStatus = "active" | "paused" | "closed" | "archived";
export const threadStatuses: ThreadStatus[] = ["active", "paused", "closed", "archived"];

export interface Thread {
  threadId: string;
  agentId: string;
  status: ThreadStatus;
  createdAt: string;
  updatedAt: string;
  lastSeq: number;
  title?: string;
  metadata?: Record<string, unknown>;
  summary?: string;
  resolution?: string;
  parent?: { threadId: string; seq: number };
  pins?: number[];
  taskId?: string;
}

export interface ThreadPage {
  threads: Thread[];
  next?: string;
  total?: number;
}

export interface ThreadEvent {
  type: "message" | "tool_use" | "assistant_text" | "result" | "unreadable";
  seq: number;
  timestamp: string;
  base?: number;
  memoryType?: string;
  metadata?: Record<string, unknown>;
  role?: Role;
  text?: string;
  name?: string;
  input?: unknown;
  reason?: string;
  cost?: number;
  durationMs?: number;
  turns?: number;
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
}

export interface LedgerEntry {
  from?: number;
  to?: number;
  what: "in" | "summarised" | "left_out";
  why: string;
  tokens: number;
  estimated?: boolean;
}

export type Strategy = "recent" | "summary" | "hybrid";

export interface ContextWindow {
  messages: ThreadEvent[];
  ledger: LedgerEntry[];
  tokens: number;
  strategy: Strategy;
}

export interface Run {
  runId: string;
  threadId: string;
  agentId: string;
  status: "pending" | "running" | "success" | "error" | "interrupted" | "timeout";
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  error?: { code: string; message: string };
  model?: string;
  usage?: Record<string, number>;
  question?: { calls: { id: string; name: string; input?: unknown }[] };
}

export interface Agent {
  id: string;
  engine: string;
  model?: string;
  description?: string;
}

export interface SearchResult {
  threadId: string;
  threadTitle: string;
  agentId: string;
  seq: number;
  timestamp: string;
  score: number;
  why: Record<string, number>;
  messages: { seq: number; role: Role; text: string; timestamp: string; match?: boolean }[];
}

export interface SearchAnswer {
  results: SearchResult[];
  used: string[];
  searched: number;
  withoutVector: number;
  notIndexed: number;
  notIndexedExact: boolean;
  note?: string;
}

export interface Links {
  session?: string;
  thread?: string;
  thread_is_gone?: boolean;
  run?: string;
  checkpoint?: string;
  commit?: string;
}

export interface Item {
  id: string;
  text: string;
  status: "open" | "resolved";
  created_at: string;
  resolved_at?: string;
  resolution_note?: string;
  project: string;
  vitality: { value: number; state: string };
  opened_by: Links;
  closed_by?: Links;
}

export interface ItemList {
  items: Item[];
  total_open: number;
  total_resolved: number;
}

export interface CheckpointEntry {
  thread_id: string;
  type: "checkpoint" | "auto-checkpoint" | "handoff";
  created_at: string;
  title: string;
  conversation_summary: string;
  tags: string[];
  worker?: string;
  worker_state?: string;
  branch?: string;
  current_commit?: string;
  next_steps: number;
}

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

export interface Checkpoint {
  thread_id: string;
  type: string;
  created_at: string;
  cwd: string;
  git?: {
    branch?: string;
    initial_commit?: string;
    current_commit?: string;
    commits_made?: string[];
    dirty?: boolean;
  };
  worker?: { id: string; skill?: string; state?: string };
  conversation_summary: string;
  files_touched: string[];
  next_steps?: string[];
  metadata?: { title?: string; tags?: string[] };
}

export interface ResumedCheckpoint {
  checkpoint: Checkpoint;
  drift: Drift;
  open_items: { id: string; text: string }[];
  prompt: string;
}

export interface UsageTotals {
  runs: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  costUsd: number;
  durationMs: number;
  turns: number;
}

export interface UsageRow extends UsageTotals {
  agent?: string;
  day?: string;
  model?: string;
  thread?: string;
}

export interface UsageReport {
  rows: UsageRow[];
  all: UsageTotals;
}

export interface FeedEvent {
  event: string;
  threadId: string;
  agentId?: string;
  message?: ThreadEvent;
  thread?: Partial<Thread>;
  cursor: string;
}
