package reason

// These say what the next run does about an object that is being deleted.
var (
	DeletionLifts      = none("deletion_lifts", "the next run unblocks new pods, resumes what it paused and removes its record")
	DeletionHeld       = one[Instant]("deletion_held", Info, "the next run leaves it unchanged, since it is on hold until {until}", "")
	DeletionUntags     = none("deletion_untags", "the next run removes its tags from its instances, which keep running, and then its record")
	DeletionDrains     = none("deletion_drains", "the next run drains its nodes, terminates its instances, and removes its record once they are gone")
	DeletionTerminates = none("deletion_terminates", "the next run terminates its instances, and removes its record once they are gone")
	DeletionKeeps      = none("deletion_keeps", "the next run keeps its Deployment and removes its record")
	DeletionClears     = none("deletion_clears", "the next run deletes its Deployment, and removes its record once its pods are gone")
)
