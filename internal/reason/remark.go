package reason

// OtherVersion is a text that another version of gpupool stored.
var OtherVersion = one[Foreign]("other_version", Info, "{text}", "")

// remark is a warning without a code of its own yet.
var remark = one[Text]("remark", Warning, "{remark}", "")

// Remarks returns warnings that have no codes of their own yet.
func Remarks(texts []string) Reasons {
	var list Reasons
	for _, text := range texts {
		list = append(list, remark(Text(text)))
	}
	return list
}
