// Package endtoend tests what runs of budgets do to a real cluster, through all
// of gpupool: the loop, the store, the cluster adapter, and the API server with
// its controllers. Each control that enforcement relies on is first shown to
// happen without gpupool. Nothing lives in here but tests.
package endtoend
