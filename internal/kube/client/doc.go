// Package client is how a cluster is reached, and as whom: configuration and
// environment, the connection with its clock and the count of its calls, what
// errors mean, and how lists and watches are read as they arrive.
//
// It knows no object of a cluster by itself: what runs ask of one is package
// cluster's, and documents that outlive a run are kept by store/kubernetes.
//
// Its more than 40 names are those of the connection (client.go, config.go, user.go,
// groups.go), the classes of errors (errors.go), and lists and watches (list.go, watch.go,
// protobuf.go).
package client
