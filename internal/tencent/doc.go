// Package tencent is the CVM adapter. It observes, launches, terminates, tags and prices the
// instances of one Tencent Cloud account through the official SDK, and classifies failures for
// spot pools.
//
// It has the credentials, the transport, retries, client-side rate limits, error classes, and
// the batching of reads. Decisions about a pool are made in package spotpool/decide.
//
// The SDK signs, encodes and decodes. Its retries, region breaker, debug output and credential
// providers are not used. The retries ignore the context and most failures (netretry.go), and
// the breaker leaves the configured endpoint (circuit_breaker.go). The debug output prints
// bodies (client.go), and the providers wait without a limit (cvm_role_provider.go).
package tencent
