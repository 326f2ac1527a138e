"""The gallery's commands draw its pictures."""
import sys

from pages import SANITIZED, SOURCE, check_pages


def main():
    failures = [] if SANITIZED else check_pages([SOURCE / "docs/gallery.md"])
    print("\n\n".join(failures) or "fine")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
