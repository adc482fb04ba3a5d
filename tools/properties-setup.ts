// Property tests use random seeds locally, to find new failures, and fixed seeds on CI, so that CI is deterministic. If
// you find a counterexample locally, add it as a named test beside the property.
import fc from "fast-check";

if (process.env.CI) fc.configureGlobal({ seed: 20_170_317 });
