"""Runs a program in a terminal of its own, waits until it shows a text, presses keys, and waits for its end.

usage: press_keys.py TEXT KEYS -- PROGRAM [ARGUMENT...]
"""

import os
import pty
import select
import sys
import time

SECONDS = 60


def main() -> int:
    text, keys, separator, *program = sys.argv[1:]
    if separator != "--" or not program:
        sys.exit(__doc__)
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(program[0], program)
    deadline, shown, is_pressed = time.monotonic() + SECONDS, b"", False
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:
            # Linux reports the end of a terminal as an error.
            read = b""
        if not read:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        shown += read
        if not is_pressed and text.encode() in shown:
            os.write(terminal, keys.encode())
            is_pressed = True
    sys.exit(f"{text!r} was not shown, or the program did not end; the last output was {shown[-500:]!r}")


if __name__ == "__main__":
    sys.exit(main())
