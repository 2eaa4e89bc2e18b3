package recording

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Each kind has words of its own, and is read back as it was written.
func TestBlindSpotInJSON(t *testing.T) {
	kinds := []BlindKind{BlindInterrupts, BlindProbe, BlindUnwinder, BlindStacks, BlindURing, BlindLost,
		BlindChecked, BlindKilled, BlindImport, BlindOther, BlindCut, BlindGivenUp, BlindVaries, BlindPerl,
		BlindNoSamples, BlindNoStacks, BlindFewSamples, BlindNoWaits, BlindNothing, BlindCounters,
		BlindOrphans, BlindExits, BlindManyExits}
	said := map[string]BlindKind{}
	for _, kind := range kinds {
		spot := BlindSpot{Kind: kind, What: "what", Why: "why", Count: 2, Of: 3,
			Reasons: []BlindReason{{"no rules", 2}}}
		if kind == BlindImport || kind == BlindVaries { // their words are what is said
			spot.What = "what " + string(kind)
		}
		if other, twice := said[spot.String()]; twice || spot.String() == "" {
			t.Errorf("%q says %q, as %q does", kind, spot, other)
		}
		said[spot.String()] = kind
		text, err := json.Marshal(spot)
		if err != nil {
			t.Fatal(err)
		}
		var read BlindSpot
		if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, spot) {
			t.Errorf("%s is read as %+v, %v", text, read, err)
		}
	}
}

func TestBlindSpotsOfOthers(t *testing.T) {
	const text = `["2 of 9 stacks are broken",{"kind":"of tomorrow","count":7,"text":"7 are late"}]`
	var spots []BlindSpot
	if err := json.Unmarshal([]byte(text), &spots); err != nil {
		t.Fatal(err)
	}
	want := []BlindSpot{{Kind: BlindOther, What: "2 of 9 stacks are broken"},
		{Kind: "of tomorrow", Count: 7, Text: "7 are late"}}
	if !reflect.DeepEqual(spots, want) {
		t.Errorf("read %+v", spots)
	}
	if words := Words(spots); words[0] != want[0].What || words[1] != "7 are late" {
		t.Errorf("words %q", words)
	}
	if json.Unmarshal([]byte(`[7]`), &spots) == nil {
		t.Error("a number is no blind spot")
	}
}

// What recordings count is added up, and the lists that were given stay as they were.
func TestAddBlindSpots(t *testing.T) {
	stacks := func(count int64, why string) BlindSpot {
		return BlindSpot{Kind: BlindStacks, Count: count, Of: 10, Reasons: []BlindReason{{why, count}}}
	}
	one := []BlindSpot{{Kind: BlindKilled}, stacks(1, "unmapped")}
	both := AddBlindSpots(one, BlindSpot{Kind: BlindKilled}, stacks(2, "no rules"), stacks(3, "unmapped"))
	want := []BlindSpot{{Kind: BlindKilled}, {Kind: BlindStacks, Count: 6, Of: 30,
		Reasons: []BlindReason{{"unmapped", 4}, {"no rules", 2}}}}
	if !reflect.DeepEqual(both, want) {
		t.Errorf("got %+v", both)
	}
	if one[1].Reasons[0].Count != 1 || len(one) != 2 {
		t.Errorf("the first list is changed: %+v", one)
	}
}
