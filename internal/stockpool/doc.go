// Package stockpool keeps a warm stock of GPU runtimes: what is declared, what was
// observed of it in the cluster, and what is to be done about the difference. It does no IO
// and reads no clock.
//
// A stock pool is a Deployment, and a PodDisruptionBudget where one is declared. Whose a
// Deployment is follows from its UID alone, which the pool's journal has. It comes about
// in three steps, and the next observation recovers from a kill between any two of them:
//
//	opened    a random token is written into the journal
//	created   an empty Deployment is created with that token, where there is none by
//	          the name; its UID is written into the journal
//	applied   it gets its replicas, and whatever else is declared
//
// So nothing that runs is ever unaccounted for, and what somebody else made under the
// name is never touched.
package stockpool
