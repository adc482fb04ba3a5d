import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { temporaryFolder } from "../../testing/loopback.ts";
import { ConfigError } from "../errors.ts";
import { type ConfigOptions, loadConfig } from "./load.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

let files = 0;

/** Writes a kubeconfig and says where. Objects become YAML. */
async function kubeconfig(content: object | string): Promise<string> {
  files += 1;
  const path = join(folder.path, String(files), "config");
  await mkdir(join(folder.path, String(files)));
  await writeFile(path, typeof content === "string" ? content : stringify(content));
  return path;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A kubeconfig with one context; rows show only what differs. */
const withUser = (user: object, cluster: object = {}) => ({
  "current-context": "here",
  contexts: [{ name: "here", context: { cluster: "c", user: "u", namespace: "team" } }],
  clusters: [{ name: "c", cluster: { server: "https://example.test:6443", ...cluster } }],
  users: [{ name: "u", user }],
});

const load = async (content: object | string, options: ConfigOptions = {}) =>
  loadConfig({ env: {}, ...options, kubeconfig: await kubeconfig(content) });

describe("a kubeconfig", () => {
  it("provides server, namespace, certificate authority and user", async () => {
    const config = await load(
      withUser(
        { token: "t0ken" },
        { "certificate-authority-data": base64("CA"), "tls-server-name": "api", "proxy-url": "http://proxy:3128" },
      ),
    );
    expect(config).toMatchObject({
      server: "https://example.test:6443",
      namespace: "team",
      tls: { serverName: "api", insecure: false },
    });
    expect(config.user.token?.reveal()).toBe("t0ken");
    expect(config.proxyUrl?.reveal()).toBe("http://proxy:3128");
    expect(config.tls.ca && "data" in config.tls.ca && config.tls.ca.data.reveal()).toBe("CA");
  });

  it("resolves relative paths from the folder of the file that contains them", async () => {
    const path = await kubeconfig(
      withUser(
        { "client-certificate": "tls.crt", "client-key": "../tls.key", tokenFile: "/abs/token" },
        { "certificate-authority": "ca.crt" },
      ),
    );
    const here = join(path, "..");
    const { user, tls } = await loadConfig({ env: {}, kubeconfig: path });
    expect(user).toMatchObject({
      certificate: { file: join(here, "tls.crt") },
      key: { file: join(here, "..", "tls.key") },
      tokenFile: "/abs/token",
    });
    expect(tls.ca).toEqual({ file: join(here, "ca.crt") });
  });

  it("prefers inline data to files", async () => {
    const { user } = await load(
      withUser({ "client-certificate": "x", "client-certificate-data": base64("C"), "client-key-data": base64("K") }),
    );
    expect(user.certificate && "data" in user.certificate && user.certificate.data.reveal()).toBe("C");
  });

  it("can be JSON, can have no user, can have the server localhost:8080", async () => {
    const content = {
      "current-context": "a",
      contexts: [{ name: "a", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server: "localhost:8080" } }],
    };
    expect(await load(JSON.stringify(content))).toMatchObject({
      server: "http://localhost:8080",
      namespace: "default",
      user: {},
    });
  });

  const pair = { "client-certificate": "tls.crt", "client-key": "tls.key" };
  it.each([
    { beside: "an authority", cluster: { "certificate-authority": "ca.crt" }, is: "https://10.0.0.1:6443" },
    { beside: "an authority at hand", cluster: { "certificate-authority-data": base64("CA") }, is: "https://10.0.0.1:6443" },
    { beside: "the wish not to check", cluster: { "insecure-skip-tls-verify": true }, is: "https://10.0.0.1:6443" },
    { beside: "a client certificate", user: pair, is: "https://10.0.0.1:6443" },
    { beside: "a token alone", user: { token: "t" }, is: "http://10.0.0.1:6443" },
    { beside: "http in so many words", cluster: { server: "http://10.0.0.1:6443" }, user: pair, is: "http://10.0.0.1:6443" },
  ])("reads 10.0.0.1:6443 as $is with $beside", async ({ cluster = {}, user = { token: "t" }, is }) => {
    expect((await load(withUser(user, { server: "10.0.0.1:6443", ...cluster }))).server).toBe(is);
  });

  it("sends no secrets to a plain http server, only impersonation headers", async () => {
    const secrets = {
      token: "t",
      as: "jane",
      exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x", interactiveMode: "Never" },
    };
    const { user, withheldCredentials } = await load(withUser(secrets, { server: "http://10.0.0.1:6443" }));
    expect(JSON.parse(JSON.stringify(user))).toEqual({ impersonate: { user: "jane" } });
    expect(withheldCredentials).toBe(true);
    expect((await load(withUser({ as: "jane" }, { server: "http://10.0.0.1:6443" }))).withheldCredentials).toBe(false);
  });

  it("keeps the path of the server without its trailing slash", async () => {
    expect((await load(withUser({}, { server: "https://rancher.test/k8s/clusters/c-1/" }))).server).toBe(
      "https://rancher.test/k8s/clusters/c-1",
    );
  });

  it("supports impersonation", async () => {
    const { user } = await load(withUser({ as: "jane", "as-uid": "7", "as-groups": ["a"], "as-user-extra": { k: ["v"] } }));
    expect(user.impersonate).toEqual({ user: "jane", uid: "7", groups: ["a"], extra: { k: ["v"] } });
  });

  it("never prints its secrets", async () => {
    const config = await load(
      withUser(
        { token: "canary-token", "client-certificate-data": base64("canary-cert"), "client-key-data": base64("canary-key") },
        { "proxy-url": "http://me:canary-password@proxy" },
      ),
    );
    for (const text of [inspect(config, { depth: 10 }), JSON.stringify(config), String(config.user.token)])
      expect(text).not.toContain("canary");
  });

  const bad = [
    { name: "no current context", content: { ...withUser({}), "current-context": "" }, says: "current-context" },
    { name: "an unknown context", content: { ...withUser({}), "current-context": "gone" }, says: '"gone", found here' },
    { name: "an unknown cluster", content: { ...withUser({}), clusters: [] }, says: 'cluster named "c", found none' },
    { name: "an unknown user", content: { ...withUser({}), users: [] }, says: 'user named "u"' },
    { name: "no server", content: withUser({}, { server: "" }), says: "server" },
    { name: "a server that is no URL", content: withUser({}, { server: "https://:x" }), says: "server" },
    { name: "a proxy that is no URL", content: withUser({}, { "proxy-url": "http://me:canary@proxy:99999" }), says: "proxy-url" },
    { name: "a proxy without a scheme", content: withUser({}, { "proxy-url": "canary:3128" }), says: "http, https, socks5" },
    {
      name: "an authority that would be ignored",
      content: withUser({}, { "insecure-skip-tls-verify": true, "certificate-authority": "ca" }),
      says: "insecure-skip-tls-verify, found both",
    },
    { name: "a certificate without a key", content: withUser({ "client-certificate": "x" }), says: "found only the certificate" },
    {
      name: "a token and a password",
      content: withUser({ token: "canary", username: "x", password: "canary" }),
      says: "found both",
    },
    { name: "an auth-provider", content: withUser({ "auth-provider": { name: "gcp" } }), says: "use an exec credential plugin" },
    { name: "as-groups without as", content: withUser({ "as-groups": ["x"] }), says: '"as"' },
    {
      name: "exec of an unknown version",
      content: withUser({ exec: { apiVersion: "client.authentication.k8s.io/v1alpha1", command: "x" } }),
      says: "exec.apiVersion",
    },
    {
      name: "exec v1 without interactiveMode",
      content: withUser({ exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x" } }),
      says: "interactiveMode",
    },
    {
      name: "exec without a command",
      content: withUser({ exec: { apiVersion: "client.authentication.k8s.io/v1beta1" } }),
      says: "exec.command",
    },
    { name: "a list instead of a mapping", content: "- a\n- b\n", says: "the file: Invalid input: expected object" },
    { name: "text that is no YAML", content: 'users:\n- user: {token: "canary\n', says: "in line" },
    { name: "a password with a tag", content: "users:\n- user:\n    password: !x canary\n", says: "in line 3 → remove the tag" },
    { name: "a password that is only a tag", content: "users:\n- user:\n    password: !canary\n", says: "in line 3" },
    { name: "an alias inside itself", content: "users: &a [*a]\n", says: "found something else" },
    { name: "ten thousand levels", content: `users: ${"[".repeat(10_000)}`, says: "found something else" },
    {
      name: "a password that is a number",
      content: withUser({ username: "x", password: 4_815_162_342 }),
      says: "users[0].user.password",
    },
    { name: "a token that is a list", content: withUser({ token: ["canary"] }), says: "users[0].user.token" },
    { name: "an entry that is text", content: { users: ["canary"] }, says: "users[0]: Invalid input: expected object" },
    { name: "clusters that are a mapping", content: { clusters: { canary: "canary" } }, says: "clusters: Invalid input" },
    { name: "a server that is a number", content: withUser({}, { server: 8080 }), says: "clusters[0].cluster.server" },
    {
      name: "a boolean in quotes",
      content: withUser({}, { "insecure-skip-tls-verify": "canary" }),
      says: "clusters[0].cluster.insecure-skip-tls-verify: Invalid input: expected boolean",
    },
    {
      name: "an argument that is a number",
      content: withUser({ exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x", args: [4_815_162_342] } }),
      says: "users[0].user.exec.args[0]",
    },
    { name: "a name that is a number", content: { "current-context": 4_815_162_342 }, says: "current-context: Invalid input" },
  ];
  it.each(bad)("is rejected for $name, with a helpful message that contains no secret", async ({ content, says }) => {
    const warnings = vi.spyOn(process, "emitWarning");
    const error = await load(content).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain(says);
    expect(inspect(error)).not.toMatch(/canary|4815162342/);
    expect(warnings).not.toHaveBeenCalled();
  });

  it("can have null fields, as in kubectl", async () => {
    const content = { ...withUser({ token: "t0ken", exec: null, "as-groups": null }, { "proxy-url": null }), preferences: null };
    expect((await load(content)).user.token?.reveal()).toBe("t0ken");
  });
});

describe("several kubeconfigs", () => {
  it("are merged: the first definition of an entry wins as a whole, missing files are skipped", async () => {
    const first = await kubeconfig({
      contexts: [{ name: "shared", context: { cluster: "c1", user: "u" } }],
      users: [{ name: "u", user: { tokenFile: "first" } }],
    });
    const second = await kubeconfig({
      "current-context": "shared",
      contexts: [{ name: "shared", context: { cluster: "c2", user: "u", namespace: "discarded" } }],
      clusters: [
        { name: "c1", cluster: { server: "https://one" } },
        { name: "c2", cluster: { server: "https://two" } },
      ],
      users: [{ name: "u", user: { token: "discarded" } }],
    });
    const third = await kubeconfig({ "current-context": "too-late" });
    const KUBECONFIG = ["", join(folder.path, "missing"), first, second, third].join(delimiter);
    const config = await loadConfig({ env: { KUBECONFIG } });
    expect(config).toMatchObject({
      server: "https://one",
      namespace: "default",
      user: { tokenFile: join(first, "..", "first"), token: undefined },
    });
  });

  it("support the selection of another context", async () => {
    const path = await kubeconfig({
      ...withUser({}),
      contexts: [
        { name: "here", context: {} },
        { name: "there", context: { cluster: "c", namespace: "n" } },
      ],
    });
    expect((await loadConfig({ env: { KUBECONFIG: path }, context: "there" })).namespace).toBe("n");
  });
});

describe("configuration sources", () => {
  it("in a pod: address from the environment, token, CA and namespace from files", async () => {
    const account = join(folder.path, "account");
    await mkdir(account);
    await writeFile(join(account, "token"), "t");
    await writeFile(join(account, "namespace"), "team\n");
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443", HOME: folder.path };
    expect(await loadConfig({ env, serviceAccountFolder: account })).toMatchObject({
      server: "https://[fd00::1]:443",
      namespace: "team",
      tls: { ca: { file: join(account, "ca.crt") } },
      user: { tokenFile: join(account, "token") },
    });
  });

  it("~/.kube/config if there is nothing else", async () => {
    const home = join(folder.path, "home");
    await mkdir(join(home, ".kube"), { recursive: true });
    await writeFile(join(home, ".kube", "config"), stringify(withUser({})));
    expect((await loadConfig({ env: { HOME: home } })).namespace).toBe("team");
  });

  it("the error lists all places if there is no configuration", async () => {
    await expect(loadConfig({ env: { HOME: "/nowhere" } })).rejects.toThrow("/nowhere/.kube/config");
    await expect(loadConfig({ env: {}, kubeconfig: "/nowhere/config" })).rejects.toThrow("/nowhere/config");
  });
});
