import { describe, expect, it } from "vitest";
import { resolveOptions } from "./options.ts";

const env = { HOME: "/home/jane" };

describe("the resolved options of a cluster", () => {
  it("default to a control plane with the controller manager", () => {
    expect(resolveOptions({ env })).toMatchObject({
      ...{ nodes: "none", audit: false, port: undefined, scrapeInterval: undefined },
      binaries: ["etcd", "kube-apiserver", "kube-controller-manager"],
      directory: { path: expect.stringMatching(/^\/home\/jane\/\.local\/state\/localcluster\/t-[0-9a-f]{8}$/) },
    });
  });

  it("list only the binaries that run", () => {
    expect(resolveOptions({ env, controllers: [] }).binaries).toEqual(["etcd", "kube-apiserver"]);
    expect(resolveOptions({ env, nodes: "real" }).binaries).toEqual(
      expect.arrayContaining(["kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"]),
    );
  });

  it.each([
    { name: "what the caller says", options: { kubernetes: "1.32" }, variable: "1.36", patch: /^1\.32\./ },
    { name: "what the environment says", options: {}, variable: "1.32", patch: /^1\.32\./ },
    { name: "the newest", options: {}, variable: "", patch: /^1\.37\./ },
  ])("have the version that is $name", ({ options, variable, patch }) => {
    expect(resolveOptions({ env: { ...env, LOCALCLUSTER_KUBERNETES: variable }, ...options }).kubernetes.patch).toMatch(patch);
  });

  it.each([
    { name: "an unknown version", options: { kubernetes: "1.2" }, code: "UNKNOWN_VERSION" },
    { name: "a bad name", options: { name: "No" }, code: "INVALID_NAME" },
    { name: "nodes of another kind", options: { nodes: "many" as "real" }, code: "INVALID_OPTIONS" },
    { name: "a Prometheus with nothing to scrape", options: { prometheus: true }, code: "INVALID_OPTIONS" },
    {
      name: "an API server that has no plugins",
      options: { simulated: true, admissionPlugins: ["AlwaysPullImages"] },
      code: "INVALID_OPTIONS",
    },
    {
      name: "an interval that is none",
      options: { nodes: "real", prometheus: { scrapeInterval: "often" } } as const,
      code: "INVALID_OPTIONS",
    },
  ])("are rejected for $name", ({ options, code }) => {
    expect(() => resolveOptions({ env, ...options })).toThrow(expect.objectContaining({ code }));
  });

  it("default to a scrape interval of five seconds", () => {
    expect(resolveOptions({ env, nodes: "real", prometheus: true }).scrapeInterval).toBe("5s");
    expect(resolveOptions({ env, nodes: "real", prometheus: { scrapeInterval: "1m30s" } }).scrapeInterval).toBe("1m30s");
  });
});
