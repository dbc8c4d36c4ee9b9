// Package accuracy measures how exactly gpupool counts GPU-hours. It runs the built program
// again and again against a real API server. An observer with its own clock watches the same
// pods from start to end.
package accuracy
