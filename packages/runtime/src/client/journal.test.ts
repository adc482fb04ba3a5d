import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { clientAnswering } from "../testing/answers.ts";
import * as errors from "./errors.ts";

const web = { namespace: "default", name: "web" };
const configMap = { metadata: web };

describe("the journal", () => {
  it.each([
    { fault: { kind: "refuse" } as const, reached: 0, outcome: "not-sent" },
    { fault: { kind: "vanish" } as const, reached: 0, outcome: "unknown" },
    { fault: { kind: "lose" } as const, reached: 1, outcome: "unknown" },
  ])("can $fault.kind a write", async ({ fault, reached, outcome }) => {
    let calls = 0;
    const { client, journal } = clientAnswering(() => {
      calls += 1;
      return {};
    });
    journal.fault = () => fault;
    await expect(client.update(ConfigMap, configMap, { timeoutMs: 1 })).rejects.toMatchObject({ outcome });
    expect(calls).toBe(reached);
    expect(journal.writes).toMatchObject([{ method: "PUT", error: expect.stringContaining(fault.kind) }]);
  });

  it("can answer in the server's place", async () => {
    const { client, journal } = clientAnswering(() => ({}));
    journal.fault = () => ({ kind: "answer", status: 409 });
    await expect(client.update(ConfigMap, configMap)).rejects.toBeInstanceOf(errors.ConflictError);
  });
});
