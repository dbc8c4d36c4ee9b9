// Package accuracy measures how exactly gpupool counts GPU-hours: the built
// program, run again and again against a real API server, beside an observer
// that watches the same pods from their birth to their end with a clock of its
// own.
package accuracy
