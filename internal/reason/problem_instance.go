package reason

// Problems of the configuration of a spot pool's instances.
var (
	InvalidID = two[Quoted, Quoted]("invalid_id", Warning,
		"invalid ID {id}: it must begin with {prefix}",
		"Write {prefix} and then eight lower-case letters and digits, as the console shows it.")
	IDRepeated  = three[Quoted, Word, Count]("id_repeated", Warning, "{id} is listed already, as {attribute}[{earlier}]", "Omit one of them.")
	InvalidRole = two[Quoted, Count]("invalid_role", Warning,
		"invalid CAM role name {role}",
		"Write the role's name, not its ARN: at most {most} letters, digits and _+=,.@-.")
	BandwidthRange = number("bandwidth_range", " Mbit/s", "Omit it for no public address.")
	PrepaidTraffic = two[Word, Choices]("prepaid_traffic", Warning,
		"{type} is for prepaid instances, and a pool's are paid by the hour",
		"Choose one of {choices}.")
	NoTraffic = remedied("no_traffic",
		"an instance without a public address has no internet traffic",
		"Set internet_max_bandwidth_out, or omit internet_charge_type.")

	SystemDiskRange = number("system_disk_range", " GiB", "Use data disks for more space.")
	DataDiskRange   = number("data_disk_range", " GiB", "Use several disks for more space.")
	DataDiskStep    = three[Count, Count, Count]("data_disk_step", Warning,
		"{size} GiB is not a multiple of {step}, the step of data disks",
		"Use {next}.")
	TooManyDisks = two[Count, Count]("too_many_disks", Warning,
		"{disks} data disks are too many: an instance has at most {most}",
		"Use fewer and larger ones.")
	TooManyLocalDisks = two[Count, Count]("too_many_local_disks", Warning,
		"{disks} local data disks are too many: an instance has at most {most}",
		"Use cloud disks in addition to it.")

	UserDataVersion = one[Count]("user_data_version", Warning,
		"invalid version {version}",
		"Begin with 1, and add 1 with each change of user_data_raw_wo.")
	UserDataLength = four[Count, Count, Count, Count]("user_data_length", Warning,
		"user data of {length} bytes is too long: it has {encoded} bytes as base64, and RunInstances takes {most} (that is {most_before} "+
			"bytes before)",
		"Let it download large files.")
	UserDataBinary = remedied("user_data_binary", "user data is not UTF-8 text", "Write it as text; let it download or decode binary data.")

	TooManyTags = five[Count, Count, Count, Names, Count]("too_many_tags", Warning,
		"{tags} tags are too many: an instance has at most {most}, and {own} of them are the pool's own ({own_keys})",
		"Omit {surplus}.")
	TagReserved = two[Quoted, Quoted]("tag_reserved", Warning, "the tag key {key} begins with {prefix}, which is reserved", "Choose another key.")
	TagEmpty    = one[Word]("tag_empty", Warning, "the tag's {part} is empty", "Write at least one character, or omit the tag.")
	TagTooLong  = three[Word, Count, Count]("tag_too_long", Warning,
		"the tag's {part} has {length} characters, and may have {most}",
		"Shorten it to {most} characters.")
	TagSpaces    = two[Word, Quoted]("tag_spaces", Warning, "the tag's {part} {text} has spaces at its ends", "Remove them.")
	TagCharacter = four[Word, Quoted, Word, Word]("tag_character", Warning,
		"the tag's {part} {text} has the character {character}, which is not allowed",
		"Use letters, digits, spaces and {symbols}.")
)

// Warnings of a valid spot pool that is probably a mistake.
var (
	NoRoomForProtection = remedied("no_room_for_protection",
		"with the pool's own tags, there is no room for gpupool/protected",
		"Omit one to be able to protect single instances from scale-in.")
	UserDataEncoded = remedied("user_data_encoded",
		"user data looks like base64 already",
		"Write it as plain text: it is encoded when it is sent.")
	CostBelowCaps = four[Price, Count, Price, Price]("cost_below_caps", Warning,
		"at the lowest spot_max_price {cap}, minimum {minimum} costs {cost} an hour, and max_hourly_cost is {limit}: the pool stays short if "+
			"prices come near their caps",
		"Raise max_hourly_cost, or lower the offerings' spot_max_price.")
	BaseHasNoEffect = remedied("base_has_no_effect",
		"on_demand_base has no effect if every instance is on-demand",
		`Omit it, or set instance_charge_type to "SPOTPAID".`)
	BaseAboveMinimum = two[Count, Count]("base_above_minimum", Warning,
		"on_demand_base is {base}, and only minimum {minimum} are launched",
		"Raise minimum, or lower on_demand_base.")
	FallbackNoRoom = one[Count]("fallback_no_room", Warning,
		"minimum and maximum are both {maximum}, so on the way back to spot each on-demand instance is terminated before its replacement is "+
			"launched",
		"Raise maximum by one to launch replacements first.")
	NeverOpportune = one[Count]("never_opportune", Warning,
		"minimum and maximum are both {maximum}, so an opportunistic refresh never finds an instance to spare",
		`Raise maximum, or set strategy to "rolling" with max_unavailable.`)
	SurgeAboveRoom = two[Count, Count]("surge_above_room", Warning,
		"max_surge is {surge}, and maximum leaves room for {room} above minimum",
		"Raise maximum, or lower max_surge.")
	AllUnavailable = two[Count, Count]("all_unavailable", Warning,
		"max_unavailable is {unavailable} and minimum {minimum}: a refresh may terminate every instance at once",
		"Lower it below minimum to keep some instances working.")
	BudgetTerminates = three[Object, Value, Value]("budget_terminates", Warning,
		"once {budget} has been exceeded for {grace}, all instances of the pool are terminated, each after a drain of at most {timeout}",
		`Set it to "keep" to keep the instances and launch no more. The tag gpupool/protected keeps single instances.`)
)
