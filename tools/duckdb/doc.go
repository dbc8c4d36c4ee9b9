// Package duckdb holds no code: its tests read with DuckDB, by the statements in the
// guides, a ledger, and what several stores were exported as, and compare what that
// finds with what gpupool counts. DuckDB needs cgo, and so it is a module of its own.
package duckdb
