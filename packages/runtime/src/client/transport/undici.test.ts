import { createRequire } from "node:module";
import { Agent } from "undici";
import { expect, it } from "vitest";
import { loadAgent, loadAgentInParts } from "./undici.ts";

it("what is loaded by side doors, at once or in parts, is the agent that undici has at its front door", async () => {
  await loadAgentInParts();
  expect(loadAgent()).toBe(Agent);
});

it("a part that is missing is told to whoever needs it, and to nobody before", async () => {
  const require = createRequire(import.meta.url);
  const missing = () => require("undici/lib/no-such-part.js");
  await loadAgentInParts(missing);
  expect(() => loadAgent(missing)).toThrow(
    expect.objectContaining({
      code: "CLIENT_CONFIG",
      message: expect.stringMatching(/^expected undici\/.*agent\.js, found Cannot find module .* → install @memhog\/runtime/),
    }),
  );
});
