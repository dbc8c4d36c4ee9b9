// Package columns writes documents in Parquet and reads them by columns. Packages ledger and
// history define the rows.
//
// It only reads what [Encode] writes: one row group, columns with a dictionary or plain, in version
// 2 pages under Zstandard. It does not use the library's reader, because that allocates whatever a
// page announces. Here each page is checked against limits first.
package columns
