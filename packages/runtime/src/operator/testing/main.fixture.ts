// A whole program, as an operator's main.ts would be, for tests that need a process to stop, to kill or to weigh.
import { controller } from "../../controller/controller.ts";
import { checkAgainIn, done } from "../../controller/outcome.ts";
import { ConfigMap } from "../../objects/kinds/core/config.ts";
import { operatorFlags } from "../flags.ts";
import { operator } from "../operator.ts";

const flags = operatorFlags(process.argv.slice(2), {
  name: "fixture-operator",
  env: process.env,
  own: { "lease-namespace": { type: "text", default: "default", describe: "where the Lease is" } },
});

// Says the same thing again and again: what is known of a series of Events when we are asked to stop must not be lost, and
// must not keep us.
const maps = controller(ConfigMap, {}, async (ref, ctx) => {
  const map = ctx.get(ConfigMap, ref);
  if (map?.metadata.name !== "looked-at") return done();
  ctx.event(map, { reason: "Looked", note: "had a look" });
  ctx.log.info({}, "looked");
  return checkAgainIn(100, "to look again");
});
const lease = { namespace: flags.own["lease-namespace"], name: "fixture-operator" };
const leaderElection = flags.options.leaderElection && { lease, retryPeriodMs: 500 };
await operator({ ...flags.options, name: "fixture-operator", controllers: [maps], leaderElection }).run();
