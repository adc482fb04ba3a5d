import { manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { askWindows, windowPromQl } from "./windows.ts";

const query = { metric: "WorkingSet", lengthMs: 86_400_000, namespaces: ["shop"] } as const;
const one = (value: string, container: unknown = "main") => ({
  metric: { namespace: "shop", pod: "web", container },
  value: [1, value],
});

interface Answers {
  readonly peaks: readonly object[];
  readonly counts: readonly object[];
  readonly warnings?: readonly string[];
}

function asked({ peaks, counts, warnings }: Answers) {
  const body = (text: string) =>
    JSON.stringify({
      status: "success",
      data: { resultType: "vector", result: text.includes("max_over_time") ? peaks : counts },
      ...(text.includes("count_over_time") && warnings && { warnings }),
    });
  const transport = {
    query: async ({ query: text = "" }: Readonly<Record<string, string>>) => ({ status: 200, dateMs: 1, body: body(text) }),
  };
  const { signal } = new AbortController();
  return askWindows(query, { transport, clock: manualClock(), timeoutMs: 1_000, signal, isWanted: ({ pod }) => pod === "web" });
}

describe("the window of a container", () => {
  it("is asked for with the maximum over all its series", () =>
    expect(windowPromQl("max_over_time", query)).toBe(
      'max by (namespace, pod, container) (max_over_time(container_memory_working_set_bytes{container!="",container!="POD",namespace="shop"}[86400s]))',
    ));

  it("has a peak and a number of samples", async () => {
    const found = await asked({ peaks: [one(String(mib(200)))], counts: [one("5760")] });
    expect([...(found ?? [])]).toEqual([["shop/web/main", { peak: mib(200), samples: 5_760, lengthMs: 86_400_000 }]]);
  });

  it.each([
    { name: "M4: none if an answer has warnings", warnings: ["partial"], is: undefined },
    { name: "M2: none if a value is not a number", peaks: [one("NaN")], is: 0 },
    { name: "M2: none if a value is negative", peaks: [one("-1")], is: 0 },
    { name: "S3: none if a label is not text", peaks: [one("1", { a: 1 })], is: 0 },
    { name: "none without a number of samples", counts: [], is: 0 },
  ])("$name", async ({ is, name: _, ...different }) => {
    const found = await asked({ peaks: [one(String(mib(200)))], counts: [one("5760")], ...different });
    expect(found?.size).toBe(is);
  });
});
