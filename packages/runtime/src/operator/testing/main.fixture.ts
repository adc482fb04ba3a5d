// A complete operator program for tests that start, stop and kill a process, or measure its memory.
import { controller } from "../../controller/controller.ts";
import { done, requeueAfter } from "../../controller/outcome.ts";
import { ConfigMap } from "../../objects/kinds/core.ts";
import { runOperator } from "../run-operator.ts";

// Repeats an identical Event: the pending count of a series must neither be lost nor delay the exit when the process is stopped.
const maps = controller(ConfigMap, {}, async (ref, ctx) => {
  const map = ctx.get(ConfigMap, ref);
  if (map?.metadata.name !== "looked-at") return done();
  ctx.event(map, { reason: "Looked", message: "inspected the ConfigMap" });
  ctx.log.info({}, "looked");
  return requeueAfter(100, "repeat the Event");
});
await runOperator({
  name: "fixture-operator",
  controllers: [maps],
  flags: { "lease-namespace": { type: "string", default: "default", describe: "namespace of the Lease" } },
  configure: (flags, { leaderElection }) => ({
    leaderElection: leaderElection && {
      lease: { namespace: flags["lease-namespace"], name: "fixture-operator" },
      retryPeriodMs: 500,
    },
  }),
});
