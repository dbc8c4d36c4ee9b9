// Package client connects to a cluster. It has the configuration, credentials, the connection with its clock
// and its count of calls, classes of errors, and streamed lists and watches.
//
// It knows no Kubernetes objects. Package cluster has the calls of runs, and store/kubernetes keeps documents
// that outlive a run.
//
// Its more than 40 names are in three groups:
//
//   - the connection: client.go, config.go, user.go, groups.go
//   - errors: errors.go
//   - lists and watches: list.go, watch.go, protobuf.go
package client
