// Package budgetusage is the data source gpupool_budget_usage: what the last run
// of gpupool reconcile made of a budget, read from the store. It asks no cluster
// and counts nothing itself.
package budgetusage
