package ledger

// FoldAt sets how many recent records are kept before open documents are rewritten.
func (l *Ledger) FoldAt(records int) { l.foldAt = records }
