// Package directory keeps a store in a directory of this machine, in files that people can read:
//
//	store.json                         the description of the store, and its version
//	.gitignore                         keeps the store out of version control
//	spot_pools/ap-singapore/train.json a document: kind/name.json
//	ledger/0f7d…/recent.parquet        a document in Parquet, by its extension
//	locks/run.lock, locks/run.json     a lock and its holder
//	locks/.writes/2f                   held during a write
//	locks/.writes/2f-5ZQ….tmp          a file being written, or left by a killed process
//
// A file is the document, byte for byte. Every write replaces the whole file, so a reader needs no
// lock and no permission to write. A killed process leaves the old document or the new one, and no
// lock: the kernel releases locks when their holder dies. Lock files remain without a meaning.
//
// The store refuses what others could have put into the directory or could change there. It follows
// no link and opens regular files only. It refuses a directory, folder or file that belongs to
// another user or that others can write. Root may use every user's store, and its files still
// belong to that user.
//
// Package declaration defines the content of documents.
package directory
