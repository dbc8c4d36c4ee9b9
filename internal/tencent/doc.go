// Package tencent is the CVM adapter. It observes, launches, terminates, tags and
// prices the instances of one Tencent Cloud account through the official SDK, and
// says of each failure what it means for a spot pool.
//
// Here live credentials, the transport, retries, client-side rate limits, error
// classes, and the batching of reads. Decisions about a pool are made in package
// spotpool/decide.
//
// The SDK signs, encodes and decodes. Its own retries, region breaker, debug output
// and credential providers are not used: the retries ignore the context and most
// failures (netretry.go), the breaker leaves the configured endpoint
// (circuit_breaker.go), the debug output prints bodies (client.go), and the providers
// wait without a limit (cvm_role_provider.go).
package tencent
