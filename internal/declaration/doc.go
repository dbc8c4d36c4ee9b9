// Package declaration holds the documents of the store, and reads declarations out of
// Terraform state.
//
// A document is an envelope around one body, with a version, a kind and a checksum.
// Package store keeps documents, finds them by name and guards their writes. Packages
// spotpool and budget say what the declarations in them mean.
//
// Nothing in here does IO of its own, reads a clock or looks at the environment.
package declaration
