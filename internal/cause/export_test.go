package cause

// HoldToModel lets the tests of the corpus hold an input to the model.
var HoldToModel = holdToModel
