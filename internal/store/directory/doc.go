// Package directory keeps a store in a directory of this machine, in files that
// people can read:
//
//	store.json                         what this directory is, and its version
//	.gitignore                         keeps the store out of version control
//	spot_pools/ap-singapore/train.json a document: kind/name.json
//	ledger/0f7d…/recent.parquet        one whose name says that it is Parquet
//	locks/run.lock, locks/run.json     a lock, and who holds it
//	locks/.writes/2f                   held for the moment of a write
//	locks/.writes/2f-5ZQ….tmp          what is being written, or was by one killed
//
// A file is the document, byte for byte. Every write replaces it whole, so a
// reader needs no lock and no permission to write, and a process that is killed
// leaves the old document or the new one, and no lock: the kernel gives locks
// back when their holder dies. Lock files stay behind and mean nothing.
//
// What others could have laid into the directory, or could change there, is not
// believed: no link is followed, what is no regular file is not opened, and a
// directory, folder or file that belongs to another user or that others can write
// is refused. Root may use every user's store, and leaves it to that user.
//
// What stands in the documents is package declaration's.
package directory
