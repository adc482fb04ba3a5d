// A vitest reporter that ends every run with one line for people and scripts: "12 passed, 0 failed, 1 skipped".
import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests)
        count[test.result().state === "pending" ? "failed" : (test.result().state as keyof typeof count)] += 1;
      // A file that fails to load has no tests that could fail.
      if (tests.every((test) => test.result().state !== "failed") && !module.ok()) count.failed += 1;
    }
    count.failed += errors.length;
    // On exit, to print after the summary of the default reporter.
    process.on("exit", () => console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`));
  }
}
