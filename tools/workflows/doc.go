// Package workflows tests the workflows of CI and releases. They must use one Go version,
// pinned actions, and no right that a job does not need.
package workflows
