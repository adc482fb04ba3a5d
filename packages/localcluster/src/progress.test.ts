import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { progressOn, silent } from "./progress.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

it("does not mention work of less than two seconds", async () => {
  const log = screen();
  await progressOn(log).during("blinking", () => pass(1.9));
  expect(log.text).toBe("");
});

it("writes a line every ten seconds to a log, and one at the end", async () => {
  const log = screen();
  await progressOn(log).during("building", () => pass(25));
  expect(log.text).toBe("building: 2 s …\nbuilding: 12 s …\nbuilding: 22 s …\nbuilding: done in 25 s\n");
});

it("counts the seconds on one line of a terminal", async () => {
  const terminal = screen({ isTTY: true });
  await progressOn(terminal).during("building", () => pass(4));
  expect(terminal.lines).toEqual(["building: 2 s", "building: 3 s", "building: 4 s", "building: done in 4 s\n"]);
});

it("shows the latest detail", async () => {
  const log = screen();
  await progressOn(log).during("downloading", async (detail) => {
    detail("1 of 9 MB");
    detail("2 of 9 MB");
    await pass(2);
  });
  expect(log.text).toContain("downloading (2 of 9 MB): 2 s …\n");
});

it("shows concurrent work on one line", async () => {
  const terminal = screen({ isTTY: true });
  const progress = progressOn(terminal);
  await progress.during("one", () => progress.during("two", () => pass(2)));
  expect(terminal.lines[0]).toBe("one: 2 s, two: 2 s");
});

it("cuts a line to the width of the terminal", async () => {
  const terminal = screen({ isTTY: true, columns: 30 });
  await progressOn(terminal).during("x".repeat(100), () => pass(3));
  expect(terminal.lines[0]).toHaveLength(29);
});

it("reports how long failed work took, and rethrows the error", async () => {
  const log = screen();
  const failing = progressOn(log).during("building", async () => {
    await pass(3);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(log.text).toContain("building: failed after 3 s\n");
});

it("stops its timer when there is no work", async () => {
  await progressOn(screen()).during("building", () => pass(3));
  expect(vi.getTimerCount()).toBe(0);
});

it("silent progress prints nothing and runs the work", async () => {
  expect(await silent.during("building", async () => 42)).toBe(42);
});

/** Lets time go by, as far as the code under test can tell. */
async function pass(seconds: number): Promise<void> {
  vi.advanceTimersByTime(seconds * 1000);
}

/** A screen that remembers: everything as text, or one entry for each time a terminal's line was rewritten. */
function screen({ isTTY = false, columns = 80 } = {}) {
  let text = "";
  return {
    isTTY,
    columns,
    write(chunk: string) {
      text += chunk;
      return true;
    },
    get text() {
      return text;
    },
    get lines() {
      return text.split("\r\u001b[K").filter((line) => line !== "");
    },
  };
}
