package reason

const otherVersion = "other_version"

// OtherVersion is a text that another version of gpupool stored.
var OtherVersion = one[Foreign](otherVersion, Info, "{text}", "")

// remark is a warning without a code of its own yet, and note another text.
var (
	remark = one[Text]("remark", Warning, "{remark}", "")
	note   = one[Text]("note", Info, "{note}", "")
)

// Remarks returns warnings that have no codes of their own yet.
func Remarks(texts []string) Reasons {
	var list Reasons
	for _, text := range texts {
		list = append(list, remark(Text(text)))
	}
	return list
}
