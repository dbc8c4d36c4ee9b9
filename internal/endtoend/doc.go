// Package endtoend tests the effects of budget runs on a real cluster. It uses the loop, the
// store, the cluster adapter, and the API server with its controllers. Each control that
// enforcement relies on is first shown to happen without gpupool. The package contains only
// tests.
package endtoend
