// Package declaration holds the documents of the store, and reads declarations from Terraform
// state.
//
// A document is an envelope around one body, with a version, a kind and a checksum. Package
// store keeps documents, finds them by name and guards their writes. Packages spotpool,
// stockpool and budget define the declarations in them.
//
// It exports more than 40 names. A third are the bodies of the kinds of documents
// (documents.go). The others are the envelope (envelope.go, body.go), the summary of runs
// (run_summary.go, last_day.go), and the contents of Terraform state (terraform_*.go).
//
// It does no IO of its own, and reads no clock and no environment.
package declaration
