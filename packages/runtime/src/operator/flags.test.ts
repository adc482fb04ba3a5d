import { describe, expect, expectTypeOf, it } from "vitest";
import { operatorFlags } from "./flags.ts";

const own = {
  "prometheus-addr": { type: "text", default: "http://localhost:9090", describe: "where Prometheus is" },
  "dry-run": { type: "switch", describe: "decide, but do nothing" },
  burst: { type: "number", describe: "how many at once" },
} as const;
const parse = (line: string, env: Record<string, string> = {}) =>
  operatorFlags(
    line.split(" ").filter((word) => word !== ""),
    { name: "memhog-operator", env, own, usualNamespaces: ["default"] },
  );

describe("flags", () => {
  it("are what the seeds say: memhog-operator -v2 --prometheus-addr=… --kubeconfig=…", () => {
    const { options, own: ours } = parse(
      "-v2 --prometheus-addr=http://localhost:9091 --kubeconfig=/home/me/.kube/config --logtostderr",
    );
    expect(options).toEqual({
      kubeconfig: "/home/me/.kube/config",
      namespaces: ["default"],
      leaderElection: false,
      metricsBindAddress: ":8080",
      healthProbeBindAddress: ":8081",
      verbosity: 2,
    });
    expect(ours["prometheus-addr"]).toBe("http://localhost:9091");
  });

  it.each(["-v2", "-v=2", "-v 2", "--v=2", "--v 2"])("take %s for verbosity 2", (line) =>
    expect(parse(line).options.verbosity).toBe(2),
  );

  it.each([
    { line: "", env: {}, namespaces: ["default"] },
    { line: "", env: { POD_NAMESPACE: "apps" }, namespaces: ["apps"] },
    { line: "-n web", env: { POD_NAMESPACE: "apps" }, namespaces: ["web"] },
    { line: "--namespace=web -nother", env: {}, namespaces: ["web", "other"] },
    { line: "-n web,other", env: {}, namespaces: ["web", "other"] },
    { line: "-namespace web", env: {}, namespaces: ["web"] },
    { line: "--all-namespaces", env: { POD_NAMESPACE: "apps" }, namespaces: "all" },
    { line: "-A", env: {}, namespaces: "all" },
  ])("$line with $env watches $namespaces", ({ line, env, namespaces }) =>
    expect(parse(line, env).options.namespaces).toEqual(namespaces),
  );

  it("without any of that watch what kubectl would show, and say so", () => {
    const { options, help } = operatorFlags(["--help"], { name: "m", env: {} });
    expect(options.namespaces).toBe("own");
    expect(help).toContain("without it $POD_NAMESPACE, else that of the kubeconfig's context");
    expect(parse("--help").help).toContain("without it $POD_NAMESPACE, else default\n");
  });

  it.each([
    { line: "--leader-elect", leads: true },
    { line: "--leader-elect=true", leads: true },
    { line: "--leader-elect=false", leads: false },
    { line: "--leader-elect --leader-elect=false", leads: false },
  ])("$line means $leads: the last one wins", ({ line, leads }) => expect(parse(line).options.leaderElection).toBe(leads));

  it.each([
    { line: "--promethus-addr=x", message: "found --promethus-addr (did you mean --prometheus-addr?)" },
    { line: "--colour", message: "found --colour → --help lists them all" },
    { line: "-x", message: "found -x" },
    { line: "--v=lots", message: '--v: expected a number, found "lots"' },
    { line: "--kubeconfig", message: "expected a value after --kubeconfig" },
    { line: "--dry-run=maybe", message: '--dry-run: expected true or false, found "maybe"' },
    { line: "-n web -A", message: "expected either --namespace or --all-namespaces" },
    { line: "start", message: 'expected only flags, found "start"' },
    { line: "--constructor", message: "found --constructor" },
  ])("refuse $line and say why", ({ line, message }) => {
    expect(() => parse(line)).toThrow(expect.objectContaining({ code: "FLAGS", message: expect.stringContaining(message) }));
  });

  it("of the operator's own have the types of their table", () => {
    const { own: ours } = parse("--dry-run --burst 3");
    expectTypeOf(ours["prometheus-addr"]).toEqualTypeOf<string>();
    expectTypeOf(ours["dry-run"]).toEqualTypeOf<boolean>();
    expectTypeOf(ours.burst).toEqualTypeOf<number | undefined>();
    expect(ours).toMatchObject({ "prometheus-addr": "http://localhost:9090", "dry-run": true, burst: 3 });
  });

  it("leave words to those who want them", () => {
    const { words } = operatorFlags(["explain", "-n", "web", "--", "-x"], { name: "m", env: {}, words: true });
    expect(words).toEqual(["explain", "-x"]);
  });

  it("explain themselves", () => {
    const { help = "" } = parse("--help");
    expect(help).toMatch(/--prometheus-addr text +where Prometheus is \(default "http:\/\/localhost:9090"\)/);
    for (const flag of ["--kubeconfig", "-n, --namespace", "-v, --v", "-h, --help", "--burst number"])
      expect(help).toContain(flag);
    expect(parse("").help).toBeUndefined();
  });
});
