import { Agent } from "undici";
import { expect, it } from "vitest";
import { loadAgent, loadAgentInParts } from "./undici.ts";

it("what is loaded by side doors, at once or in parts, is the agent that undici has at its front door", async () => {
  await loadAgentInParts();
  expect(loadAgent()).toBe(Agent);
});
