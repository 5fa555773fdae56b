#!/usr/bin/env bash
# Records the screens of the README from the real program: the demo in xterm with sixel graphics, driven by keys.
# Usage: assets/screens/record.sh path/to/tessera. Needs Xvfb, xterm, xdotool, ImageMagick, gifsicle and pngquant.
set -euo pipefail
program=$(realpath "$1")
out=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
export DISPLAY=:77 HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work XDG_STATE_HOME=$work
Xvfb "$DISPLAY" -screen 0 1180x760x24 >/dev/null 2>&1 &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until xdotool getdisplaygeometry >/dev/null 2>&1; do sleep 0.1; done

# Paint and index first, so that the recording begins with pictures.
"$program" demo --images 60 </dev/null >/dev/null 2>&1
xterm -ti vt340 -geometry 130x42+0+0 -fa 'DejaVu Sans Mono' -fs 10 -bg '#16181d' -fg '#d8dee9' -xrm 'XTerm*decTerminalID: vt340' \
  -xrm 'XTerm*numColorRegisters: 256' -xrm 'XTerm*sixelScrolling: true' -e "$program" demo --images 60 &
window=$(xdotool search --sync --onlyvisible --class xterm | head -n 1)
xdotool windowfocus --sync "$window"

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

until import -window root png:- | convert png:- -format '%k' info: | grep -qE '[0-9]{3,}'; do sleep 0.3; done
sleep 2
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

delays=()
while read -r file seconds; do
  delays+=(-delay "$(awk "BEGIN { print int($seconds * 100) }")" "$work/$file")
done < "$work/frames"
convert "${delays[@]}" -loop 0 "$work/tour.gif"
gifsicle -O3 --colors 128 --lossy=40 "$work/tour.gif" -o "$out/tour.gif"
ls -l "$out"
