// Properties throw dice: at home on each run anew, so that they find something; on CI always the same, so that what lands does
// not depend on luck. A counterexample that is found at home becomes a test with a name, beside the property.
import fc from "fast-check";

if (process.env.CI) fc.configureGlobal({ seed: 20_170_317 });
