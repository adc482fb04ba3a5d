// A whole program, as an operator's main.ts would be, for tests that need a process to stop, to kill or to weigh.
import { controller } from "../../controller/controller.ts";
import { done } from "../../controller/outcome.ts";
import { ConfigMap } from "../../objects/kinds/core/config.ts";
import { operatorFlags } from "../flags.ts";
import { operator } from "../operator.ts";

const flags = operatorFlags(process.argv.slice(2), {
  name: "fixture-operator",
  env: process.env,
  own: { "lease-namespace": { type: "text", default: "default", describe: "where the Lease is" } },
});

const maps = controller(ConfigMap, {}, async () => done());
const lease = { namespace: flags.own["lease-namespace"], name: "fixture-operator" };
const leaderElection = flags.options.leaderElection && { lease, retryPeriodMs: 500 };
await operator({ ...flags.options, name: "fixture-operator", controllers: [maps], leaderElection }).run();
