#!/usr/bin/env bash
# Records the screens of the README from the real program: the demo in xterm with sixel graphics, driven by keys.
# Usage: assets/screens/record.sh path/to/tessera [tour] [curate]. Needs Xvfb, xterm, xdotool, ImageMagick, gifsicle and
# pngquant.
set -euo pipefail
program=$(realpath "$1")
out=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
export DISPLAY=:77 HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work XDG_STATE_HOME=$work
cd "$work"
Xvfb "$DISPLAY" -screen 0 1180x760x24 >/dev/null 2>&1 &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until xdotool getdisplaygeometry >/dev/null 2>&1; do sleep 0.1; done

# demo IMAGES: opens the sample dataset, which is painted and indexed first, so that the recording begins with pictures.
demo() {
  "$program" demo --images "$1" </dev/null >/dev/null 2>&1
  rm -f "$work/frames"
  xterm -ti vt340 -geometry 130x42+0+0 -fa 'DejaVu Sans Mono' -fs 10 -bg '#16181d' -fg '#d8dee9' -xrm 'XTerm*decTerminalID: vt340' \
    -xrm 'XTerm*numColorRegisters: 256' -xrm 'XTerm*sixelScrolling: true' -e "$program" demo --images "$1" &
  terminal=$!
  window=$(xdotool search --sync --onlyvisible --class xterm | head -n 1)
  xdotool windowfocus --sync "$window"
  until import -window root png:- | convert png:- -format '%k' info: | grep -qE '[0-9]{3,}'; do sleep 0.3; done
  sleep 2
}

number=0
# frame SECONDS: waits for the screen to settle, then records it for as long.
frame() {
  local before=none after
  for _ in $(seq 50); do
    sleep 0.25
    after=$(import -window root png:- | md5sum)
    [ "$after" = "$before" ] && break
    before=$after
  done
  number=$((number + 1))
  import -window root -gravity northwest -crop 1060x722+0+0 +repage "$work/$(printf %03d $number).png"
  echo "$(printf %03d $number).png $1" >> "$work/frames"
}
# still NAME: keeps the last frame as a picture of its own.
still() { pngquant --force --strip --output "$out/$1.png" 128 "$work/$(printf %03d $number).png"; }
press() { for key in "$@"; do xdotool key "$key"; sleep 0.15; done; }
typed() { xdotool type --delay 60 "$1"; }
# save NAME: ends the program, and makes an animation of the frames.
save() {
  local delays=()
  while read -r file seconds; do
    delays+=(-delay "$(awk "BEGIN { print int($seconds * 100) }")" "$work/$file")
  done < "$work/frames"
  convert "${delays[@]}" -loop 0 "$work/$1.gif"
  gifsicle -O3 --colors 128 --lossy=40 "$work/$1.gif" -o "$out/$1.gif"
  kill $terminal
  wait $terminal || true
}

tour() {
  demo 60
  press Right Right Right Right; frame 2.5; still results
  press s; frame 1.5; still full-size
  press plus plus; frame 1.0                   # zoomed
  press q f; frame 2.5                         # similar pictures
  press g h; frame 0.8                         # the histogram of their scores
  press Left Left Left Left Left Left; frame 2.0; still histogram
  press Escape g f; frame 2.0; still facets
  press Escape m; frame 1.5; still comparison  # the pictures of a cluster, in pairs
  press d; frame 1.5                           # where they differ
  press q q c; frame 0.6                       # caption search
  typed "a sailing boat"; frame 0.8
  press Return; frame 2.0
  press space Right space; frame 1.5           # select two clusters
  press E; frame 2.0; still export             # the form
  press Escape b; frame 2.0                    # the region picker
  press Escape question; frame 2.5             # help
  save tour
}

# ready: waits until the header shows READY in green.
ready() {
  until import -window root -crop 300x18+0+0 png:- | convert png:- txt:- | grep -c '#6FDCB0' >/dev/null; do sleep 0.5; done
}

# From a folder of a thousand pictures to a training set.
curate() {
  demo 1000
  ready; sleep 1; frame 1.5
  press g d; sleep 1; frame 1.5                # near-duplicates
  press Return; sleep 3; frame 2.0             # the pictures of a group
  press f; frame 2.0                           # the end of the review
  press t; sleep 1; frame 1.5                  # what goes into the trash
  press y; sleep 5; ready; frame 1.5           # the index follows
  press 3 a 4; typed blur; frame 1.0           # find blurred pictures
  press F5; sleep 3; frame 1.5
  press semicolon a x; sleep 1; frame 1.5      # reject all of them
  press Escape Escape; sleep 1; press g S; frame 1.0  # divide
  press ctrl+u; typed 80/20; press Tab; typed train,val; press Tab space Tab; typed rejected; frame 2.5
  press Return; sleep 12; frame 2.0
  press 5 o ctrl+u; typed train; press Return; sleep 3; frame 1.5
  press E Tab Tab Tab space; sleep 1; frame 2.0  # export as COCO
  press Return; sleep 8; frame 1.5
  press g c Tab ctrl+u; typed 3%; press Tab ctrl+u shift+Tab shift+Tab shift+Tab  # check
  typed "selection:train selection:val"; frame 2.0
  press Return; sleep 12; frame 3.5
  save curate
}

parts=("${@:2}")
[ ${#parts[@]} -gt 0 ] || parts=(tour curate)
for part in "${parts[@]}"; do "$part"; done
ls -l "$out"
