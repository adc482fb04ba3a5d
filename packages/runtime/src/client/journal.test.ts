import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { clientAnswering } from "../testing/loopback.ts";
import * as errors from "./errors.ts";
import { describeCall } from "./journal.ts";

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

  it("can respond instead of the server", async () => {
    const { client, journal } = clientAnswering(() => ({}));
    journal.fault = () => ({ kind: "answer", status: 409 });
    await expect(client.update(ConfigMap, configMap)).rejects.toBeInstanceOf(errors.ConflictError);
  });

  it("records the events of a watch and passes them on unchanged", async () => {
    const line = (type: string, name: string) =>
      `${JSON.stringify({ type, object: { metadata: { ...web, name, resourceVersion: "7" } } })}\n`;
    async function* body() {
      yield Buffer.from(line("ADDED", "a").slice(0, 20));
      yield Buffer.from(line("ADDED", "a").slice(20) + line("DELETED", "b"));
    }
    const { client, journal } = clientAnswering(() => ({ body: body() }));
    const events = await Array.fromAsync(client.watch(ConfigMap));
    expect(events.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
    expect(journal.events).toEqual([
      { call: 1, type: "ADDED", key: "default/a", resourceVersion: "7" },
      { call: 1, type: "DELETED", key: "default/b", resourceVersion: "7" },
    ]);
  });

  it("prints as a list, and can be cleared", async () => {
    const { client, journal } = clientAnswering((_, call) => (call === 1 ? {} : { status: 404, body: "" }));
    await client.create(ConfigMap, configMap);
    await client.find(ConfigMap, web);
    expect(journal.calls.map(describeCall)).toEqual([
      "POST /api/v1/namespaces/default/configmaps → 200",
      "GET /api/v1/namespaces/default/configmaps/web → 404",
    ]);
    journal.clear();
    expect(journal.calls).toEqual([]);
  });
});
