import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import type { ObjectRef } from "../objects/object.ts";
import { explainRoute } from "./explain-route.ts";

const record = { ...{ at: "t", because: [], waitedMs: 0, tookMs: 1, read: [], wrote: [], notes: [] }, ended: "done", times: 1 };
const gordons = {
  controller: { name: "gordon" },
  explained: () => ["apps/a", "node-1"],
  explain: ({ namespace, name }: ObjectRef) => (namespace === "apps" && name === "a" ? [record] : []),
};

async function ask(query: string) {
  const { body } = await explainRoute(() => [gordons])(new URL(`http://x/debug/explain${query}`), {} as IncomingMessage);
  return JSON.parse(body);
}

describe("explain", () => {
  it("tells what is remembered of an object, by controller", async () => {
    expect(await ask("?key=apps/a")).toEqual({ gordon: [record] });
    expect(await ask("?key=a")).toEqual({ gordon: [] });
    expect(await ask("?key=apps/a/b")).toEqual({ gordon: [] });
  });

  it("lists what it knows about when it is not told which", async () => {
    expect(await ask("")).toEqual({ gordon: ["apps/a", "node-1"] });
  });
});
