// Package stockpool keeps a warm stock of GPU runtimes: their declaration, the observation
// of their cluster, and the decisions that bring both in sync. It does no IO and reads no
// clock.
//
// A stock pool is a Deployment, with an optional PodDisruptionBudget. Ownership follows
// only from the UID of the Deployment in the pool's journal. A Deployment is created in
// three steps, and the next observation recovers from a kill between any two of them:
//
//	opened    the journal records a random token
//	created   an empty Deployment is created with that token, unless one exists; the
//	          journal records its UID
//	applied   it gets its replicas and the rest of the declaration
//
// So each running pod is accounted for, and foreign Deployments are never touched.
package stockpool
