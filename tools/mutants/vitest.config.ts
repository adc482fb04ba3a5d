// For npm run mutants only: the test files of the mutated file's folder.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: (process.env.MUTANTS_TESTS ?? "").split(","),
    setupFiles: ["tools/properties-setup.ts"],
    restoreMocks: true,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
