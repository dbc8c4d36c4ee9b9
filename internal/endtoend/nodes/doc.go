// Package nodes tests pools whose instances are nodes. They use the API server with its
// controllers, and a local CVM whose instances join that cluster. Every call that changes
// either is recorded, in order. The package contains only tests.
package nodes
