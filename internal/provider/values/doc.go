// Package values converts between Terraform's values and Go's: what is null, what
// is unknown and what is empty are three things, and stay three. It knows no
// resource.
package values
