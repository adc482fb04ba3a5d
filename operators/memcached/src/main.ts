// The program.    npm run memcached -- --kubeconfig ~/.kube/config --install-crds
import { Counter, main, operator, operatorFlags, writeManifests } from "@memhog/runtime";
import { Memcached } from "./api.ts";
import { manifests, name } from "./manifests.ts";
import { memcacheds } from "./memcacheds.ts";
import { webhooks } from "./webhooks.ts";

const own = {
  repository: { type: "text", default: "memcached", describe: "where the images of memcached come from, without a tag" },
  webhooks: { type: "switch", describe: "serve the webhooks that deploy/with-webhooks registers" },
  "webhook-port": { type: "number", default: 9443, describe: "where to serve them" },
  "webhook-certificates": {
    type: "text",
    placeholder: "folder",
    describe: "with tls.crt and tls.key; without it we make our own",
  },
  "install-crds": { type: "switch", describe: "put the definition of Memcached into the cluster first" },
  "write-manifests": {
    type: "text",
    placeholder: "folder",
    describe: "write CRD, RBAC, Deployments and samples there, and leave",
  },
} as const;

await main(name, async (argv, env) => {
  const flags = operatorFlags(argv, { name, about: "keeps memcached servers", env, own });
  const { repository, "install-crds": install, "write-manifests": folder, "webhook-certificates": certificateFolder } = flags.own;
  if (flags.help !== undefined) return console.log(flags.help);
  if (folder !== undefined) return console.log((await writeManifests(folder, manifests())).join("\n") || "nothing to change");
  const undesired = undesiredSizes();
  const program = operator({
    ...{ ...flags.options, name, installCrds: install ? [Memcached] : [] },
    controllers: [memcacheds({ repository, onUndesiredSize: () => undesired.inc() })],
    webhooks: flags.own.webhooks ? webhooks() : [],
    webhookServer: { port: flags.own["webhook-port"], ...(certificateFolder !== undefined && { certificateFolder }) },
  });
  program.metrics.registry.registerMetric(undesired);
  await program.run();
});

/** As the original names it. */
function undesiredSizes(): Counter {
  const help = "How often the number of servers was found to be another than it should be.";
  return new Counter({ name: "memcached_deployment_size_undesired_count_total", help, registers: [] });
}
