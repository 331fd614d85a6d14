import { client } from "./api";
import { Signal } from "./signal";
import type { Agent } from "./types";

// Agents of the workspace; empty until they were asked for.
export const agents = new Signal<Agent[]>([]);

export async function loadAgents(): Promise<void> {
  try {
    agents.set((await client.listAgents()).agents);
  } catch {
    // Whoever needs one types its name.
  }
}
