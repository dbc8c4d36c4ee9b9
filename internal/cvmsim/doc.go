// Package cvmsim is a local CVM: an HTTP server that speaks the wire protocol
// of Tencent Cloud's CVM, tag and STS APIs, verifies signatures, and keeps a
// small world of zones, stock, prices, quotas and instances behind them.
//
// What lives here: the protocol (envelope, signatures, strict parameters,
// limits), the actions, the instance metadata service, the world's own clock,
// faults on request, and the control surface under /_sim/.
//
// What doesn't: anything of the pool core or of the CVM adapter. The package
// imports the standard library alone, so that it cannot share a mistake with
// the SDK or with the adapter that is tested against it.
package cvmsim
