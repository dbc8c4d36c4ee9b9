// Package columns writes documents in Parquet, and reads them by columns. What its
// rows are, and what they mean, is for those who keep such documents: packages ledger
// and history.
//
// What is read is what [Encode] writes, and no more: one group of rows, its columns
// by dictionary or plain, in pages of the second version under Zstandard. The
// library's own reader is deliberately not used, because it makes room for whatever a
// page announces. Here each page is held to bounds first.
package columns
