import { describe, expect, it } from "vitest";
import { proxyFromEnvironment } from "./config.ts";

const env = { HTTPS_PROXY: "http://secure:3128", HTTP_PROXY: "plain:3128" };
const proxyFor = (server: string, over: NodeJS.ProcessEnv = {}) => proxyFromEnvironment(server, { ...env, ...over })?.reveal();

describe("the proxy of the environment", () => {
  it.each([
    { server: "https://api.example.test:6443", is: "http://secure:3128" },
    { server: "http://api.example.test", is: "http://plain:3128" },
    { server: "https://10.0.0.1", over: { HTTPS_PROXY: "", https_proxy: "socks5://small" }, is: "socks5://small" },
    { server: "https://10.0.0.1", over: { HTTPS_PROXY: "socks5h://names-there" }, is: "socks5h://names-there" },
    { server: "https://127.0.0.1:6443", is: undefined },
    { server: "https://localhost:6443", is: undefined },
    { server: "https://[::1]:6443", is: undefined },
    { server: "https://10.0.0.1", over: { HTTPS_PROXY: "" }, is: undefined },
  ])("for $server is $is", ({ server, over, is }) => expect(proxyFor(server, over)).toBe(is));

  it.each([
    { NO_PROXY: "*", server: "https://api.example.test", none: true },
    { NO_PROXY: "example.test", server: "https://api.example.test", none: true },
    { NO_PROXY: "example.test", server: "https://example.test", none: true },
    { NO_PROXY: ".example.test", server: "https://api.EXAMPLE.test", none: true },
    { NO_PROXY: ".example.test", server: "https://example.test", none: false },
    { NO_PROXY: "ample.test", server: "https://example.test", none: false },
    { NO_PROXY: "a.test, api.example.test:6443", server: "https://api.example.test:6443", none: true },
    { NO_PROXY: "api.example.test:6443", server: "https://api.example.test", none: false },
    { NO_PROXY: "10.96.0.0/12", server: "https://10.96.0.1:443", none: true },
    { NO_PROXY: "10.96.0.0/12", server: "https://10.112.0.1:443", none: false },
    { NO_PROXY: "10.96.0.0/12", server: "https://api.example.test", none: false },
    { NO_PROXY: "10.0.0.1", server: "https://10.0.0.1", none: true },
    { NO_PROXY: "fd00::/8", server: "https://[fd00::1]:6443", none: true },
    { NO_PROXY: "fd00::1", server: "https://[fd00::1]:6443", none: true },
    { NO_PROXY: "[fd00::1]:6443", server: "https://[fd00::1]:6443", none: true },
    { NO_PROXY: "[fd00::1]:443", server: "https://[fd00::1]:6443", none: false },
    { NO_PROXY: "[fd00:0::1]", server: "https://[fd00::1]:6443", none: true },
    { NO_PROXY: "10.0.0.1:6443", server: "https://10.0.0.1:6443", none: true },
    { NO_PROXY: "10.0.0.1:443", server: "https://10.0.0.1:6443", none: false },
    { NO_PROXY: "10.0.0.0/abc", server: "https://10.0.0.1", none: false },
    { NO_PROXY: "10.0.0.0/", server: "https://10.0.0.1", none: false },
    { NO_PROXY: "10.0.0.0/33", server: "https://10.0.0.1", none: false },
    { NO_PROXY: "10.0.0.0/abc,10.0.0.0/8", server: "https://10.0.0.1", none: true },
    { NO_PROXY: " , ", server: "https://api.example.test", none: false },
  ])("with NO_PROXY=$NO_PROXY, no proxy for $server: $none", ({ NO_PROXY, server, none }) => {
    expect(proxyFor(server, { NO_PROXY }) === undefined).toBe(none);
  });

  it.each([
    { name: "is no URL", HTTPS_PROXY: "http://me:canary@:x" },
    { name: "has no host", HTTPS_PROXY: "socks5://me:canary@" },
    { name: "has a port that is none", HTTPS_PROXY: "http://me:canary@proxy:99999" },
    { name: "speaks something else", HTTPS_PROXY: "ftp://me:canary@proxy" },
    { name: "has a password that is not escaped", HTTPS_PROXY: "http://me:canary%@proxy" },
  ])("that $name is rejected, and the message does not contain it", ({ HTTPS_PROXY }) => {
    expect(() => proxyFor("https://api.example.test", { HTTPS_PROXY })).toThrow(
      /^expected HTTPS_PROXY to be a URL with http, https, socks5, socks5h, found something else$/,
    );
  });
});
