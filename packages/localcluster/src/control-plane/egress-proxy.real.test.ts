// A cluster must not reach out of the machine. It is started in a network namespace with a way out that leads to a device
// where every packet is counted, name lookups included, so that a connection that is tried is a connection that is seen.
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "../cli/main.ts";
import { nodeTools } from "../node/packages.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lc-"));
});
afterEach(async () => {
  await main(["down", "--all"], { env: environment(), out: { write: () => true }, err: { write: () => true } });
  await rm(home, { recursive: true, force: true });
});

const top = join(import.meta.dirname, "../../../..");
const environment = () => ({
  ...process.env,
  LOCALCLUSTER_HOME: home,
  LOCALCLUSTER_SIMULATOR: join(top, "tools/simulator.ts"),
});

async function callsFrom(options: object): Promise<{ results: Record<string, string>; sent: number }> {
  const resolvConf = join(home, "resolv.conf");
  await writeFile(resolvConf, "nameserver 192.0.2.53\n");
  const tools = await nodeTools();
  // No address of its own for IPv6: the kernel would announce it, and what is counted has to be ours.
  const script = `
    set -eu; ip=$1 resolv=$2; shift 2
    "$ip" link set lo up
    "$ip" link add out0 type veth peer name out1
    for each in out0 out1; do "$ip" link set "$each" addrgenmode none; "$ip" link set "$each" up; done
    "$ip" address add 192.0.2.1/24 dev out0
    "$ip" route add default dev out0
    mount --bind "$resolv" /etc/resolv.conf
    # The environment of the tools is for them alone: the cluster finds its own.
    exec env -u LD_LIBRARY_PATH -u XTABLES_LIBDIR PATH="$MACHINE_PATH" "$@"`;
  const program = [process.execPath, join(import.meta.dirname, "egress-proxy.fixture.ts"), JSON.stringify(options)];
  const args = ["--net", "--mount", "sh", "-c", script, "sh", tools.path("ip"), resolvConf, ...program];
  const { stdout } = await promisify(execFile)("unshare", args, {
    env: { ...environment(), ...tools.env, MACHINE_PATH: process.env.PATH },
  });
  return JSON.parse(stdout);
}

const refused = /proxy error from \S+\/run\/egress while dialing \S+, code 403: 403 Forbidden: .*only loopback addresses/;
const unreachable = /network is unreachable/;

const clusters = [
  { name: "without nodes", options: {}, elsewhere: refused, lookup: refused },
  { name: "with simulated nodes", options: { nodes: { simulated: 1 } }, elsewhere: refused, lookup: refused },
  {
    name: "with a real node",
    options: { nodes: "real" },
    elsewhere: unreachable,
    lookup: /dial tcp: lookup \S+ on 127\.0\.0\.1:53: .*connection refused/,
  },
];

describe("the API server (real Kubernetes: its connections are counted)", () => {
  it.each(clusters)("of a cluster $name sends no packet out of the machine", async ({ options, elsewhere, lookup }) => {
    const { results, sent } = await callsFrom(options);
    expect(results).toEqual({
      "webhook of a Service without endpoints": expect.stringMatching(
        /no endpoints available for service "empty"|endpoints "empty" not found/,
      ),
      "webhook of a Service with an endpoint elsewhere": expect.stringMatching(elsewhere),
      "webhook of an ExternalName Service": expect.stringMatching(/unsupported service type "ExternalName"/),
      "webhook of a Service that does not exist": expect.stringMatching(/service "missing" not found/),
      "webhook by the name of a Service": expect.stringMatching(lookup),
      "webhook by a name": expect.stringMatching(lookup),
      "webhook by an address": expect.stringMatching(elsewhere),
      "webhook on this machine": expect.stringMatching(/called, and said no/),
      "logs of a pod on a node elsewhere": expect.stringMatching(elsewhere),
      "proxy to a pod": expect.stringMatching(elsewhere),
      "proxy to a node": expect.stringMatching(elsewhere),
      "proxy to a Service": expect.stringMatching(/no endpoints available for service/),
      "aggregated API server": expect.stringMatching(elsewhere),
      "conversion webhook": expect.stringMatching(elsewhere),
    });
    expect(sent).toBe(0);
  });
});
