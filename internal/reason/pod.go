package reason

// A pod could not be understood, or something of it counts otherwise than it requests.
var (
	PodWithoutUID      = warning("pod_without_uid", "it has no uid")
	PodWithoutCreation = warning("pod_without_creation", "it has no creation timestamp")
	PodLabelsCut       = warning("pod_labels_cut",
		"it has more labels than records keep: budgets that select by those of its last keys do not count it")
	StaticPodUncounted = warning("static_pod_uncounted", "it is a static pod, and only its node vouches for it: not counted")

	StartUnknown       = warning("start_unknown", "nothing tells when it started: not counted")
	TimeBeforeCreation = two[Word, Instant]("time_before_creation", Warning, "its {field} is {time}, before the pod's creation: not believed", "")
	TimeImpossible     = two[Word, Instant]("time_impossible", Warning, "its {field} is {time}, before there was a Kubernetes: not believed", "")
	TimeInFuture       = two[Word, Instant]("time_in_future", Warning, "its {field} is {time}, in the future: not believed", "")

	ListedTwice  = warning("listed_twice", "it is listed twice; the first one counts")
	EndUnlisted  = one[Instant]("end_unlisted", Warning, "its end is unknown, so it counts until {as_of}; --show-managed-fields of kubectl get may add it", "")
	NodeUnlisted = one[Node]("node_unlisted", Warning, "its node {node} is missing in --nodes, so its usage is unconfirmed and does not count", "")

	NegativeRequest  = two[Value, Amount]("negative_request", Warning, "it requests a negative quantity of {resource} ({quantity}): counted as none", "")
	AboveAnyMachine  = two[Amount, Value]("above_any_machine", Warning, "it requests {quantity} of {resource}, more than any machine has: counted as none", "")
	ResourceNotThere = three[Amount, Value, Node]("resource_not_there", Warning,
		"it requests {quantity} of {resource}, and its node {node} has none: not counted", "")
	CapacityNeverShown = three[Amount, Value, Node]("capacity_never_shown", Warning,
		"it requests {quantity} of {resource}, and its node {node} never showed how many it has: an estimate", "")
	AboveNodeCapacity = four[Amount, Value, Node, Amount]("above_node_capacity", Warning,
		"it requests {quantity} of {resource}, and its node {node} has no more than {capacity}: counted as these", "")
	AboveAnyNode = three[Amount, Node, Count]("above_any_node", Warning,
		"its requests come to {gpus} GPUs of its node {node}, more than the {maximum} that any node is believed to have: an estimate", "")
	AbovePodCards = three[Amount, Value, Amount]("above_pod_cards", Warning,
		"it requests {quantity} of {resource}, and holds cards for {cards}: counted as these", "")
	AboveNodeCards = four[Amount, Value, Amount, Node]("above_node_cards", Warning,
		"its {quantity} of {resource} come to more than the {cards} cards of its node {node}: counted as these", "")
)

// Several pods share a device, or it is a part of one.
var (
	ReplicasUnknown = two[Value, Value]("replicas_unknown", Warning,
		"its node has no label {label}: each {resource} is counted as a whole GPU", "")
	SliceReplicasUnknown = two[Value, Value]("slice_replicas_unknown", Warning,
		"its node has no label {label}: each {resource} is counted as a whole slice", "")
	ReplicasContradict = four[Value, Count, Value, Amount]("replicas_contradict", Warning,
		"its node's label {label} is {replicas}, and by the node's capacity each {resource} is {part} of a device: the smaller part is counted", "")
	SlicesInDoubt = four[Value, Value, Count, Count]("slices_in_doubt", Warning,
		"its node has no label {label}: GPUs with the MIG slice {profile} have between {least} and {most} of them. It counts as one of {most}", "")
	ProductUnlisted = one[Value]("product_unlisted", Warning,
		"NVIDIA's list of GPUs with MIG, as of October 2026, does not have {model}: its slices are counted as sevenths", "")
	MemoryUnknownWhole = two[Value, Node]("memory_unknown_whole", Warning, memoryUnknown+"it is counted as the whole card's", "")
	MemoryUnknownCores = two[Value, Node]("memory_unknown_cores", Warning, memoryUnknown+"only its cores are counted", "")
	MemoryUnknown      = two[Value, Node]("memory_unknown", Warning, memoryUnknown+"it is not counted", "")

	FractionDevicesInvalid = two[Word, Quoted]("fraction_devices_invalid", Warning,
		"invalid number of devices {value} in its annotation {annotation}: counted as none", "")
	FractionInvalid = two[Word, Quoted]("fraction_invalid", Warning,
		"invalid positive number {value} in its annotation {annotation}: counted as none", "")
	FractionAboveOne    = one[Quoted]("fraction_above_one", Warning, "its annotation gpu-fraction is {value}, more than one: counted as one", "")
	FractionNotReserved = three[Count, Count, Node]("fraction_not_reserved", Warning,
		"it requests a fraction of {requested} GPUs by annotation, but its scheduler reserved {reserved} on the node {node}: counted as {reserved}", "")
)

const memoryUnknown = "it requests {resource}, but its node {node} has no label nvidia.com/gpu.memory: "

// A pod has devices by resource claims.
var (
	ClaimOfAnotherPod = two[Value, Value]("claim_of_another_pod", Warning, "its resource claim {claim} was made for the pod {pod}: it counts for both", "")
	ClaimsNotRead     = one[Value]("claims_not_read", Warning,
		"it holds the resource claim {claim}, but no claims were read: its devices are not counted", "")
	ClaimGone = one[Value]("claim_gone", Warning,
		"its resource claim {claim} was deleted or is no longer allocated: its devices are not counted", "")
	DeviceOfAnotherNode = two[Value, Node]("device_of_another_node", Warning,
		"the device {device} is on the node {node}, but the pod is not: not counted", "")
	SharedDeviceUnknown = one[Value]("shared_device_unknown", Warning,
		"the shared device {device} is in no resource slice: counted as a whole GPU", "")
	AboveOfferedDevices = three[Value, Node, Amount]("above_offered_devices", Warning,
		"it has more devices of {driver} by claim than the slices of its node {node} offered, {offered}: the others are not counted", "")
)
