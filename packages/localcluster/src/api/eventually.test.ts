import { describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";

const never = { timeoutMs: 0 };

describe("eventually", () => {
  it("returns the first value that holds", async () => {
    let reads = 0;
    expect(
      await eventually(
        () => ++reads,
        (value) => value === 3,
      ),
    ).toBe(3);
  });

  it("treats errors of read and condition as not yet", async () => {
    let reads = 0;
    const read = () => {
      reads += 1;
      if (reads === 1) throw new Error("not there");
      return reads === 2 ? undefined : { phase: "Running" };
    };
    expect(await eventually(read, (pod) => (pod as { phase: string }).phase === "Running")).toEqual({ phase: "Running" });
  });

  it("reads at least once, however short the timeout", async () => {
    expect(
      await eventually(
        () => 1,
        () => true,
        never,
      ),
    ).toBe(1);
  });

  it("reports the condition, the last value and the path of the logs", async () => {
    const attempt = eventually(
      () => ({ phase: "Pending" }),
      ({ phase }) => phase === "Running",
      { ...never, what: "the pod runs", logs: "/var/log/x" },
    );
    await expect(attempt).rejects.toMatchObject({ code: "EVENTUALLY" });
    await expect(attempt).rejects.toThrow(
      /expected within 0 s: the pod runs[\s\S]*phase: 'Pending'[\s\S]*component logs: \/var\/log\/x/,
    );
  });

  it("keeps the last error as its cause", async () => {
    const cause = new Error("connection refused");
    const read = () => Promise.reject(cause);
    await expect(eventually(read, () => true, never)).rejects.toMatchObject({
      cause,
      message: expect.stringContaining("connection refused"),
    });
  });

  it("stops when its signal aborts", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(
      eventually(
        () => 1,
        () => false,
        { signal },
      ),
    ).rejects.toThrow("enough");
  });
});
