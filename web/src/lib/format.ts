const numbers = new Intl.NumberFormat(undefined);
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const days = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const daysOfYears = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const clocks = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export const count = (value: number): string => numbers.format(value);
export const brief = (value: number): string => short.format(value);
export const plural = (value: number, one: string, many = one + "s"): string =>
  `${count(value)} ${value === 1 ? one : many}`;

export const moment = (time: string): string => moments.format(new Date(time));

// As far from now as one wants to know at a glance.
export function ago(time: string, now = Date.now()): string {
  const then = new Date(time);
  const seconds = Math.round((now - then.getTime()) / 1000);
  if (seconds < 10) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  if (seconds < 7 * 86400) return `${Math.floor(seconds / 86400)} d`;
  const sameYear = then.getFullYear() === new Date(now).getFullYear();
  return (sameYear ? days : daysOfYears).format(then);
}

export const clock = (time: string): string => clocks.format(new Date(time));
export const day = (time: string): string => daysOfYears.format(new Date(time));

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function cost(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

export const titleOf = (thread: { title?: string; threadId: string }): string =>
  thread.title?.trim() || "Untitled " + thread.threadId.slice(0, 6);
