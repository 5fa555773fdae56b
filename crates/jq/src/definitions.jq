# The functions that the libraries do not have, or that give other results than in jq.

# The paths refer to the value before anything is deleted from it.
def delpaths($paths):
  def delete($keys):
    if type == "object" then
      (reduce $keys[] as $key ({}; .[$key] = true)) as $gone | with_entries(select($gone[.key] | not))
    elif type == "array" then
      [range(length)] as $all
      | (reduce ([$keys[] as $key | $all[$key] // empty] | flatten[]) as $at ({}; .["\($at)"] = true)) as $gone
      | [range(length) as $at | select($gone["\($at)"] | not) | .[$at]]
    elif . == null then .
    else error("cannot delete fields of a \(type)") end;
  if any($paths[]; . == []) then null
  else
    . as $all
    | [$paths | group_by(.[0])[] | { key: .[0][0], below: map(.[1:]) }] as $groups
    | reduce ($groups[] | select(all(.below[]; . != []) and $all[.key] != null)) as { $key, $below }
        (.; .[$key] |= delpaths($below))
    | delete([$groups[] | select(any(.below[]; . == [])).key])
  end;

def del(paths): delpaths([path(paths)]);

# The whole text is built by a sum alone, which the library extends in place.
def join($separator):
  map($separator + if . == null then "" elif isboolean or isnumber then tojson else . end)
  | reduce .[] as $part (""; . + $part)
  | .[$separator | length:];

def ltrimstr($start): if isstring and ($start | isstring) and startswith($start) then .[$start | length:] end;
def rtrimstr($end): if isstring and ($end | isstring) and endswith($end) then .[:length - ($end | length)] end;

def halt_error($exit_code): halt_message, halt($exit_code);
def halt_error: halt_error(5);

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
