// Package outcome says what became of decisions: for reports, for JSON, and for
// people who wait.
package outcome
