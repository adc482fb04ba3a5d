import { defineConfig } from "vitest/config";

// One suite, two clusters. The name of a test file says what it needs:
//   x.test.ts           nothing but Node                                             → npm test
//   x.cluster.test.ts   a cluster, any that keeps the conformance suite               → npm run test:real (and npm test, once there is a simulator)
//   x.real.test.ts      something only a real Kubernetes has; its name says what      → npm run test:real
// Whichever runs them (tools/test.ts, tools/test-real.ts) names the project.
const everywhere = { exclude: ["**/node_modules/**"], restoreMocks: true };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...everywhere,
          name: "node",
          include: ["**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/*.{cluster,real}.test.ts"],
        },
      },
      {
        test: {
          ...everywhere,
          name: "real",
          include: ["**/*.{cluster,real}.test.ts"],
          globalSetup: ["packages/localcluster/src/vitest-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          // Two cores: more workers than that only make API servers wait for each other.
          maxWorkers: 2,
        },
      },
    ],
  },
});
