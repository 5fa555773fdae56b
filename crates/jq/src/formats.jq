# The formats of jq that the libraries do not have.

def @csv: map(
  if type == "string" then "\"\(split("\"") | join("\"\""))\""
  elif type == "array" or type == "object" then error("\(type) is not valid in a row of @csv")
  elif . == null then ""
  else tojson end) | join(",");

def @tsv: map(
  if type == "string" then
    split("\\") | join("\\\\") | split("\t") | join("\\t") | split("\n") | join("\\n") | split("\r") | join("\\r")
  elif type == "array" or type == "object" then error("\(type) is not valid in a row of @tsv")
  elif . == null then ""
  else tojson end) | join("\t");
