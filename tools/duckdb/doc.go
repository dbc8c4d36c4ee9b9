// Package duckdb holds no code: its test reads a ledger with DuckDB, by the statement
// in the guide, and compares what that finds with what gpupool counts. DuckDB needs
// cgo, and so it is a module of its own.
package duckdb
