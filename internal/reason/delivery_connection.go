package reason

const (
	checkNetwork = "Check the host, the network and the proxy."
	useShownURL  = "Set url_wo to the URL that the receiver shows, and increase url_wo_version."
)

// Why a message was not sent.
var (
	InvalidURL    = remedied("invalid_url", "the URL is invalid", useShownURL)
	InvalidSecret = one[Word]("invalid_secret", Warning, "the secret is invalid: base64 must follow {prefix}",
		"Set secret_wo to the secret that the receiver shows, and increase secret_wo_version.")
	UnknownReceiver = one[Foreign]("unknown_receiver", Warning, "unknown type {type}", "Use a type that this version of gpupool supports.")
	Unrecordable    = one[Foreign]("unrecordable", Warning, "an attempt cannot be recorded: {error}",
		"Make the store writable, and run gpupool reconcile.")
	EventsWait = one[Count]("events_wait", Warning, "{events} {events:event waits|events wait}", "Run gpupool reconcile, and read its warnings.")
)

// Why a receiver did not respond.
var (
	ConnectionEnded  = remedied("connection_ended", "the connection ended before a response", checkNetwork)
	AttemptCanceled  = remedied("attempt_canceled", "the attempt was canceled", checkNetwork)
	NoResponse       = remedied("no_response", "no response in time", checkNetwork)
	HostNotFound     = one[Foreign]("host_not_found", Warning, "host {host} was not found", checkNetwork)
	LookupFailed     = one[Foreign]("lookup_failed", Warning, "the DNS lookup of host {host} failed", checkNetwork)
	ConnectionFailed = one[Foreign]("connection_failed", Warning, "{error}", checkNetwork)
	UnknownAuthority = one[Foreign]("unknown_authority", Warning, untrusted,
		"Add the CA of the receiver, or of the proxy, to those that this machine trusts. On Linux, SSL_CERT_DIR can name a directory with it.")
	InvalidCertificate = one[Foreign]("invalid_certificate", Warning, untrusted,
		"Check the host in the URL, the certificate of the receiver, and the clock of this machine.")
)

const untrusted = "the certificate is not trusted: {error}"

// Failures of a proxy. The receiver got nothing.
var (
	ProxyUnreachable = one[Foreign]("proxy_unreachable", Warning, "the proxy cannot be reached: {error}",
		"Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and that the proxy runs.")
	ProxyRefused = one[Word]("proxy_refused", Warning, "the proxy refused the connection: {status}",
		"Permit the host of the receiver in the proxy, or add the host to NO_PROXY.")
	ProxyLogin = remedied("proxy_login", "the proxy requires a user and a password",
		"Set both in HTTPS_PROXY, for http addresses in HTTP_PROXY, such as http://USER:PASSWORD@HOST:PORT. "+
			"Or add the host of the receiver to NO_PROXY.")
	ProxyFails = one[Word]("proxy_fails", Warning, "the proxy cannot reach the receiver: {status}",
		"Check the host in the URL, and the network of the proxy.")
)
