package reason

// These say that a document of the store cannot be used. None quotes what is in it. The first argument names it.
var (
	DocumentNewer = two[Foreign, Count]("document_newer", Warning,
		"{document} was written by a newer gpupool (version {version} of its form)", "Upgrade gpupool")
	DocumentNewerField = two[Foreign, Foreign]("document_newer_field", Warning,
		"{document} was written by a newer gpupool (it has the unknown field {field})", "Upgrade gpupool")
	DocumentOlder = two[Foreign, Count]("document_older", Warning, older,
		"Restore it from a copy, or move it away and run terraform apply, which writes it again")
	SpotPoolOlder = two[Foreign, Count]("spot_pool_older", Warning, older,
		"Run terraform destroy with the gpupool that wrote it. To keep its instances instead, move it and its journal away, and wait 10 minutes, "+
			"until each earlier launch is listed. Then run terraform state rm and terraform import")
	BudgetOlder = two[Foreign, Count]("budget_older", Warning, older,
		"Move it away and run terraform apply, which writes it again. gpupool reconcile then warns of each freeze and pause that the older one left")
	PausesOlder       = two[Foreign, Count]("pauses_older", Warning, older, "Start the workloads in it again, and move it away")
	ExceptionsOlder   = two[Foreign, Count]("exceptions_older", Warning, older, "Move it away, and set its grants or holds again")
	JobOlder          = two[Foreign, Count]("job_older", Warning, older, "Move it away, and submit its request again")
	TombstoneOlder    = two[Foreign, Count]("tombstone_older", Warning, older, "Move it away once no Terraform state has its object")
	StatusOlder       = two[Foreign, Count]("status_older", Warning, older, "The next gpupool reconcile replaces it")
	JournalOlder      = two[Foreign, Count]("journal_older", Warning, older, journalRemedy)
	StockJournalOlder = two[Foreign, Count]("stock_journal_older", Warning, older, stockJournalRemedy)
	DeliveriesOlder   = two[Foreign, Count]("deliveries_older", Warning, older, deliveriesRemedy)
	DocumentDamaged   = two[Foreign, Foreign]("document_damaged", Warning, damaged,
		"Restore it from a copy, or move it away and run terraform apply, which writes it again")
	JournalDamaged = two[Foreign, Foreign]("journal_damaged", Warning, damaged,
		journalRemedy)
	StockJournalDamaged = two[Foreign, Foreign]("stock_journal_damaged", Warning, damaged,
		stockJournalRemedy)
	DeliveriesDamaged = two[Foreign, Foreign]("deliveries_damaged", Warning, "{document} is damaged ({damage}); nothing is sent",
		deliveriesRemedy)
	JobDamaged = two[Foreign, Foreign]("job_damaged", Warning, damaged,
		"Restore it from a copy, or move it away and submit its request again")
	StatusDamaged    = two[Foreign, Foreign]("status_damaged", Warning, damaged, "The next gpupool reconcile replaces it")
	ExceptionDamaged = two[Foreign, Foreign]("exception_damaged", Warning, damaged,
		"Restore it from a copy, or move it away and set its grants or holds again")
)

const (
	older         = "{document} was written by an older gpupool (version {version} of its form, which this one does not read); nothing was changed"
	journalRemedy = "Move it away, do not restore a copy, and run terraform apply or gpupool reconcile. The pool gets a new journal, and launches nothing " +
		"for 10 minutes, until each earlier launch is listed"
	stockJournalRemedy = "Restore it from a copy, or move it away. In the second case, run terraform destroy for this stock pool, which keeps " +
		"its Deployment, and then terraform import"
	deliveriesRemedy = "Move it away. The next gpupool reconcile writes a new one, and reports later events"
	damaged          = "{document} is damaged ({damage}); nothing was changed"
)

// These say that a document of a ledger, or of the history, cannot be used.
var (
	LedgerNewer = two[Foreign, Count]("ledger_newer", Warning,
		"the ledger's document {document} was written by a newer gpupool (format version {version})", "Upgrade gpupool")
	LedgerNewerField = two[Foreign, Foreign]("ledger_newer_field", Warning,
		"the ledger's document {document} was written by a newer gpupool (unknown field {field})", "Upgrade gpupool")
	LedgerOlder = two[Foreign, Count]("ledger_older", Warning,
		"the ledger's document {document} was written by an older gpupool (unsupported format version {version})",
		"Move all documents of this ledger away together. The next gpupool reconcile starts a new ledger without the GPU-hours used before: an "+
			"exceeded budget can then recover and stop blocking launches")
	LedgerHeaderDamaged = one[Foreign]("ledger_header_damaged", Warning, "the ledger's header is damaged ({damage}); nothing was changed",
		"Restore it from a copy. Only if there is no copy, remove it. The intervals stay, coverage starts again, and pods that ended since are charged "+
			"by estimate, from their start until the next run")
	LedgerDamaged  = two[Foreign, Foreign]("ledger_damaged", Warning, "the ledger's document {document} is damaged ({damage})", "Restore it from a copy")
	LedgerMissing  = one[Foreign]("ledger_missing", Warning, "the ledger's document {document} is missing", "Restore it from a copy")
	LedgerPartLost = four[Reason, Count, Instant, Instant]("ledger_part_lost", Warning,
		"{damage}; not counted: {intervals} {intervals:interval|intervals} that ended between {from} and {to}", "{damage}")
	LedgerSpanLost = three[Reason, Instant, Instant]("ledger_span_lost", Warning,
		"{damage}; not counted: all intervals that ended between {from} and {to}", "{damage}")
	LedgerForeign = three[Foreign, Word, Word]("ledger_foreign", Warning,
		"{ledger} belongs to the cluster {is}, not to {wanted}; nothing was changed", "")
	HistoryNewer = two[Foreign, Count]("history_newer", Warning,
		"the history's document {document} was written by a newer gpupool (version {version} of its form)", "Upgrade gpupool")
	HistoryDamaged = two[Foreign, Foreign]("history_damaged", Warning, "the history's document {document} is damaged ({damage})", "Restore it from a copy")
)
