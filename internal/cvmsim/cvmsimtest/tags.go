package cvmsimtest

func Resource(id string) string { return "qcs::cvm:ap-singapore:uin/:instance/" + id }

func ServiceTags(pairs ...string) []object {
	tags := []object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		tags = append(tags, object{"TagKey": pairs[i], "TagValue": pairs[i+1]})
	}
	return tags
}

func TagsOf(sim *Sim, id string) map[string]string {
	for _, in := range sim.Server.Instances() {
		if in.InstanceID == id {
			return in.Tags
		}
	}
	return nil
}
