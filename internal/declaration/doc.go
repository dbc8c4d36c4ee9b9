// Package declaration holds the documents of the store, and reads declarations out of
// Terraform state.
//
// A document is an envelope around one body, with a version, a kind and a checksum.
// Package store keeps documents, finds them by name and guards their writes. Packages
// spotpool and budget say what the declarations in them mean.
//
// It exports more than 40 names: a third are the bodies of the kinds of documents
// (documents.go), and the others the envelope (envelope.go, body.go), the summary of runs
// (run_summary.go, last_day.go), and what Terraform state contains (terraform_*.go).
//
// Nothing in here does IO of its own, reads a clock or the environment.
package declaration
