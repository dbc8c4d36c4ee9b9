package reason

const otherVersion = "other_version"

// OtherVersion is a text that another version of gpupool stored.
var OtherVersion = one[Foreign](otherVersion, Info, "{text}", "")

// note is a text without a code.
var note = one[Text]("note", Info, "{note}", "")
