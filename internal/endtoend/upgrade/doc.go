// Package upgrade tests what a newer gpupool makes of what an older one left: in a store,
// and in a cluster. Nothing lives in here but tests.
package upgrade
