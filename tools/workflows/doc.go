// Package workflows holds what CI and releases have to be: built by one Go, of
// actions that can't change unseen, with no right that a job doesn't need. Its tests
// read the workflows.
package workflows
