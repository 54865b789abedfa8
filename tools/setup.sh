# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# setup.sh - what ./demo, ./check and make share: install what is missing, build
#
# Sourced with the current directory at the root of the tree.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
	bold='' plain=''
fi

say() { printf '%s==> %s%s\n' "$bold" "$*" "$plain"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# there PROBE: is the command, or the file with an absolute path, there?
there() {
	case $1 in
	/*) [ -e "$1" ] ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

# debian_mirror: where this machine has Debian's main archive from; DEBIAN_MIRROR overrides
debian_mirror() {
	if [ -n "${DEBIAN_MIRROR:-}" ]; then
		echo "$DEBIAN_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's own format
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		sed -n 's/^Debian Debian main //p' | head -n 1
}

# missing GROUP...: the packages of these groups that are not there, one per line
missing() {
	while read -r group package probe _; do
		case " $* " in
		*" $group "*) there "$probe" || echo "$package" ;;
		esac
	done <tools/packages.txt
}

# as_root COMMAND...
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# need GROUP...: install with apt what is missing of these groups of tools/packages.txt
need() {
	lacking=$(missing "$@" | tr '\n' ' ')
	[ -z "$lacking" ] && return 0
	lacking=${lacking% }
	command -v apt-get >/dev/null 2>&1 ||
		die "these Debian packages are missing, and there is no apt-get to install them: $lacking"
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1 ||
		die "these packages are missing; as root: apt-get install $lacking"

	say "installing with apt: $lacking"
	mkdir -p build
	# A source that can't be reached matters only if a package is then not found.
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update >build/apt.log 2>&1 </dev/null ||
		true
	# shellcheck disable=SC2086 # a list of names
	if ! as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -qq -y \
		--no-install-recommends -o Dpkg::Use-Pty=0 install $lacking \
		>>build/apt.log 2>&1 </dev/null; then
		tail -n 15 build/apt.log >&2
		if grep -qE 'Could not resolve|Temporary failure|Cannot initiate|Unable to connect|Connection (failed|timed out)|Network is unreachable' \
			build/apt.log; then
			die "no network: apt can't reach its sources; these packages are needed: $lacking"
		fi
		die "apt could not install: $lacking (all of its output: build/apt.log)"
	fi
	lacking=$(missing "$@" | tr '\n' ' ')
	[ -z "$lacking" ] || die "installed, and yet not found: $lacking"
}

# build_preset PRESET [OPTION...]: configure and build quietly; what went wrong is shown
build_preset() {
	preset=$1
	shift
	log=build/$preset.log
	mkdir -p build
	if ! cmake --preset "$preset" "$@" >"$log" 2>&1 </dev/null; then
		cat "$log" >&2
		return 1
	fi
	if ! cmake --build --preset "$preset" -j "${JOBS:-2}" >>"$log" 2>&1 </dev/null; then
		grep -nE '(error|FAILED|undefined reference|multiple definition)' "$log" | head -n 30 >&2
		tail -n 20 "$log" >&2
		echo "all of the output: $log" >&2
		return 1
	fi
	if grep -q 'warning:' "$log"; then
		grep 'warning:' "$log" | sort -u | head -n 20 >&2
	fi
	return 0
}
