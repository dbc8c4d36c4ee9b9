// Package drift compares the Deployment of a stock pool with what an application
// would make of it: what differs, who wrote that, what others added to it, and how a
// change replaces its pods. It does no IO.
package drift
