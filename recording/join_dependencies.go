package recording

// dependencies has each that any part saw, with the surest evidence.
func (j *join) dependencies() error {
	var whole []Dependency
	at, left := map[Dependency]int{}, 0
	for _, p := range j.parts {
		var rows []Dependency
		err := p.read(func(from *archive) error {
			return readLater(from, dependenciesTable, MaxDependencies, &rows)
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			key := row
			key.Evidence = ""
			i, known := at[key]
			switch {
			case known && Surer(row.Evidence, whole[i].Evidence):
				whole[i].Evidence = row.Evidence
			case !known && len(whole) == MaxDependencies:
				left++
			case !known:
				at[key] = len(whole)
				whole = append(whole, row)
			}
		}
	}
	if left > 0 {
		j.lose(dependenciesTable, left)
	}
	return writeTable(j.archive, j.codec, dependenciesTable, whole)
}

// evidences are from the surest to the least sure.
var evidences = []string{SeenRunning, SeenMapped, SeenOpened, SeenBuiltIn, SeenHost, SeenInstalled}

// Surer tells whether a dependency is known by surer evidence than by another.
func Surer(one, other string) bool {
	for _, evidence := range evidences {
		if evidence == one || evidence == other {
			return evidence == one && one != other
		}
	}
	return false
}
