// Package storetest holds what every backend of package store must do, as tests
// that a backend runs on itself, and a store that fails on request.
package storetest
