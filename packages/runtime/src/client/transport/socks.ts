// A way through a SOCKS5 proxy (RFC 1928, with the passwords of RFC 1929). Undici has one, too, but it is an experiment that says so on
// stderr, takes an IPv6 address for a name, and does not notice when the proxy hangs up. Names are looked up by the proxy, as with kubectl.
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import type { Clock } from "../../concurrency/environment.ts";

export interface SocksProxy {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** Milliseconds for the whole way. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, "after">;
}

/** "socks5://me:secret@proxy:1080" */
export function socksProxyOf(uri: string, limits: Pick<SocksProxy, "timeoutMs" | "clock">): SocksProxy {
  const { hostname, port, username, password } = new URL(uri);
  return {
    host: unbracketed(hostname),
    port: Number(port || 1080),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...limits,
  };
}

/** A connection to the target by way of the proxy, on which nothing has been said yet. */
export async function connectBySocks(
  proxy: SocksProxy,
  target: { readonly host: string; readonly port: number },
): Promise<Socket> {
  const socket = connect({ host: proxy.host, port: proxy.port, noDelay: true, keepAlive: true });
  socket.on("error", () => {}); // whoever waits hears of it by other ways; nobody may be waiting
  try {
    using hangUp = hangUpOf(socket, proxy);
    const { signal } = hangUp;
    await once(socket, "connect", { signal });
    await greet(socket, proxy, signal);
    await ask(socket, target, signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw (error as Error).name === "AbortError" ? ((error as Error).cause ?? error) : error;
  }
}

/** Aborts when the proxy closes the connection, or takes too long. */
function hangUpOf(socket: Socket, { clock, timeoutMs }: SocksProxy): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const onClose = () => controller.abort(new Error("the SOCKS proxy closed the connection"));
  const late = () => controller.abort(new Error(`no connection by the SOCKS proxy within ${timeoutMs} ms`));
  socket.on("close", onClose);
  const cancel = clock.after(timeoutMs, late);
  const end = () => {
    cancel();
    socket.off("close", onClose);
  };
  return { signal: controller.signal, [Symbol.dispose]: end };
}

const [withoutPassword, byPassword] = [0, 2];

async function greet(socket: Socket, { username, password }: SocksProxy, signal: AbortSignal): Promise<void> {
  const methods = username === "" ? [withoutPassword] : [withoutPassword, byPassword];
  socket.write(Uint8Array.of(5, methods.length, ...methods));
  const [version, method] = await take(socket, 2, signal);
  if (version !== 5) throw new Error("expected a SOCKS5 proxy, found something else");
  if (method === withoutPassword) return;
  if (method !== byPassword || username === "") throw new Error("the SOCKS proxy wants another kind of login than we have");
  socket.write(Buffer.concat([Uint8Array.of(1), counted(username), counted(password)]));
  const [, refused] = await take(socket, 2, signal);
  if (refused !== 0) throw new Error("the SOCKS proxy does not know this username and password");
}

/** What the proxy can say to our request, by its number. */
const refusals = [
  "",
  "it failed",
  "its rules forbid it",
  "the network cannot be reached",
  "the host cannot be reached",
  "the connection was refused",
  "it took too many hops",
  "it cannot connect",
  "it does not know this kind of address",
];

async function ask(socket: Socket, { host, port }: { host: string; port: number }, signal: AbortSignal): Promise<void> {
  socket.write(Buffer.concat([Uint8Array.of(5, 1, 0), addressOf(unbracketed(host)), Uint8Array.of(port >> 8, port & 0xff)]));
  const [, reply = 1, , kind] = await take(socket, 4, signal);
  if (reply !== 0)
    throw new Error(`the SOCKS proxy could not connect to ${host}:${port}: ${refusals[reply] ?? `reply ${reply}`}`);
  // The address that it connected from is of no interest, but has to be taken.
  const length = kind === 3 ? ((await take(socket, 1, signal))[0] ?? 0) : kind === 4 ? 16 : 4;
  await take(socket, length + 2, signal);
}

function addressOf(host: string): Uint8Array {
  const family = isIP(host);
  if (family === 4) return Uint8Array.of(1, ...host.split(".").map(Number));
  return family === 6 ? Uint8Array.of(4, ...groupsOf(host)) : Buffer.concat([Uint8Array.of(3), counted(host)]);
}

/** The sixteen bytes of an address of IPv6. A URL spells it in one way only: hexadecimal, the longest run of zeros as "::". */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]`);
  const [before = "", after] = unbracketed(hostname).split("::");
  const parse = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [parse(before), parse(after ?? "")];
  const groups = [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
}

function counted(text: string): Uint8Array {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length > 255) throw new Error("expected what SOCKS is told to have at most 255 bytes, found more");
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}

async function take(socket: Socket, bytes: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const taken: Buffer | null = socket.read(bytes);
    if (taken?.length === bytes) return taken;
    await once(socket, "readable", { signal });
  }
}

function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
