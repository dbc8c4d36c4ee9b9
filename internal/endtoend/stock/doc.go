// Package stock tests the lifecycle of stock pools. The real terraform declares them, and
// gpupool reconcile manages them, on the API server with its controllers. Both have only the
// accounts that gpupool manifests prints. Every call that changes something is recorded, in
// order. The package contains only tests.
package stock
