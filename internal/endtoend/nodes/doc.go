// Package nodes tests what becomes of pools whose instances are nodes, through all of
// gpupool: on the API server with its controllers, and on a local CVM whose instances
// join that cluster. Every call that changes something of either is written down, in
// order. Nothing lives in here but tests.
package nodes
