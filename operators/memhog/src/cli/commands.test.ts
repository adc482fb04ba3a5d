import { parseCommandLine } from "@memhog/runtime/operator";
import { outputOf } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { program, sendsCredentialsInClear } from "./commands.ts";

const printed = (...argv: readonly string[]) => outputOf(program, ...argv);

const kindsIn = (yaml: string) => [...yaml.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);

describe("credentials for Prometheus", () => {
  it.each([
    { argv: ["--prometheus-addr=http://prom:9090", "--prometheus-bearer-token-file=t"], inClear: true },
    { argv: ["--prometheus-addr=http://prom:9090", "--prometheus-username=u"], inClear: true },
    { argv: ["--prometheus-addr=http://me:pw@prom:9090"], inClear: true },
    { argv: ["--prometheus-addr=http://prom:9090", "--prometheus-header=Authorization=Bearer x"], inClear: true },
    { argv: ["--prometheus-addr=https://prom:9090", "--prometheus-bearer-token-file=t"], inClear: false },
    { argv: ["--prometheus-addr=http://localhost:9090", "--prometheus-bearer-token-file=t"], inClear: false },
    { argv: ["--prometheus-addr=http://prom:9090", "--prometheus-header=X-Scope-OrgID=a"], inClear: false },
  ])("$argv are sent in clear text: $inClear", ({ argv, inClear }) =>
    expect(sendsCredentialsInClear(parseCommandLine(program, argv).values)).toBe(inClear),
  );
});

describe("commands that print manifests", () => {
  it("crd prints both CRDs", async () =>
    expect(kindsIn(await printed("crd"))).toEqual(["CustomResourceDefinition", "CustomResourceDefinition"]));

  it("rbac prints Roles for a namespace and a ClusterRole for all namespaces", async () => {
    expect(kindsIn(await printed("rbac", "-n", "shop"))).toEqual(["ServiceAccount", "Role", "RoleBinding"]);
    expect(kindsIn(await printed("rbac", "--all-namespaces"))).toContain("ClusterRole");
  });

  it("rbac always includes the permissions for leader election", async () =>
    expect(await printed("rbac", "-n", "shop")).toContain("leases"));

  it("manifests prints every object once", async () => {
    const own = kindsIn(await printed("manifests"));
    expect(own.filter((kind) => kind === "CustomResourceDefinition")).toHaveLength(2);
    expect(own.filter((kind) => kind === "Deployment")).toHaveLength(1);
    expect(own).not.toContain("ClusterRole");
    expect(kindsIn(await printed("manifests", "--all-namespaces"))).toContain("ClusterRole");
  });

  it("S1: rbac and manifests have fewer permissions with --in-place-only", async () => {
    for (const command of ["rbac", "manifests"])
      for (const where of [["-n", "shop"], ["--all-namespaces"]]) {
        expect(await printed(command, ...where)).toContain("pods/eviction");
        const restricted = await printed(command, ...where, "--in-place-only");
        expect(restricted).not.toContain("pods/eviction");
        expect(restricted).toContain("pods/resize");
      }
  });

  it("every command in --help exists, and an unknown command is rejected by name", async () => {
    const commands = [...(await printed("--help")).matchAll(/^ {2}memhog-operator ([a-z]+)/gm)].map(([, name]) => name);
    expect(commands.toSorted()).toEqual(["crd", "explain", "manifests", "rbac"]);
    await expect(printed("dance")).rejects.toThrow('found "dance"');
  });

  it("the kubeconfig of --kubeconfig is read, not the default one", async () =>
    await expect(printed("explain", "web", "-n", "shop", "--kubeconfig", "/nowhere/config")).rejects.toThrow("/nowhere/config"));

  it("invalid arguments are rejected before the cluster is contacted", async () => {
    await expect(printed("explain", "web", "-o", "xml")).rejects.toThrow('--output: expected text or json, found "xml"');
    await expect(printed("crd", "extra")).rejects.toThrow("crd: expected no argument, found extra");
    await expect(printed("explain")).rejects.toThrow("explain: expected POD, found none");
    await expect(printed("explain", "web", "-A")).rejects.toThrow("expected one namespace");
    await expect(printed("rbac", "--prometheus-addr=nowhere")).rejects.toMatchObject({ code: "FLAGS" });
    await expect(printed("--dashboard-bind-address", "8082")).rejects.toThrow(
      'like ":8080" or "127.0.0.1:8080", or "0" to disable it, found "8082"',
    );
  });
});
