package reason

// Problems of what a notification reports, and when.
var (
	InvalidEvent   = one[Quoted]("invalid_event", Warning, "{event} is not a kind of event", `Use kinds of gpupool history, such as "exceeded".`)
	InvalidSubject = one[Quoted]("invalid_subject", Warning,
		"{object} is not an object",
		`Use budget/NAME, spot_pool/REGION/NAME, stock_pool/NAMESPACE/NAME or run, or a glob such as "budget/team-*".`)
	AlertRange    = number("alert_threshold_range", "%", "Use an alert threshold of a budget, such as 80.")
	AlertFraction = one[Value]("alert_threshold_fraction", Warning, notWhole, "Use alert thresholds of budgets, such as 80.")
	TooManyValues = two[Count, Count]("too_many_values", Warning,
		"{count} values are too many: at most {most}",
		"Use a glob, or several notifications.")
	InvalidDigest  = one[Quoted]("invalid_digest", Warning, "invalid duration {digest}", suchAs15m)
	DigestRange    = length("digest_range", suchAs15m)
	DigestOfAlerts = one[Word]("digest_of_alerts", Warning, "{type} receives alerts one by one", "Omit digest. The receiver groups alerts.")
	InvalidPage    = one[Quoted]("invalid_page_url", Warning,
		"{address} is not a web address",
		`Use the address of gpupool serve, such as "https://gpupool.example.com".`)
	MessageTimeZone  = unreadable("message_time_zone", `Use an IANA name such as "Asia/Shanghai".`)
	InvalidTimeOfDay = one[Quoted]("invalid_time_of_day", Warning, "{time} is not a time of day", `Use hours and minutes, such as "22:00".`)
	QuietHoursNoEnd  = one[Value]("quiet_hours_no_end", Warning,
		"quiet hours that start and end at {time} have no length",
		"Use two different times, or omit quiet_hours.")
)

const suchAs15m = `Use a duration such as "15m".`

// Problems of the receiver of a notification. None quotes its address or its secret.
var (
	PagerDutyNoSecret = remedied("pagerduty_no_secret",
		"pagerduty needs a secret",
		"Set secret_wo to the integration key of an Events API v2 integration, and secret_wo_version to 1.")
	ReceiverNoURL = one[Word]("receiver_no_url", Warning,
		"{type} needs an address",
		"Set url_wo to the address that the receiver gave you, and url_wo_version to 1.")
	SecretUnused   = one[Word]("secret_unused", Warning, "{type} has no secret", "Remove it. The address contains the receiver's secret.")
	URLNotOfWeb    = remedied("url_not_of_web", "it is not a web address", "Use the address that the receiver gave you.")
	URLUnencrypted = remedied("url_unencrypted",
		"it would send the message and its secret without encryption",
		"Use an address that starts with https://.")
	SecretSpaces    = remedied("secret_spaces", "it contains a space or a control character", "Copy the secret again.")
	PagerDutyLength = two[Count, Count]("pagerduty_key_length", Warning,
		"an integration key has {want} characters, and this one has {length}",
		"Use the integration key of an Events API v2 integration.")
)
