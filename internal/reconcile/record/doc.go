// Package record is the life of a declared thing, once for all kinds: its record in
// the store, the locks that guard it, what Terraform state says of it, and the
// tombstone that it leaves.
package record
