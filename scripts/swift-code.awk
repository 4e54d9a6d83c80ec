# Shows Swift as FILE:LINE:code, without comments and the text of strings, so that a check that
# looks for a word finds it in code only. The content of \( ) in a string is code.
# A comment leaves "//" behind, a string its quotes.

function push(kind, hashes) { depth++; kinds[depth] = kind; hash[depth] = hashes; parens[depth] = 0 }

# Reads the string's end, or the start of code in it, at the front of rest.
function in_string(  kind, marks, quote, escape) {
  kind = kinds[depth]; marks = hash[depth]
  quote = kind marks; escape = "\\" marks
  if (index(rest, quote) == 1) { depth--; out = out "\""; take(length(quote)) }
  else if (index(rest, escape "(") == 1) { push("(", ""); out = out " ("; take(length(escape) + 1) }
  else if (index(rest, escape) == 1) take(length(escape) + 1)
  else take(1)
}

function in_code(  first) {
  first = substr(rest, 1, 1)
  if (match(rest, /^\/\//)) { out = out "//"; rest = "" }
  else if (match(rest, /^\/\*/)) { out = out "//"; push("/*", ""); take(2) }
  # Only at a line's end do three quotes open a text of lines: #"""# is one quote.
  else if (match(rest, /^#*"""$/)) opens(3)
  else if (match(rest, /^#*"/)) opens(1)
  else {
    if (first == "(") parens[depth]++
    if (first == ")" && parens[depth]-- == 0 && depth > 0) depth--
    out = out first
    take(1)
  }
}

function opens(quotes,  hashes) {
  hashes = substr(rest, 1, RLENGTH - quotes)
  out = out "\""
  take(RLENGTH)
  push(quotes == 3 ? "\"\"\"" : "\"", hashes)
}

function in_comment() {
  if (index(rest, "*/") == 1) { depth--; take(2) }
  else if (index(rest, "/*") == 1) { push("/*", ""); take(2) }
  else take(1)
}

function take(count) { rest = substr(rest, count + 1) }

FNR == 1 { depth = 0; kinds[0] = "("; parens[0] = 0 }
{
  rest = $0; out = ""
  while (rest != "") {
    if (kinds[depth] == "(") {
      # Most of a line is of no interest here: copy it at once.
      if (match(rest, /^[^\/"#()]+/)) { out = out substr(rest, 1, RLENGTH); take(RLENGTH) }
      else in_code()
    } else if (kinds[depth] == "/*") in_comment()
    else in_string()
  }
  # A string of one line ends with it, whatever a stray quote made of it.
  if (kinds[depth] == "\"") depth--
  print FILENAME ":" FNR ":" out
}
