// Made by generate.mjs from the server's OpenAPI document; not to be edited.

export interface Agent {
  id: string;
  engine: string;
  model?: string;
  description?: string;
  system?: string;
  capabilities: Record<string, unknown>;
  limits: Record<string, number>;
  context: Record<string, unknown>;
  [other: string]: unknown;
}

export interface AgentList {
  agents: Agent[];
  /** Definitions with mistakes; told to keys that see all agents */
  problems: {
    agent: string;
    file: string;
    field: string;
    reason: string;
  }[];
}

export interface Appended {
  seq: number;
  /** The key was there already, with the same event */
  repeated?: boolean;
}

export interface AssistantTextEvent {
  type: "assistant_text";
  text: string;
  /** Its position in the thread: 1, 2, 3 … */
  seq: number;
  timestamp: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface BackfillResult {
  embedded: number;
  cleaned: number;
  stopped?: boolean;
}

export interface Checkpoint {
  thread_id: string;
  version: number;
  /** checkpoint, auto-checkpoint, handoff, or a word of another program, such as task */
  type: string;
  created_at: string;
  updated_at: string;
  workspace_root: string;
  cwd: string;
  git?: Record<string, unknown>;
  worker?: Record<string, unknown>;
  conversation_summary: string;
  files_touched: string[];
  next_steps?: string[];
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface CheckpointEntry {
  /** The checkpoint's id: T-YYYYMMDD-HHMMSS-slug */
  thread_id: string;
  /** checkpoint, auto-checkpoint, handoff, or a word of another program, such as task */
  type: string;
  created_at: string;
  title: string;
  conversation_summary: string;
  tags: string[];
  worker?: string;
  worker_state?: string;
  branch?: string;
  current_commit?: string;
  next_steps: number;
  older?: boolean;
  /** The month of the archive that it is in: YYYY-MM */
  archive?: string;
  [other: string]: unknown;
}

export interface CheckpointPage {
  checkpoints: CheckpointEntry[];
  /** The cursor of the next page; absent: this was the last */
  next?: string;
}

export type CheckpointType = "checkpoint" | "auto-checkpoint" | "handoff";

export interface ClosedSession {
  success: boolean;
  session: WorkSession;
  open_threads: WorkItem[];
  created: number;
  resolved: number;
  warnings: string[];
  [other: string]: unknown;
}

export type ContextStrategy = "recent" | "summary" | "hybrid";

export interface ContextWindow {
  messages: Event[];
  /** What became of each event of the thread */
  ledger: LedgerEntry[];
  tokens: number;
  strategy: ContextStrategy;
}

export type Event = MessageEvent | ToolUseEvent | AssistantTextEvent | ResultEvent | UnreadableEvent;

export interface EventPage {
  events: Event[];
  /** The cursor of the next page; absent: this was the last */
  next?: string;
}

export interface ItemDetails {
  id: string;
  text: string;
  status: "open" | "resolved";
  created_at: string;
  resolved_at?: string;
  source_session?: string;
  resolved_by_session?: string;
  resolution_note?: string;
  linear_issue?: string;
  project: string;
  /** 0 to 1; emerging, active, cooling or dormant */
  vitality: {
    value: number;
    state: string;
  };
  opened_by: {
    session?: string;
    thread?: string;
    thread_is_gone?: boolean;
    run?: string;
    checkpoint?: string;
    commit?: string;
    [other: string]: unknown;
  };
  closed_by?: {
    session?: string;
    thread?: string;
    thread_is_gone?: boolean;
    run?: string;
    checkpoint?: string;
    commit?: string;
    [other: string]: unknown;
  };
  [other: string]: unknown;
}

export interface ItemList {
  items: ItemDetails[];
  total_open: number;
  total_resolved: number;
}

export interface LedgerEntry {
  from?: number;
  to?: number;
  what: "in" | "summarised" | "left_out";
  why: string;
  tokens: number;
  estimated?: boolean;
}

export type MemoryType = "conversation_turn" | "tool_result" | "intermediate_result" | "context_summary" | "decision_point";

export interface Message {
  /** <threadId>-<seq> */
  id: string;
  threadId: string;
  seq: number;
  role: Role;
  text: string;
  timestamp: string;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface MessageEvent {
  type: "message";
  role: Role;
  text: string;
  /** Its position in the thread: 1, 2, 3 … */
  seq: number;
  timestamp: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface MessagePage {
  messages: Message[];
  /** The cursor of the next page; absent: this was the last */
  next?: string;
}

export type Multitask = "enqueue" | "reject" | "interrupt" | "rollback";

export interface NewAssistantTextEvent {
  type: "assistant_text";
  text: string;
  /** The position that it must get, or else 409. */
  seq?: number;
  /** Idempotency key: accepted once in the thread. */
  key?: string;
  /** Absent: the server's clock. */
  timestamp?: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export type NewEvent = NewMessageEvent | NewToolUseEvent | NewAssistantTextEvent | NewResultEvent;

export interface NewMessage {
  /** Absent: user */
  role?: "user" | "assistant" | "system" | "tool";
  text: string;
  metadata?: Record<string, unknown>;
  memoryType?: MemoryType;
  /** Idempotency key, as the header Idempotency-Key */
  key?: string;
  /** The seq that it continues from */
  base?: number;
}

export interface NewMessageEvent {
  type?: "message";
  role: Role;
  text: string;
  /** The position that it must get, or else 409. */
  seq?: number;
  /** Idempotency key: accepted once in the thread. */
  key?: string;
  /** Absent: the server's clock. */
  timestamp?: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface NewResultEvent {
  type: "result";
  cost?: number;
  durationMs?: number;
  turns?: number;
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  /** The position that it must get, or else 409. */
  seq?: number;
  /** Idempotency key: accepted once in the thread. */
  key?: string;
  /** Absent: the server's clock. */
  timestamp?: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface NewToolUseEvent {
  type: "tool_use";
  name: string;
  input: Record<string, unknown>;
  /** The position that it must get, or else 409. */
  seq?: number;
  /** Idempotency key: accepted once in the thread. */
  key?: string;
  /** Absent: the server's clock. */
  timestamp?: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  /** A lower-case word for programs */
  code: string;
  /** Names the rule and the value */
  detail: string;
  instance?: string;
  [other: string]: unknown;
}

export interface RecallStatus {
  messages: number;
  withVectors: number;
  threads: number;
  bytes: number;
  /** Empty: words only */
  model: string;
}

export interface RefusedAppend {
  error: {
    code: string;
    message: string;
  };
}

export interface ResolvedItem {
  id: string;
  text: string;
  status: "open" | "resolved";
  created_at: string;
  resolved_at?: string;
  source_session?: string;
  resolved_by_session?: string;
  resolution_note?: string;
  linear_issue?: string;
  project: string;
  /** 0 to 1; emerging, active, cooling or dormant */
  vitality: {
    value: number;
    state: string;
  };
  opened_by: {
    session?: string;
    thread?: string;
    thread_is_gone?: boolean;
    run?: string;
    checkpoint?: string;
    commit?: string;
    [other: string]: unknown;
  };
  closed_by?: {
    session?: string;
    thread?: string;
    thread_is_gone?: boolean;
    run?: string;
    checkpoint?: string;
    commit?: string;
    [other: string]: unknown;
  };
  /** Items that the resolution note calls duplicates: "Duplicate of t-…" */
  also_resolved?: WorkItem[];
  [other: string]: unknown;
}

export interface ResultEvent {
  type: "result";
  cost?: number;
  durationMs?: number;
  turns?: number;
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  /** Its position in the thread: 1, 2, 3 … */
  seq: number;
  timestamp: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface ResumedCheckpoint {
  checkpoint: Checkpoint;
  /** How far the repository has moved since */
  drift: Record<string, unknown>;
  open_items: {
    id: string;
    text: string;
  }[];
  /** What to put before whoever continues */
  prompt: string;
  [other: string]: unknown;
}

export type Role = "user" | "assistant" | "system" | "tool";

export interface Run {
  runId: string;
  threadId: string;
  agentId: string;
  status: RunStatus;
  multitask: Multitask;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  error?: {
    code: string;
    message: string;
  };
  usage?: Record<string, number>;
  model?: string;
  chain?: string[];
  parentRunId?: string;
  metadata?: Record<string, unknown>;
  input?: (Record<string, unknown>)[];
  kwargs?: Record<string, unknown>;
  baseSeq?: number;
  firstSeq?: number;
  lastSeq?: number;
  userSeq?: number;
  responseSeq?: number;
  /** Tools that wait for a person's yes */
  question?: {
    calls: {
      id: string;
      name: string;
      input?: Record<string, unknown>;
      [other: string]: unknown;
    }[];
  };
  rolledBack?: boolean;
  effects?: string[];
  resumed?: number;
  [other: string]: unknown;
}

export interface RunOutcome {
  runId: string;
  threadId: string;
  status: RunStatus;
  /** What the agent answered; empty: nothing */
  response: string;
  run: Run;
}

export interface RunPage {
  runs: Run[];
  /** The cursor of the next page; absent: this was the last */
  next?: string;
}

export type RunStatus = "pending" | "running" | "success" | "error" | "interrupted" | "timeout";

export interface SearchAnswer {
  results: SearchResult[];
  used: ("words" | "vectors")[];
  searched: number;
  /** The scope was all agents */
  allAgents: boolean;
  /** The agents that were searched; of all agents, the first 100 with messages in the index */
  agents: string[];
  agentCount: number;
  withoutVector: number;
  notIndexed: number;
  notIndexedExact: boolean;
  note?: string;
  [other: string]: unknown;
}

export interface SearchMessage {
  seq: number;
  role: Role;
  text: string;
  timestamp: string;
  speaker?: string;
  match?: boolean;
  [other: string]: unknown;
}

export interface SearchResult {
  threadId: string;
  threadTitle: string;
  agentId: string;
  seq: number;
  timestamp: string;
  score: number;
  /** What each part adds to the score */
  why: Record<string, number>;
  messages: SearchMessage[];
  [other: string]: unknown;
}

export interface StartedSession {
  session_id: string;
  session: WorkSession;
  /** What is open, the liveliest first */
  open_threads: WorkItem[];
  total_open: number;
  total_resolved: number;
  project_state?: Record<string, unknown>;
  repository?: Record<string, unknown>;
  checkpoints: (Record<string, unknown>)[];
  last_session?: WorkSession;
  /** Of the last 24 hours */
  unclosed_sessions: WorkSession[];
  /** How many more there are */
  older_unclosed_sessions?: number;
  /** The last session, if it is too old to be carried over and has items that are open */
  left_behind?: Record<string, unknown>;
  warnings: string[];
  [other: string]: unknown;
}

export interface Summary {
  seq: number;
  /** [first, last] of each range that it stands for */
  covers: number[][];
  text: string;
  tokens: number;
  by: "engine" | "extraction";
  /** That wrote it */
  model?: string;
}

export interface Task {
  id: string;
  agentId: string;
  threadId: string;
  /** The agent, or "user" */
  owner: string;
  title?: string;
  text: string;
  steps?: {
    title: string;
    details?: string;
    done: boolean;
    taskId?: string;
  }[];
  parentTaskId?: string;
  createdAt: string;
  updatedAt: string;
  doneAt?: string;
  cancelledAt?: string;
  note?: string;
  status: "open" | "running" | "done" | "failed" | "waiting" | "interrupted" | "cancelled";
  lastRun?: Run;
  threadGone?: boolean;
  [other: string]: unknown;
}

export interface TaskList {
  tasks: Task[];
}

export interface Thread {
  /** 12 lower-case hex digits */
  threadId: string;
  agentId: string;
  status: ThreadStatus;
  createdAt: string;
  updatedAt: string;
  /** The position of its last event; 0: none */
  lastSeq: number;
  /** What If-Match compares; appends leave it alone */
  etag: string;
  title?: string;
  metadata?: Record<string, unknown>;
  /** The engine's own session */
  sessionId?: string;
  taskId?: string;
  closedAt?: string;
  summary?: string;
  resolution?: string;
  archive?: {
    at: string;
    retentionDays?: number;
    reason?: string;
    [other: string]: unknown;
  };
  parent?: {
    threadId: string;
    seq: number;
    [other: string]: unknown;
  };
  /** A UUID that also names it */
  alias?: string;
  pins?: number[];
  [other: string]: unknown;
}

export interface ThreadEvent {
  event: ThreadEventKind;
  threadId: string;
  agentId?: string;
  /** Of the message */
  id?: string;
  message?: Event;
  thread?: Record<string, unknown>;
  /** Goes on right after this one */
  cursor: string;
  [other: string]: unknown;
}

export type ThreadEventKind = "thread:created" | "thread:message" | "thread:updated" | "thread:closed" | "thread:archived" | "thread:deleted";

export interface ThreadEventPage {
  events: ThreadEvent[];
  /** Where the next page begins, also if this one is empty */
  cursor: string;
}

export interface ThreadPage {
  threads: Thread[];
  /** The cursor of the next page; absent: this was the last */
  next?: string;
  /** All that match */
  total?: number;
}

export type ThreadStatus = "active" | "paused" | "closed" | "archived";

export interface ToolUseEvent {
  type: "tool_use";
  name: string;
  input: Record<string, unknown>;
  /** Its position in the thread: 1, 2, 3 … */
  seq: number;
  timestamp: string;
  /** The seq that it continues from, where that is not the one before. */
  base?: number;
  memoryType?: MemoryType;
  metadata?: Record<string, unknown>;
  [other: string]: unknown;
}

export interface Trigger {
  id: string;
  name?: string;
  agentId: string;
  cron: string;
  zone: string;
  text: string;
  enabled: boolean;
  createdAt: string;
  since?: string;
  next?: string;
  last?: Record<string, unknown>;
  missed: number;
  overdue: number;
  problem?: string;
  [other: string]: unknown;
}

export interface TriggerList {
  triggers: Trigger[];
}

export interface UnreadableEvent {
  type: "unreadable";
  seq: number;
  reason: string;
  [other: string]: unknown;
}

export interface UsageReport {
  rows: UsageRow[];
  all: UsageTotals;
}

export interface UsageRow {
  agent?: string;
  /** 2026-01-23, in UTC */
  day?: string;
  model?: string;
  thread?: string;
  /** The thread was deleted */
  gone?: boolean;
  runs: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  costUsd: number;
  durationMs: number;
  turns: number;
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

export interface WorkItem {
  id: string;
  text: string;
  status: "open" | "resolved";
  created_at: string;
  resolved_at?: string;
  source_session?: string;
  resolved_by_session?: string;
  resolution_note?: string;
  linear_issue?: string;
  [other: string]: unknown;
}

export interface WorkSession {
  session_id: string;
  agent: string;
  project: string;
  started_at: string;
  closed_at?: string;
  branch?: string;
  head?: string;
  summary?: string;
  decisions?: unknown[];
  learnings?: unknown[];
  [other: string]: unknown;
}

export type WorkerState = "idle" | "loading" | "executing" | "verifying" | "completed" | "error";

/** What every call takes besides. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** One call, ready to be sent. */
export interface Call {
  method: string;
  path: string;
  body?: unknown;
  query?: object;
  headers?: Record<string, string | undefined>;
}

/** A server-sent event; `data` is its JSON, read. */
export interface ServerEvent {
  event: string;
  data: any;
  id?: string;
}

/** The operations of /v1. */
export abstract class Operations {
  protected abstract send<T>(call: Call, options: CallOptions): Promise<T>;
  protected abstract open(call: Call, options: CallOptions): AsyncIterable<ServerEvent>;

  /** The agents of the workspace that the key sees. Needs the right `read`. */
  listAgents(
    options: CallOptions = {},
  ): Promise<AgentList> {
    return this.send({ method: "GET", path: `/v1/agents` }, options);
  }

  /** An agent's definition, as it is understood. Needs the right `read`. */
  getAgent(
    agent_id: string,
    options: CallOptions = {},
  ): Promise<Agent> {
    return this.send({ method: "GET", path: `/v1/agents/${encodeURIComponent(agent_id)}` }, options);
  }

  /** Index what was said and is not indexed yet, and remove what is gone. Answers when it is done, or when the server stops; what was done stays done. Without an agent it indexes every agent that the key sees. `rebuild` needs the right admin, for all agents. Needs the right `write`. */
  backfill(
    body: {
      agentId?: string;
      /** Throw the index away first */
      rebuild?: boolean;
    } = {},
    options: CallOptions = {},
  ): Promise<BackfillResult> {
    return this.send({ method: "POST", path: `/v1/backfill`, body }, options);
  }

  /** Where the work stood, newest first. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `read`. */
  listCheckpoints(
    query: {
      /** Words that must all be there, each as the beginning of a word. */
      q?: string;
      /** With all of these tags. */
      tag?: string[];
      /** Of the worker with this id or skill. */
      worker?: string;
      /** Not before. */
      since?: string;
      /** Before. */
      until?: string;
      /** Of this type only. */
      type?: CheckpointType;
      /** At most so many. */
      limit?: number;
      /** `next` of the page before. */
      cursor?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<CheckpointPage> {
    return this.send({ method: "GET", path: `/v1/checkpoints`, query }, options);
  }

  /** Write down where the work stands. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  createCheckpoint(
    body: {
      type?: "checkpoint" | "handoff";
      slug?: string;
      title?: string;
      summary?: string;
      next_steps?: string[];
      tags?: string[];
      files_touched?: string[];
      worker?: {
        id: string;
        skill?: string;
        state?: WorkerState;
      };
      /** Of this session, with the commits since it began; absent: of the newest open one */
      session_id?: string;
    },
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Checkpoint> {
    return this.send({ method: "POST", path: `/v1/checkpoints`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** A checkpoint, as its file has it. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `read`. */
  getCheckpoint(
    checkpoint_id: string,
    options: CallOptions = {},
  ): Promise<Checkpoint> {
    return this.send({ method: "GET", path: `/v1/checkpoints/${encodeURIComponent(checkpoint_id)}` }, options);
  }

  /** Change the summary or the worker's state, or add next steps, tags and files. Records anew where git stands, with the commits made since. A worker's state moves idle, loading, executing, verifying, completed; and from executing to error. Other moves are 409. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  updateCheckpoint(
    checkpoint_id: string,
    body: {
      summary?: string;
      next_steps?: string[];
      tags?: string[];
      files_touched?: string[];
      worker_state?: WorkerState;
    },
    options: CallOptions = {},
  ): Promise<Checkpoint> {
    return this.send({ method: "PATCH", path: `/v1/checkpoints/${encodeURIComponent(checkpoint_id)}`, body }, options);
  }

  /** A checkpoint, what is open, and how far the repository has moved since. `newest` is the newest that somebody asked for. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `read`. */
  resumeCheckpoint(
    checkpoint_id: string,
    options: CallOptions = {},
  ): Promise<ResumedCheckpoint> {
    return this.send({ method: "GET", path: `/v1/checkpoints/${encodeURIComponent(checkpoint_id)}/resume` }, options);
  }

  /** What happened to threads since a cursor, in every process. Each message, and each closing and archiving of a thread that still exists, is told once; several updates may be told as one. Needs the right `read`. */
  listChanges(
    query: {
      /** Only events of this kind; may be given again for more. */
      event?: ThreadEventKind[];
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
      /** Only what happens to this thread. */
      threadId?: string;
      /** The cursor of the page or event before; empty: from the beginning; `now`. */
      since?: string;
      /** At most so many. */
      limit?: number;
      /** How long to wait while there is nothing. */
      waitMs?: number;
    } = {},
    options: CallOptions = {},
  ): Promise<ThreadEventPage> {
    return this.send({ method: "GET", path: `/v1/events`, query }, options);
  }

  /** What happens to threads, as server-sent events. The name of each is its kind, its data a ThreadEvent, its id the cursor right after it. Whoever comes again with Last-Event-ID misses nothing and sees nothing twice, also after a restart. Needs the right `read`. */
  streamChanges(
    query: {
      /** Only events of this kind; may be given again for more. */
      event?: ThreadEventKind[];
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
      /** Only what happens to this thread. */
      threadId?: string;
      /** A cursor; empty: from the beginning; `now`: what happens from now on. */
      since?: string;
    } = {},
    options: CallOptions & { lastEventId?: string } = {},
  ): AsyncIterable<ServerEvent> {
    return this.open({ method: "GET", path: `/v1/events/stream`, query, headers: { "Last-Event-ID": options.lastEventId } }, options);
  }

  /** What is open, the oldest first. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `read`. */
  listItems(
    query: {
      /** Absent: open. */
      status?: "open" | "resolved";
      /** Also what was resolved in the last 14 days. */
      includeResolved?: boolean;
      /** Only those of this project. */
      project?: string;
      /** Only those that link to this thread. */
      thread?: string;
      /** Only those that link to this run. */
      run?: string;
      /** Only those that link to this checkpoint. */
      checkpoint?: string;
      /** Only those that link to this commit. */
      commit?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<ItemList> {
    return this.send({ method: "GET", path: `/v1/items`, query }, options);
  }

  /** Note something that is open. One that says nearly the same as an open one of its project is 409. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  createItem(
    body: {
      text: string;
      project?: string;
      session_id?: string;
      allow_duplicate?: boolean;
      /** The key of the issue that it is about */
      linear_issue?: string;
      /** What opened it */
      thread?: string;
      run?: string;
      checkpoint?: string;
      commit?: string;
    },
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<ItemDetails> {
    return this.send({ method: "POST", path: `/v1/items`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** Mark the item as done whose text matches. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  resolveItemByText(
    body: {
      /** Looked for in open items, without regard to case; it must be in one of them only */
      text_match: string;
      resolution_note?: string;
      /** Absent: the workspace's newest open working session */
      session_id?: string;
      /** What closed it */
      thread?: string;
      run?: string;
      checkpoint?: string;
      commit?: string;
    },
    options: CallOptions = {},
  ): Promise<ResolvedItem> {
    return this.send({ method: "POST", path: `/v1/items/resolve`, body }, options);
  }

  /** An item with what opened it and what closed it. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `read`. */
  getItem(
    item_id: string,
    options: CallOptions = {},
  ): Promise<ItemDetails> {
    return this.send({ method: "GET", path: `/v1/items/${encodeURIComponent(item_id)}` }, options);
  }

  /** Mark an item as done; again, it changes nothing. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  resolveItem(
    item_id: string,
    body: {
      resolution_note?: string;
      /** Absent: the workspace's newest open working session */
      session_id?: string;
      /** What closed it */
      thread?: string;
      run?: string;
      checkpoint?: string;
      commit?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<ResolvedItem> {
    return this.send({ method: "POST", path: `/v1/items/${encodeURIComponent(item_id)}/resolve`, body }, options);
  }

  /** How much is indexed. Needs the right `read`. */
  getRecallStatus(
    query: {
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<RecallStatus> {
    return this.send({ method: "GET", path: `/v1/recall`, query }, options);
  }

  /** List runs, the newest first. Needs the right `read`. */
  listRuns(
    query: {
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
      /** Only those on this thread. */
      threadId?: string;
      /** Only those with this status. */
      status?: RunStatus;
      /** At most so many. */
      limit?: number;
      /** `next` of the page before. */
      cursor?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<RunPage> {
    return this.send({ method: "GET", path: `/v1/runs`, query }, options);
  }

  /** Have an agent work on a thread. Answers when the run's record is durable; its stream, or `wait`, tells the rest. Needs the right `write`. */
  startRun(
    body: {
      /** Absent: the thread's, or the workspace's default agent */
      agentId?: string;
      /** Absent: a new thread */
      threadId?: string;
      /** What the user says */
      text?: string;
      /** Or several messages; neither: goes on with what the thread has */
      messages?: NewMessage[];
      /** What becomes of it on a busy thread; absent: enqueue */
      multitask?: "enqueue" | "reject" | "interrupt" | "rollback";
      /** Of the run */
      metadata?: Record<string, unknown>;
      /** Of a new thread */
      threadMetadata?: Record<string, unknown>;
      /** Continue from this event instead of the last */
      base?: number;
      /** Shorter than the agent's own */
      timeoutMs?: number;
    },
    query: {
      /** Answer when the run has ended, with its outcome (200). */
      wait?: boolean;
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<RunOutcome | Run> {
    return this.send({ method: "POST", path: `/v1/runs`, body, query, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** What is known of a run. Needs the right `read`. */
  getRun(
    run_id: string,
    options: CallOptions = {},
  ): Promise<Run> {
    return this.send({ method: "GET", path: `/v1/runs/${encodeURIComponent(run_id)}` }, options);
  }

  /** Answer a run that waits for a person's yes, and go on with it. Needs the right `write`. */
  answerRun(
    run_id: string,
    body: {
      yes: boolean;
      /** Said with a no */
      note?: string;
      /** Yes to these only */
      calls?: string[];
      /** `resumed` of the run when it asked (0 if it has none): refused with 409 when it asks something else by now */
      resumed?: number;
    },
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Run> {
    return this.send({ method: "POST", path: `/v1/runs/${encodeURIComponent(run_id)}/answer`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** Stop a run, in whatever process it is, or drop its question. Does not wait for its end. What it wrote stays. Needs the right `write`. */
  cancelRun(
    run_id: string,
    options: CallOptions = {},
  ): Promise<{
    cancelled: boolean;
    run: Run;
  }> {
    return this.send({ method: "POST", path: `/v1/runs/${encodeURIComponent(run_id)}/cancel` }, options);
  }

  /** What a run does and did, as server-sent events. `status` (a Run; first of all while it goes on, whenever its status changes, and at the end, once), `event` (an Event, as the thread has it), `text` and `thinking` (pieces that are no events yet, without an id). Ends with the run. Goes on right after Last-Event-ID, also after a restart. Needs the right `read`. */
  streamRun(
    run_id: string,
    options: CallOptions & { lastEventId?: string } = {},
  ): AsyncIterable<ServerEvent> {
    return this.open({ method: "GET", path: `/v1/runs/${encodeURIComponent(run_id)}/stream`, headers: { "Last-Event-ID": options.lastEventId } }, options);
  }

  /** Wait until a run has ended, and get its outcome. Needs the right `read`. */
  waitForRun(
    run_id: string,
    query: {
      /** Answer with the run as it is when this is over. */
      timeoutMs?: number;
    } = {},
    options: CallOptions = {},
  ): Promise<RunOutcome> {
    return this.send({ method: "GET", path: `/v1/runs/${encodeURIComponent(run_id)}/wait`, query }, options);
  }

  /** Find what was said, by meaning and by words. The best message of each thread, with those around it, best first. `agents` and `searched` say what was searched. Only what is indexed is found; `notIndexed` says how much is not. Every character of `q` is text. Needs the right `read`. */
  search(
    query: {
      /** The question. */
      q: string;
      /** Only messages of this agent. Absent: of every agent that the key sees. */
      agentId?: string;
      /** Require that all agents are searched: a key that sees only some is refused. */
      allAgents?: boolean;
      /** At most so many. */
      limit?: number;
      /** Messages before, and after, each match. */
      context?: number;
      /** Results of one thread. */
      perThread?: number;
      /** Of threads with this status. */
      status?: ThreadStatus;
      /** A JSON object of scalars, such as {"user_id":"u-1"}: each must be in the thread's metadata with that value. */
      metadata?: string;
      /** Not before. */
      since?: string;
      /** Before. */
      until?: string;
      /** Of this role only. */
      role?: "user" | "assistant";
      /** Which parts of the ranking are used. */
      by?: "all" | "words" | "meaning";
    },
    options: CallOptions = {},
  ): Promise<SearchAnswer> {
    return this.send({ method: "GET", path: `/v1/search`, query }, options);
  }

  /** Open working sessions of this place, the newest first. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `read`. */
  listOpenSessions(
    options: CallOptions = {},
  ): Promise<{
    sessions: WorkSession[];
  }> {
    return this.send({ method: "GET", path: `/v1/sessions` }, options);
  }

  /** Begin a working session with what is open. A session that is known is gone on with. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  startSession(
    body: {
      agent?: string;
      project?: string;
      /** Absent: a new one */
      session_id?: string;
      /** A closed session whose items are taken, however old it is */
      carry_from?: string;
      max_items?: number;
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<StartedSession> {
    return this.send({ method: "POST", path: `/v1/sessions`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** End the working sessions that began more than 24 hours ago. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  closeStaleSessions(
    options: CallOptions = {},
  ): Promise<{
    closed: WorkSession[];
  }> {
    return this.send({ method: "POST", path: `/v1/sessions/close-stale` }, options);
  }

  /** A working session. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `read`. */
  getSession(
    session_id: string,
    options: CallOptions = {},
  ): Promise<WorkSession> {
    return this.send({ method: "GET", path: `/v1/sessions/${encodeURIComponent(session_id)}` }, options);
  }

  /** End a working session, and store what is open still. Belongs to the workspace: keys that are bound to agents are refused (403). Needs the right `write`. */
  closeSession(
    session_id: string,
    body: {
      summary?: string;
      /** Becomes a PROJECT STATE: item */
      project_state?: string;
      decisions?: unknown[];
      learnings?: unknown[];
      /** What is open: texts, or items in any of the known formats */
      open_threads?: unknown[];
      [other: string]: unknown;
    } = {},
    options: CallOptions = {},
  ): Promise<ClosedSession> {
    return this.send({ method: "POST", path: `/v1/sessions/${encodeURIComponent(session_id)}/close`, body }, options);
  }

  /** List tasks, the newest first. Needs the right `read`. */
  listTasks(
    query: {
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
      /** Only those that have not ended, or only those that were completed or cancelled, the last first. */
      state?: "open" | "ended";
      /** At most so many. */
      limit?: number;
    } = {},
    options: CallOptions = {},
  ): Promise<TaskList> {
    return this.send({ method: "GET", path: `/v1/tasks`, query }, options);
  }

  /** Create a task, with a thread of its own. Starts nothing yet. Needs the right `write`. */
  createTask(
    body: {
      agentId: string;
      text: string;
      title?: string;
      /** The agent (default), or "user" */
      owner?: string;
      /** The plan */
      steps?: {
        title: string;
        details?: string;
        done?: boolean;
        /** Ignored: a step keeps the task it was handed to */
        taskId?: string;
      }[];
      /** The task that it is a part of */
      parentTaskId?: string;
      /** The step of it that is handed over */
      parentStep?: number;
    },
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Task> {
    return this.send({ method: "POST", path: `/v1/tasks`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** A task, and how its last run ended. Needs the right `read`. */
  getTask(
    task_id: string,
    options: CallOptions = {},
  ): Promise<Task> {
    return this.send({ method: "GET", path: `/v1/tasks/${encodeURIComponent(task_id)}` }, options);
  }

  /** Change a task, its steps or its owner. Each field is replaced whole. With another agent as its owner the task goes on in a new thread of that agent, and the old thread is closed. Needs the right `write`. */
  updateTask(
    task_id: string,
    body: {
      title?: string;
      text?: string;
      /** An agent, or "user" */
      owner?: string;
      /** The whole plan */
      steps?: {
        title: string;
        details?: string;
        done?: boolean;
        /** Ignored: a step keeps the task it was handed to */
        taskId?: string;
      }[];
    },
    options: CallOptions = {},
  ): Promise<Task> {
    return this.send({ method: "PATCH", path: `/v1/tasks/${encodeURIComponent(task_id)}`, body }, options);
  }

  /** Stop a task and its parts for good, and close their threads. Needs the right `write`. */
  cancelTask(
    task_id: string,
    options: CallOptions = {},
  ): Promise<Task> {
    return this.send({ method: "POST", path: `/v1/tasks/${encodeURIComponent(task_id)}/cancel` }, options);
  }

  /** Complete a task, and close its thread. A run that ends well does not complete its task. Needs the right `write`. */
  completeTask(
    task_id: string,
    body: {
      /** How it was done */
      note?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<Task> {
    return this.send({ method: "POST", path: `/v1/tasks/${encodeURIComponent(task_id)}/complete`, body }, options);
  }

  /** Work on a task, or go on with it. 409 while another run of the task is under way, and when it has ended. Needs the right `write`. */
  runTask(
    task_id: string,
    body: {
      /** What to say to it */
      text?: string;
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Run> {
    return this.send({ method: "POST", path: `/v1/tasks/${encodeURIComponent(task_id)}/runs`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** List threads, the last updated first. Needs the right `read`. */
  listThreads(
    query: {
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
      /** Only those with this status. */
      status?: ThreadStatus;
      /** A JSON object of scalars, such as {"user_id":"u-1"}: each must be in the thread's metadata with that value. */
      metadata?: string;
      /** Only those with this in their title, id or metadata, whatever the case. Pages may then be short, or empty, though `next` is there. What was said is found by /v1/search. */
      text?: string;
      /** Last updated, newest or oldest first. */
      order?: "updated" | "created" | "oldest";
      /** At most so many. */
      limit?: number;
      /** `next` of the page before. */
      cursor?: string;
      /** Count all that match, too. */
      total?: boolean;
    } = {},
    options: CallOptions = {},
  ): Promise<ThreadPage> {
    return this.send({ method: "GET", path: `/v1/threads`, query }, options);
  }

  /** Make a thread, with its first messages. Needs the right `write`. */
  createThread(
    body: {
      /** Absent: the workspace's default agent */
      agentId?: string;
      title?: string;
      taskId?: string;
      /** A UUID of your own that names the thread from now on */
      alias?: string;
      metadata?: Record<string, unknown>;
      /** A system message to begin with */
      system?: string;
      messages?: NewMessage[];
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Thread> {
    return this.send({ method: "POST", path: `/v1/threads`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** Remove a thread with all its events, for good. Forks of it stay, and so does what it cost. Needs the right `write`. */
  deleteThread(
    thread_id: string,
    options: CallOptions = {},
  ): Promise<void> {
    return this.send({ method: "DELETE", path: `/v1/threads/${encodeURIComponent(thread_id)}` }, options);
  }

  /** All that is known of a thread besides its events. Needs the right `read`. */
  getThread(
    thread_id: string,
    options: CallOptions = {},
  ): Promise<Thread> {
    return this.send({ method: "GET", path: `/v1/threads/${encodeURIComponent(thread_id)}` }, options);
  }

  /** Change a thread's title, metadata, or fields of your own. A shallow merge: each field is replaced whole, and null clears it. An update that changes nothing leaves updatedAt alone. The status and pins have routes of their own. Needs the right `write`. */
  updateThread(
    thread_id: string,
    body: {
      title?: string | null;
      metadata?: Record<string, unknown> | null;
      taskId?: string | null;
      /** Forgets the engine's session: the next run starts a new one. Runs alone set it */
      sessionId?: null;
      [other: string]: unknown;
    },
    options: CallOptions & { ifMatch?: string } = {},
  ): Promise<Thread> {
    return this.send({ method: "PATCH", path: `/v1/threads/${encodeURIComponent(thread_id)}`, body, headers: { "If-Match": options.ifMatch } }, options);
  }

  /** What of a thread fits into a model's window, and what became of the rest. Needs the right `read`. */
  getContext(
    thread_id: string,
    query: {
      /** The window, in tokens of o200k_base. */
      maxTokens?: number;
      /** Absent: recent. */
      strategy?: ContextStrategy;
    } = {},
    options: CallOptions = {},
  ): Promise<ContextWindow> {
    return this.send({ method: "GET", path: `/v1/threads/${encodeURIComponent(thread_id)}/context`, query }, options);
  }

  /** What happened in a thread. The view `path` leaves out what was rolled back or edited away; its pages are of the thread as it was at the first of them. Needs the right `read`. */
  listEvents(
    thread_id: string,
    query: {
      /** Only events after this position. */
      after?: number;
      /** Oldest or newest first. */
      order?: "asc" | "desc";
      /** Everything, or the current path. */
      view?: "log" | "path";
      /** At most so many. */
      limit?: number;
      /** `next` of the page before. */
      cursor?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<EventPage> {
    return this.send({ method: "GET", path: `/v1/threads/${encodeURIComponent(thread_id)}/events`, query }, options);
  }

  /** Append an event; it is on disk when the answer comes. Needs the right `write`. */
  appendEvent(
    thread_id: string,
    body: NewEvent,
    query: {
      /** The token of the thread's lease, for whoever holds it: refused when another took over, and not asked for the thread's status. */
      fence?: number;
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Appended> {
    return this.send({ method: "POST", path: `/v1/threads/${encodeURIComponent(thread_id)}/events`, body, query, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** Append several events, in order, with an answer for each. A refusal of one does not keep the others. Needs the right `write`. */
  appendEvents(
    thread_id: string,
    body: {
      /** Each a NewEvent; one that is none is refused by itself */
      events: (Record<string, unknown>)[];
    },
    query: {
      /** The token of the thread's lease, for whoever holds it: refused when another took over, and not asked for the thread's status. */
      fence?: number;
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<{
    results: (Appended | RefusedAppend)[];
  }> {
    return this.send({ method: "POST", path: `/v1/threads/${encodeURIComponent(thread_id)}/events/batch`, body, query, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** One event. Needs the right `read`. */
  getEvent(
    thread_id: string,
    seq: number,
    options: CallOptions = {},
  ): Promise<Event> {
    return this.send({ method: "GET", path: `/v1/threads/${encodeURIComponent(thread_id)}/events/${encodeURIComponent(seq)}` }, options);
  }

  /** Make a thread that starts with a copy of this one. Needs the right `write`. */
  forkThread(
    thread_id: string,
    body: {
      /** Up to this event; absent: all */
      seq?: number;
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Thread> {
    return this.send({ method: "POST", path: `/v1/threads/${encodeURIComponent(thread_id)}/fork`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** What was said in a thread, as it stands now. Messages of the current path. Pages are of the thread as it was at the first. Needs the right `read`. */
  listMessages(
    thread_id: string,
    query: {
      /** Of this role only. */
      role?: Role;
      /** Only events after this position. */
      after?: number;
      /** Oldest or newest first. */
      order?: "asc" | "desc";
      /** Pass over so many that match first. */
      offset?: number;
      /** At most so many. */
      limit?: number;
      /** `next` of the page before. */
      cursor?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<MessagePage> {
    return this.send({ method: "GET", path: `/v1/threads/${encodeURIComponent(thread_id)}/messages`, query }, options);
  }

  /** Append a message; it is on disk when the answer comes. Needs the right `write`. */
  addMessage(
    thread_id: string,
    body: NewMessage,
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Message> {
    return this.send({ method: "POST", path: `/v1/threads/${encodeURIComponent(thread_id)}/messages`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** Take a pin away. Needs the right `write`. */
  unpinEvent(
    thread_id: string,
    seq: number,
    options: CallOptions = {},
  ): Promise<Thread> {
    return this.send({ method: "DELETE", path: `/v1/threads/${encodeURIComponent(thread_id)}/pins/${encodeURIComponent(seq)}` }, options);
  }

  /** Keep an event in mind for context windows. Needs the right `write`. */
  pinEvent(
    thread_id: string,
    seq: number,
    options: CallOptions = {},
  ): Promise<Thread> {
    return this.send({ method: "PUT", path: `/v1/threads/${encodeURIComponent(thread_id)}/pins/${encodeURIComponent(seq)}` }, options);
  }

  /** Pause, resume, close, archive or restore a thread. active and paused change freely; either may be closed, and a closed one archived (an open one is closed first). An archived one can be closed again (restored); a closed one never reopens: fork it. To the status that it has, nothing happens. Needs the right `write`. */
  setThreadStatus(
    thread_id: string,
    body: {
      status: ThreadStatus;
      /** With closed */
      summary?: string;
      /** With closed */
      resolution?: string;
      /** With archived */
      retentionDays?: number;
      /** With archived */
      reason?: string;
    },
    options: CallOptions = {},
  ): Promise<Thread> {
    return this.send({ method: "POST", path: `/v1/threads/${encodeURIComponent(thread_id)}/status`, body }, options);
  }

  /** The events of a thread as they come, as server-sent events. The name of each is the event's type, its data the event, its id the seq. Begins after `after`, or after Last-Event-ID; ends when the thread is deleted. Needs the right `read`. */
  streamEvents(
    thread_id: string,
    query: {
      /** Only events after this position. */
      after?: number;
    } = {},
    options: CallOptions & { lastEventId?: string } = {},
  ): AsyncIterable<ServerEvent> {
    return this.open({ method: "GET", path: `/v1/threads/${encodeURIComponent(thread_id)}/stream`, query, headers: { "Last-Event-ID": options.lastEventId } }, options);
  }

  /** Append a summary of what is old. The engine of the thread's agent writes it, if that agent is trusted. Otherwise, with `extract`, or where the engine fails, its sentences are those of the thread; `note` says why. A client that disconnects stops it, and nothing is written. Needs the right `write`. */
  summarizeThread(
    thread_id: string,
    body: {
      /** Nothing is done unless more messages are not yet summarised */
      threshold?: number;
      /** The newest that stay as they are */
      keepRecent?: number;
      maxTokens?: number;
      /** Use sentences of the thread, and no engine */
      extract?: boolean;
    } = {},
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<{
    summary: Summary | null;
    /** Why the engine did not write it */
    note?: string;
  }> {
    return this.send({ method: "POST", path: `/v1/threads/${encodeURIComponent(thread_id)}/summaries`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** How far the summary is that an engine of this server writes. Needs the right `read`. */
  getSummaryProgress(
    thread_id: string,
    options: CallOptions = {},
  ): Promise<{
    underWay: boolean;
    done: number;
    total: number;
  }> {
    return this.send({ method: "GET", path: `/v1/threads/${encodeURIComponent(thread_id)}/summaries/progress` }, options);
  }

  /** Take a summary out of force. Needs the right `write`. */
  undoSummary(
    thread_id: string,
    seq: string,
    options: CallOptions = {},
  ): Promise<{
    undone: number;
  }> {
    return this.send({ method: "DELETE", path: `/v1/threads/${encodeURIComponent(thread_id)}/summaries/${encodeURIComponent(seq)}` }, options);
  }

  /** Triggers, when they are due, and what they missed. Needs the right `read`. */
  listTriggers(
    query: {
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<TriggerList> {
    return this.send({ method: "GET", path: `/v1/triggers`, query }, options);
  }

  /** Run an agent on a schedule, each time in a new thread. Needs the right `write`. */
  addTrigger(
    body: {
      agentId: string;
      /** Minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly, @yearly */
      cron: string;
      /** What the agent is told */
      text: string;
      /** Absent: the zone of the server's system */
      zone?: string;
      name?: string;
      enabled?: boolean;
    },
    options: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Trigger> {
    return this.send({ method: "POST", path: `/v1/triggers`, body, headers: { "Idempotency-Key": options.idempotencyKey } }, options);
  }

  /** Forget a trigger; its threads and runs stay. Needs the right `write`. */
  removeTrigger(
    trigger_id: string,
    options: CallOptions = {},
  ): Promise<void> {
    return this.send({ method: "DELETE", path: `/v1/triggers/${encodeURIComponent(trigger_id)}` }, options);
  }

  /** A trigger. Needs the right `read`. */
  getTrigger(
    trigger_id: string,
    options: CallOptions = {},
  ): Promise<Trigger> {
    return this.send({ method: "GET", path: `/v1/triggers/${encodeURIComponent(trigger_id)}` }, options);
  }

  /** Change, enable or disable a trigger. What was due under the old schedule, or while it was disabled, is not made up for. Needs the right `write`. */
  updateTrigger(
    trigger_id: string,
    body: {
      cron?: string;
      zone?: string;
      text?: string;
      name?: string;
      enabled?: boolean;
    },
    options: CallOptions = {},
  ): Promise<Trigger> {
    return this.send({ method: "PATCH", path: `/v1/triggers/${encodeURIComponent(trigger_id)}`, body }, options);
  }

  /** What runs cost, added up. What a fork shares with its parent counts once, and what deleted threads cost still counts. Needs the right `read`. */
  getUsage(
    query: {
      /** What rows are added up by; days are those of UTC. */
      by?: "agent" | "day" | "model" | "thread";
      /** Divide each row by this, too: the model of each day. */
      split?: "agent" | "day" | "model" | "thread";
      /** Only what belongs to this agent. Absent: all agents that the key sees. */
      agentId?: string;
      /** Not before. */
      since?: string;
      /** Before. */
      until?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<UsageReport> {
    return this.send({ method: "GET", path: `/v1/usage`, query }, options);
  }
}
