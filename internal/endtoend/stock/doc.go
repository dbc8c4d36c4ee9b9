// Package stock tests the life of stock pools through all of gpupool: declared by the
// real terraform, kept by gpupool reconcile, on the API server with its controllers, with
// the accounts that gpupool manifests prints and nothing more. Every call of either that
// changes something is written down, in order. Nothing lives in here but tests.
package stock
