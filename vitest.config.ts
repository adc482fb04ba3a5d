import { defineConfig } from "vitest/config";

// One suite, two clusters. The name of a test file says what it needs:
//   x.test.ts           nothing but Node                                                    → npm test
//   x.cluster.test.ts   a cluster that behaves like Kubernetes    → npm test (the simulator) and npm run test:real
//   x.real.test.ts      something only a real Kubernetes has; its name says what             → npm run test:real
// Whichever runs them (tools/test.ts, tools/test-real.ts) names the project.
const onRealClustersOnly = "**/*.real.test.ts";
const ignored = ["**/node_modules/**", "**/dist/**"];
// Two cores: more workers than that only make API servers wait for each other.
const everywhere = { restoreMocks: true, maxWorkers: 2, setupFiles: ["tools/properties-setup.ts"] };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...everywhere,
          name: "node",
          include: ["**/*.test.ts"],
          exclude: [...ignored, onRealClustersOnly],
          // More than eventually() waits, so that it is eventually() that says what was seen last.
          testTimeout: 90_000,
          hookTimeout: 90_000,
        },
      },
      {
        test: {
          ...everywhere,
          name: "real",
          include: ["**/*.{cluster,real}.test.ts"],
          exclude: ignored,
          globalSetup: ["packages/localcluster/src/vitest-setup.ts"],
          testTimeout: 120_000,
          // All of these share two cores and one API server. On CI a test gets two more chances, and
          // vitest says that it needed one; at home it does not, so that it gets mended.
          retry: process.env.CI ? 2 : 0,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
