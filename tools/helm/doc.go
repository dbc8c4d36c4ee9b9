// Package helm tests the chart with Helm as a library. It is a module of its own, since Helm needs a
// newer client-go than gpupool. It runs gpupool as a process.
package helm
