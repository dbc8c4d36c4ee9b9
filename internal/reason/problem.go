package reason

// Problems of any declaration. The remedy says what to write instead.
var (
	InvalidName = two[Quoted, Word]("invalid_name", Warning, "{name} is not a valid name of a {kind}",
		"Use 1 to 50 lower-case letters, digits and hyphens, with a letter or digit first and last.")
	UnknownValue   = two[Quoted, Choices]("unknown_value", Warning, "{value} is not known", "Choose one of {choices}.")
	NullElement    = remedied("null_element", "the element is null", "Give it a value, or leave it out.")
	EmptyWriteOnly = remedied("empty_write_only", "it is empty", "Set it, or remove it and its version.")
	InvalidVersion = two[Count, Word]("invalid_version", Warning, "{version} is not a version",
		"Start with 1, and increase it with each change of {attribute}.")
	InvalidTimeout = two[Foreign, Duration]("invalid_timeout", Warning, "{error}", timeoutRemedy)
	TimeoutRange   = four[Value, Duration, Duration, Duration]("timeout_range", Warning, outOfRange, timeoutRemedy)
)

const (
	outOfRange    = "{value} is out of range: it must be between {least} and {most}"
	timeoutRemedy = `Leave it out for {default}, or write one such as "20m".`
)

// number makes one for a number that is out of range, with its unit.
func number(code Code, unit, remedy string) func(value, least, most Count) Reason {
	return three[Count, Count, Count](code, Warning, "{value}"+unit+" is out of range: it must be between {least} and {most}", remedy)
}

// length makes one for a duration that is out of range, as it was written.
func length(code Code, remedy string) func(value Value, least, most Duration) Reason {
	return three[Value, Duration, Duration](code, Warning, outOfRange, remedy)
}

// unreadable makes one for a text that is not of the form of its attribute.
func unreadable(code Code, remedy string) func(Foreign) Reason {
	return one[Foreign](code, Warning, "{error}", remedy)
}
