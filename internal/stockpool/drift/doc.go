// Package drift compares the Deployment of a stock pool with what an application would make of
// it. It reports changed and added fields, who wrote them, and how a change replaces the pods.
// It does no IO.
package drift
