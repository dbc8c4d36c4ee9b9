// Package declaration holds the documents of the store, and reads declarations
// out of Terraform state.
//
// A document is an envelope of a version, a kind and a checksum about one body.
// What keeps documents, finds them by name and guards their writes is package
// store; what the declarations in them mean is the business of packages spotpool and
// budget.
//
// Nothing in here does IO of its own, reads a clock or looks at the environment.
package declaration
