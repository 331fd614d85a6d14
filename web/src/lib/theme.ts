import { Signal } from "./signal";

export type Theme = "auto" | "light" | "dark";

const stored = localStorage.getItem("skein.theme");
export const theme = new Signal<Theme>(stored === "light" || stored === "dark" ? stored : "auto");

export function applyTheme(): void {
  const root = document.documentElement;
  if (theme.value === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme.value;
}

export function nextTheme(): void {
  const order: Theme[] = ["auto", "light", "dark"];
  const next = order[(order.indexOf(theme.value) + 1) % order.length]!;
  if (next === "auto") localStorage.removeItem("skein.theme");
  else localStorage.setItem("skein.theme", next);
  theme.set(next);
  applyTheme();
}
