package cause

import "encoding/json"

// words is what a suspect's JSON says besides for people, and for readers of the first schema: the
// places and the doubts as text.
type words struct {
	Where   []string `json:"where"`
	Against []string `json:"against,omitempty"`
}

type bare Suspect // without its methods

// document is a suspect as it stands in JSON: places and doubts twice, as values with a kind and in
// words.
type document struct {
	bare
	words
}

// Document is what the JSON of a suspect is made of, for a writer with its own way with numbers.
func (s Suspect) Document() any {
	return document{bare(s), words{Where: s.Where(), Against: s.Against()}}
}

// MarshalJSON writes the document.
func (s Suspect) MarshalJSON() ([]byte, error) { return json.Marshal(s.Document()) }

// UnmarshalJSON reads suspects of the first schema as well, which have the words alone.
func (s *Suspect) UnmarshalJSON(data []byte) error {
	var both document
	if err := json.Unmarshal(data, &both); err != nil {
		return err
	}
	*s = Suspect(both.bare)
	if s.Places == nil {
		for _, text := range both.Where {
			s.Places = append(s.Places, Place{Name: text})
		}
	}
	if s.Doubts == nil {
		for _, text := range both.Against {
			s.Doubts = append(s.Doubts, Doubt{Text: text})
		}
	}
	return nil
}

// Where is the places in words, the best first.
func (s *Suspect) Where() []string {
	list := make([]string, 0, len(s.Places))
	for _, place := range s.Places {
		list = append(list, place.String())
	}
	return list
}

// Against is what contradicts the suspect, in words.
func (s *Suspect) Against() (list []string) {
	for _, one := range s.Doubts {
		list = append(list, one.Text)
	}
	return list
}

func (s *Suspect) doubt(kind DoubtKind, text string) { s.Doubts = append(s.Doubts, Doubt{kind, text}) }
