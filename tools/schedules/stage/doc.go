//go:build unix

// Package stage plays schedules with real processes: the built gpupool and a real
// Terraform, against a local CVM in this process and a store in a directory. It
// watches each call, judges what the processes say against what the cloud has, and
// kills.
package stage
