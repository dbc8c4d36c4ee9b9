// Package outcome says what became of decisions, for reports, for JSON, and, as
// it happens, for people who wait.
package outcome
