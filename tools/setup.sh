# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# setup.sh - shared by ./demo, ./check and make: installs missing packages, builds
#
# Sourced with the current directory at the root of the tree.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
	bold='' plain=''
fi

say() { printf '%s==> %s%s\n' "$bold" "$*" "$plain"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# there PROBE: whether the command, or the file with an absolute path, exists
there() {
	case $1 in
	/*) [ -e "$1" ] ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

# debian_mirror: the mirror from which this machine gets Debian's main archive; DEBIAN_MIRROR overrides
debian_mirror() {
	if [ -n "${DEBIAN_MIRROR:-}" ]; then
		echo "$DEBIAN_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's own format
	mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		sed -n 's/^Debian Debian main //p' | head -n 1)
	if [ -z "$mirror" ]; then
		# before its first update apt has no origins, but it has the sources of this system's suite
		suite_name=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)
		mirror=$(apt-get --print-uris update 2>/dev/null |
			sed -n "s|^'\(.*/\)dists/${suite_name:-none}/InRelease'.*|\1|p" | head -n 1)
	fi
	echo "$mirror"
}

# missing GROUP...: the missing packages of these groups, one per line
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

# apt_quiet COMMAND...: apt-get without questions, as root
apt_quiet() {
	as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -o Dpkg::Use-Pty=0 --no-install-recommends "$@" </dev/null
}

# cost PACKAGE...: how much installing them is, with what they need: "3 packages, 4048 kB to fetch, 27 MB on disk"
cost() {
	apt_quiet --assume-no install "$@" 2>/dev/null | sed -n '
		s/^[0-9]* upgraded, \([0-9]*\) newly installed.*/\1 packages/p
		s/^Need to get \(.*\) of archives\./\1 to fetch/p
		s/^After this operation, \(.*\) of additional disk space will be used\./\1 on disk/p' | paste -s -d ',' - | sed 's/,/, /g'
}

# need GROUP...: prints the missing packages of these groups of tools/packages.txt and their size, and installs them with apt
need() {
	lacking=$(missing "$@" | tr '\n' ' ')
	[ -z "$lacking" ] && return 0
	lacking=${lacking% }
	command -v apt-get >/dev/null 2>&1 ||
		die "these Debian packages are missing, and there is no apt-get to install them: $lacking"
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1 ||
		die "these packages are missing; as root: apt-get install $lacking"

	mkdir -p build
	# A source that can't be reached matters only if a package is not found.
	apt_quiet -qq update >build/apt.log 2>&1 || true
	# shellcheck disable=SC2086 # a list of names
	say "installing with apt: $lacking ($(cost $lacking))"
	# shellcheck disable=SC2086
	if ! apt_quiet -qq -y install $lacking >>build/apt.log 2>&1; then
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

# build_preset PRESET [OPTION...]: configures and builds quietly; shows errors. What it has built is not configured again: the
# build does that where a file asks for it.
built_presets=''
build_preset() {
	preset=$1
	shift
	log=build/$preset.log
	mkdir -p build
	case "$built_presets " in
	*" $preset "*) : >"$log" ;;
	*)
		if ! cmake --preset "$preset" "$@" >"$log" 2>&1 </dev/null; then
			cat "$log" >&2
			return 1
		fi
		;;
	esac
	if ! cmake --build --preset "$preset" -j "${JOBS:-2}" >>"$log" 2>&1 </dev/null; then
		grep -nE '(error|FAILED|undefined reference|multiple definition)' "$log" | head -n 30 >&2
		tail -n 20 "$log" >&2
		echo "all of the output: $log" >&2
		return 1
	fi
	if grep -q 'warning:' "$log"; then
		grep 'warning:' "$log" | sort -u | head -n 20 >&2
	fi
	built_presets="$built_presets $preset"
	return 0
}
