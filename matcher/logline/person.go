package logline

import "github.com/gpu-triage/triage/rules/pattern"

// What tells a person's sentence from what a program printed, where a line may be either: as a whole, as the end of a message that somebody goes
// on behind, and anywhere in a line. Programs speak too ("We recommend", "did you mean"), so that each of the three asks for other words.

// self is how a person speaks of himself within a sentence.
const self = `(?:I|I['’](?:m|ve)|[Mm]y)\s`

// spoken begins a sentence in which a person speaks of himself.
var spoken = pattern.Lazy(`^\W{0,3}(?:(?:When|If|After|As|But|And|So|Now|Then|Hi|Hello),? )?(?:(?:I|We) (?:[a-z]+|can['’]t) |(?:I['’](?:m|ve)|We['’](?:re|ve)|My|Our) [a-z]+ )`)

// Spoken tells whether a line of a post is a sentence in which its author speaks of himself, which no program does.
func Spoken(line string) bool { return spoken().MatchString(line) }

// speech begins a sentence of the person who shows an error, in the words that no message has. Programs ask "did you mean" and the like.
var speech = pattern.Lazy(`^(?:Thanks?\b|Please help|How (?:can|do|to|should) |Any(?: ?one| idea| help| advice| suggestion)|Does any|Can (?:any|some)|Could (?:any|some)|What (?:should|can|could|am) |I (?:am|have|tried|use|used|was|do|don't|can't|want|think|also|get|got|just|would|run|ran|installed|need|see|found|checked|guess|believe) |I'(?:m|ve) |My |Hi\b|Hello\b|(?:[Bb]ut|[Aa]nd|[Ss]o|However,?) (?:if |when )?(?:I|we)\b|(?:[Ww]hen|[Ii]f|[Aa]s) I\b|How did (?:you|any)|[Tt]his is because )`)

// Speech tells whether a line behind a message begins a sentence of the person who shows it.
func Speech(line string) bool { return speech().MatchString(line) }

// ofSelf finds that a sentence is a person's: "when I run it, I get this error:".
var ofSelf = pattern.Lazy(`(?:^|\s)` + self)

// SpeaksOfSelf tells whether somebody speaks of himself anywhere in a line.
func SpeaksOfSelf(line string) bool { return ofSelf().MatchString(line) }

// aboutError is a title that says when something failed, and nothing of what was printed then.
var aboutError = pattern.Lazy(`(?i)^(?:#{1,6} )?(?:\[[\w /-]+\]:? ?)?(?:an? |the )?(?:errors?|exceptions?|failures?|failed|problems?|crash\w*) (?:in|while|at|when|during|from|with|on|using|after|for|trying|[a-z]+ing)\b[^:]*$`)

// AboutError tells whether the first line of a post is what its author calls the error, and no program's word.
func AboutError(line string) bool { return aboutError().MatchString(line) }
