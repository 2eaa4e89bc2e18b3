package cause

// Causes of settings.
const (
	ConfigDiffers ID = "config.differs"
)

func configDiffers() Cause {
	return Cause{ID: ConfigDiffers, Nature: unspecific,
		Claim: "a setting differs between the two sides and nothing stronger explains the change",
		Example: "the same command with PYTHONMALLOC=debug in its environment: 1.4 times the CPU time " +
			"spread over all functions, and this one setting that differs (config-debug-python)",
		Evidence: "the list of differing facts; commands that are the same but for settings",
		Proof:    "flip the settings that can be flipped",
		Flips: []Flip{{Way: ByRestart, What: PartHead,
			Text: "start the dearer side with the other one's variables, options and wrappers"}},
		Remedy:     "use the setting of the faster side",
		Gain:       "the setting stays as it is on B: write it where a boot or a deployment keeps it",
		MistakenAs: "code that changed at the same time",
	}
}
