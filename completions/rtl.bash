# Made by rtl help --completion=bash; do not edit.
# shellcheck shell=bash disable=SC2207,SC1007
_rtl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev= cmd=${COMP_WORDS[1]} i
	((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}
	if [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	[ "$cur" = = ] && cur=
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "trace summary info convert merge recover ps start stop status top snapshot doctor help --version --help" -- "$cur"))
		return
	fi
	case $cmd in
	trace)
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) ((i++)); break ;;
			-o|--output|-m|--mode|--progress|--drain-ms|--trace-start|--delay|--duration|--period|--range|--kernels|--not-kernels|--calls|--gpus|--ranks|--buffer-mb|--spool-dir|--max-size|--split|--flight-recorder|--trigger-longer|--trigger-mark|--snapshots|--snapshot-gap)
				((i++))
				[ "${COMP_WORDS[i]}" = = ] && ((i++)) ;;
			-*|=) ;;
			*) break ;;
			esac
		done
		if ((i < COMP_CWORD)); then
			if declare -F _command_offset > /dev/null; then
				_command_offset $i
			else
				COMPREPLY=($(compgen -f -- "$cur"))
			fi
			return
		fi
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		-m|--mode) COMPREPLY=($(compgen -W "lite standard default full hip" -- "$cur")); return ;;
		--virtual-gpu) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--progress) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
		--drain-ms) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--trace-start) COMPREPLY=($(compgen -W "on off always" -- "$cur")); return ;;
		--delay) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--duration) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--period) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--range) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernels) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--not-kernels) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--calls) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--gpus) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--ranks) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--buffer-mb) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--spool-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
		--max-size) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--split) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--flight-recorder) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--trigger-longer) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--trigger-mark) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--snapshots) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--snapshot-gap) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --mode --hsa --virtual-gpu --force --quiet --verbose --progress --fail-on-loss --fail-on-empty --keep-spool --drain-ms --barriers --trace-start --delay --duration --period --range --kernels --not-kernels --calls --gpus --ranks --buffer-mb --spool-dir --no-convert --public --max-size --split --flight-recorder --trigger-longer --trigger-error --trigger-mark --snapshot-on-usr2 --snapshots --snapshot-gap --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -c -f -- "$cur")) ;;
		esac
		;;
	summary)
		case $prev in
		-n|--rows) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-b|--by) COMPREPLY=($(compgen -W "kernel api copy marker stream gpu" -- "$cur")); return ;;
		--domain) COMPREPLY=($(compgen -W "hip hsa" -- "$cur")); return ;;
		-f|--format) COMPREPLY=($(compgen -W "table csv json" -- "$cur")); return ;;
		--columns) COMPREPLY=($(compgen -W "rtl rocprof" -- "$cur")); return ;;
		-u|--units) COMPREPLY=($(compgen -W "auto scaled raw" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--rows --by --domain --format --columns --units --internal --wide --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	info)
		case $prev in
		-f|--format) COMPREPLY=($(compgen -W "text json" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--format --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	convert)
		case $prev in
		-f|--format) COMPREPLY=($(compgen -W "perfetto chrome kineto csv rocprofv3-csv rocprofv3-json rocpd3 rpd" -- "$cur")); return ;;
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--progress) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--format --output --force --public --quiet --progress --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	merge)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--progress) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --force --public --quiet --progress --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	recover)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--progress) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --force --public --remove --or-pid --quiet --progress --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	ps)
		case $prev in
		-f|--format) COMPREPLY=($(compgen -W "table csv json" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--format --all --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	start)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --force --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	stop)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --force --public --quiet --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	status)
		case $prev in
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	top)
		case $prev in
		-d|--interval) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-n|--number) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-r|--rows) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--interval --number --once --rows --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	snapshot)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --force --public --quiet --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	doctor)
		case $prev in
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--quiet --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	help)
		case $prev in
		--completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--markdown --man --completion --environment --tables --names --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -W "$(rtl help --names 2> /dev/null)" -- "$cur")) ;;
		esac
		;;
	esac
}
complete -o filenames -F _rtl rtl
