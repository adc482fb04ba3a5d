// The program as a value: main.ts runs it, manifests.ts generates deploy/ from it.
import { Counter, type FlagTable, type OperatorProgram } from "@memhog/runtime";
import packageJson from "../package.json" with { type: "json" };
import { Memcached } from "./api.ts";
import { memcacheds } from "./memcacheds.ts";
import { webhooks } from "./webhooks.ts";

const flags = {
  repository: { type: "string", default: "memcached", describe: "repository of the memcached images, without a tag" },
} as const satisfies FlagTable;

export const program: OperatorProgram<typeof flags> = {
  name: "memcached-operator",
  description: "Keeps memcached servers running.",
  version: packageJson.version,
  resources: [Memcached],
  webhooks: webhooks(),
  flags,
  configure: ({ repository }) => {
    const undesired = undesiredSizes();
    return { controllers: [memcacheds({ repository, onUndesiredSize: () => undesired.inc() })], metrics: [undesired] };
  },
};

/** The name is that of the operator-sdk tutorial for Memcached. */
function undesiredSizes(): Counter {
  const help = "Number of times a Deployment had another size than its Memcached";
  return new Counter({ name: "memcached_deployment_size_undesired_count_total", help, registers: [] });
}
