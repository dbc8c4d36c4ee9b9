// Package stockpools carries declarations of stock pools out: it observes their
// Deployments, decides by package stockpool/decide, and does it under the pool's lock, a
// decision at a time and an observation before each. The port Cluster is what it needs of a
// cluster.
//
// A connection is the flow with the cluster that it reached, a pass is one operation on a
// pool, which also carries the decisions out, and a work is what a run does about one pool.
//
// Budgets don't pause these Deployments. A stock pool heeds the status of each budget
// that covers its pods by itself: it does not grow while one is exceeded, or unknown, and
// is scaled to zero while one wants it paused.
package stockpools
