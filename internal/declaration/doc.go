// Package declaration holds the versioned documents of the store, and reads
// declarations out of Terraform state.
package declaration
