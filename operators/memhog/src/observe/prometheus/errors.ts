// Why a question to Prometheus has no answer. Messages are for people: they name the address without its secrets, and never a
// header or a token (promise S4).
export type PrometheusErrorCode =
  /** No connection, or no answer in time. */
  | "PROMETHEUS_UNREACHABLE"
  /** It answered, and said no. */
  | "PROMETHEUS_REFUSED"
  /** Whoever answered is no Prometheus: a login page, a proxy, a redirect. */
  | "PROMETHEUS_NOT_PROMETHEUS"
  /** The answer is larger than we are willing to read. */
  | "PROMETHEUS_TOO_LARGE"
  /** What we were told to use cannot be used: an address, a file. */
  | "PROMETHEUS_CONFIG";

export class PrometheusError extends Error {
  override readonly name = "PrometheusError";
  readonly code: PrometheusErrorCode;

  constructor(code: PrometheusErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
