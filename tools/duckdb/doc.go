// Package duckdb has only tests. They read a ledger and exports of several stores with DuckDB,
// by the statements in the guides, and compare the results with gpupool's. DuckDB needs cgo,
// and so it is a module of its own.
package duckdb
