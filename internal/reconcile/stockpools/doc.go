// Package stockpools carries out declarations of stock pools. Under the pool's lock, it
// observes the Deployment, decides by package stockpool/decide, and acts: one decision after
// each observation. Its port to the cluster is Cluster.
//
// A connection is the flow with the cluster that it reached. A pass is one operation on a pool,
// which also carries out the decisions. A work is the work of a run on one pool.
//
// Budgets do not pause these Deployments. Instead, a stock pool respects the status of each
// budget that covers its pods. It does not grow while one is exceeded or unknown, and it is
// scaled to zero while one pauses it.
package stockpools
