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
		COMPREPLY=($(compgen -W "trace summary tui report diff info convert merge fleet recover ps start stop status top snapshot rocprofv3 rocprof list-counters doctor selftest help --version --help" -- "$cur"))
		return
	fi
	case $cmd in
	trace)
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) ((i++)); break ;;
			-o|--output|-m|--mode|--progress|--drain-ms|--trace-start|--delay|--duration|--period|--range|--kernels|--not-kernels|--calls|--gpus|--ranks|--pmc|--pmc-file|--metrics-file|--metrics-rules|--passes|--pmc-dispatches|--pmc-iterations|--pmc-run|--buffer-mb|--spool-dir|--max-size|--split|--flight-recorder|--trigger-longer|--trigger-mark|--snapshots|--snapshot-gap)
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
		--pmc) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pmc-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--metrics-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--metrics-rules) COMPREPLY=($(compgen -W "ordinary v1" -- "$cur")); return ;;
		--passes) COMPREPLY=($(compgen -W "multiplexed rerun replay" -- "$cur")); return ;;
		--pmc-dispatches) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pmc-iterations) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pmc-run) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
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
		-*) COMPREPLY=($(compgen -W "--output --mode --hsa --mpi --virtual-gpu --summary --force --quiet --verbose --progress --fail-on-loss --fail-on-empty --keep-spool --drain-ms --barriers --scratch --trace-start --delay --duration --period --range --kernels --not-kernels --calls --internal --gpus --ranks --pmc --pmc-file --metrics-file --metrics-rules --passes --pmc-dispatches --pmc-iterations --pmc-run --buffer-mb --spool-dir --no-convert --public --max-size --split --flight-recorder --trigger-longer --trigger-error --trigger-mark --snapshot-on-usr2 --snapshots --snapshot-gap --check --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -c -f -- "$cur")) ;;
		esac
		;;
	summary)
		case $prev in
		-n|--rows) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-b|--by) COMPREPLY=($(compgen -W "overview kernel api copy marker stream gpu counter range process rank graph error gap path collective clock imbalance mpi" -- "$cur")); return ;;
		--domain) COMPREPLY=($(compgen -W "hip hsa rccl mpi" -- "$cur")); return ;;
		-f|--format) COMPREPLY=($(compgen -W "table csv json" -- "$cur")); return ;;
		--columns) COMPREPLY=($(compgen -W "rtl rocprof" -- "$cur")); return ;;
		-u|--units) COMPREPLY=($(compgen -W "auto scaled raw" -- "$cur")); return ;;
		--sort) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--names) COMPREPLY=($(compgen -W "auto short medium full mangled" -- "$cur")); return ;;
		--time) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--range) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernels) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--gpus) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--ranks) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--metrics) COMPREPLY=($(compgen -W "compute memory roofline" -- "$cur")); return ;;
		--collectives) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--rows --by --domain --format --columns --units --internal --wide --sort --names --time --range --kernels --gpus --ranks --metrics --collectives --critical-path --quiet --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	tui)
		case $prev in
		-t|--tab) COMPREPLY=($(compgen -W "overview timeline kernels calls copies ranges gaps findings losses errors streams gpus processes counters graphs" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--tab --ascii --no-color --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	report)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--progress) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --force --public --quiet --progress --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	diff)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		-b|--by) COMPREPLY=($(compgen -W "kernel call copy range collective run" -- "$cur")); return ;;
		-n|--rows) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-f|--format) COMPREPLY=($(compgen -W "table csv json markdown html" -- "$cur")); return ;;
		--fail-if) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--seed) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --by --rows --format --fail-if --seed --wide --force --quiet --help" -- "$cur")) ;;
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
		-f|--format) COMPREPLY=($(compgen -W "perfetto chrome pftrace speedscope folded kineto otf2 jsonl parquet csv rocprofv3-csv rocprofv3-json rocpd3 rocprofv3-pftrace rocprofv3-otf2 rpd" -- "$cur")); return ;;
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--job) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--progress) COMPREPLY=($(compgen -W "auto always never" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--format --output --job --force --public --quiet --progress --help" -- "$cur")) ;;
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
	fleet)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		-b|--by) COMPREPLY=($(compgen -W "overview ranks kernels ranges slow-ranks slow-hosts slow-gpus slow-ranges imbalance collectives outliers busy rank-kernels timeline" -- "$cur")); return ;;
		-n|--rows) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-f|--format) COMPREPLY=($(compgen -W "table csv json html" -- "$cur")); return ;;
		--job) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--ranks) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-u|--units) COMPREPLY=($(compgen -W "auto scaled raw" -- "$cur")); return ;;
		--sort) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--names) COMPREPLY=($(compgen -W "auto short medium full mangled" -- "$cur")); return ;;
		--engine) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--sql) COMPREPLY=($(compgen -W "overview ranks kernels ranges slow-ranks slow-hosts slow-gpus slow-ranges imbalance collectives outliers busy rank-kernels timeline" -- "$cur")); return ;;
		--keep) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--max-size) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --by --rows --format --job --ranks --units --wide --sort --names --engine --sql --keep --max-size --dry-run --force --quiet --help" -- "$cur")) ;;
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
		-*) COMPREPLY=($(compgen -W "--format --all --leftovers --free --help" -- "$cur")) ;;
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
		-f|--format) COMPREPLY=($(compgen -W "table csv json" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--format --help" -- "$cur")) ;;
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
	rocprofv3)
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) ((i++)); break ;;
			-i|--input|-o|--output-file|-d|--output-directory|-f|--output-format|--log-level|-E|--extra-counters|--ompt-trace|--pmc|--replay-mode|--spm|--spm-sample-interval|--spm-sample-interval-unit|--pc-sampling-unit|--pc-sampling-method|--pc-sampling-interval|--summary-groups|--summary-output-file|-u|--summary-units|--profile-mpi-ranks|--mpi-world-rank-variable|--mpi-world-size-variable|--kernel-include-regex|--kernel-exclude-regex|--kernel-iteration-range|-P|--collection-period|--collection-period-unit|--perfetto-backend|--perfetto-buffer-size|--perfetto-buffer-fill-policy|--perfetto-shmem-size-hint|--preload|--rocm-root|--sdk-soversion|--sdk-version|--benchmark-mode|-A|--agent-index|--minimum-output-data|-p|--pid|--attach|--attach-duration-msec|--att-library-path|--att-target-cu|--att-simd-select|--att-consecutive-kernels|--att-buffer-size|--att-resource-mode|--att-shader-engine-mask|--att-gpu-index|--att-perfcounters|--att-perfcounter-ctrl|--att-activity)
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
		-v|--version) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-i|--input) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-o|--output-file) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-d|--output-directory) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-f|--output-format) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--output-config) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--log-level) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-E|--extra-counters) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-r|--runtime-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-s|--sys-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hip-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--marker-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernel-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hip-graph-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hip-event-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--memory-copy-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--memory-allocation-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kfd-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--scratch-memory-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hsa-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--rccl-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--ompt-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kokkos-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--rocdecode-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--rocjpeg-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--rocshmem-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hipfile-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hip-runtime-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hip-compiler-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hsa-core-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hsa-amd-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hsa-image-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--hsa-finalizer-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kfd-page-migration-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kfd-page-mapping-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kfd-queue-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kfd-dropped-events-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pmc) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--replay-mode) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernel-replay-beta-enabled) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--spm-beta-enabled) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--spm) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--spm-sample-interval) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--spm-sample-interval-unit) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pc-sampling-beta-enabled) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pc-sampling-unit) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pc-sampling-method) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--pc-sampling-interval) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--stats) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-S|--summary) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-D|--summary-per-domain) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--summary-groups) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--summary-output-file) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-u|--summary-units) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-M|--mangled-kernels) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-T|--truncate-kernels) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernel-rename) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--profile-mpi-ranks) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--mpi-world-rank-variable) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--mpi-world-size-variable) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernel-include-regex) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernel-exclude-regex) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--kernel-iteration-range) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-P|--collection-period) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--collection-period-unit) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--selected-regions) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--selected-regions-ref-count) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--perfetto-backend) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--perfetto-buffer-size) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--perfetto-buffer-fill-policy) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--perfetto-shmem-size-hint) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-L|--list-avail) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--group-by-queue) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--preload) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--rocm-root) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--sdk-soversion) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--sdk-version) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--readlink) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--realpath) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--benchmark-mode) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-A|--agent-index) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--suppress-marker-preload) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--echo) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--disable-signal-handlers) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--process-sync) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--minimum-output-data) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		-p|--pid) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--attach) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--attach-duration-msec) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--attach-children) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--attach-sync-output) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--advanced-thread-trace) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-no-intercept) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-library-path) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-target-cu) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-simd-select) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-consecutive-kernels) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-buffer-size) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-resource-mode) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-shader-engine-mask) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-gpu-index) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-perfcounters) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-perfcounter-ctrl) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-perfcounter-target-only) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-activity) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-serialize-all) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--att-no-detail) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--virtual-gpu) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--version --input --output-file --output-directory --output-format --output-config --log-level --extra-counters --runtime-trace --sys-trace --hip-trace --marker-trace --kernel-trace --hip-graph-trace --hip-event-trace --memory-copy-trace --memory-allocation-trace --kfd-trace --scratch-memory-trace --hsa-trace --rccl-trace --ompt-trace --kokkos-trace --rocdecode-trace --rocjpeg-trace --rocshmem-trace --hipfile-trace --hip-runtime-trace --hip-compiler-trace --hsa-core-trace --hsa-amd-trace --hsa-image-trace --hsa-finalizer-trace --kfd-page-migration-trace --kfd-page-mapping-trace --kfd-queue-trace --kfd-dropped-events-trace --pmc --replay-mode --kernel-replay-beta-enabled --spm-beta-enabled --spm --spm-sample-interval --spm-sample-interval-unit --pc-sampling-beta-enabled --pc-sampling-unit --pc-sampling-method --pc-sampling-interval --stats --summary --summary-per-domain --summary-groups --summary-output-file --summary-units --mangled-kernels --truncate-kernels --kernel-rename --profile-mpi-ranks --mpi-world-rank-variable --mpi-world-size-variable --kernel-include-regex --kernel-exclude-regex --kernel-iteration-range --collection-period --collection-period-unit --selected-regions --selected-regions-ref-count --perfetto-backend --perfetto-buffer-size --perfetto-buffer-fill-policy --perfetto-shmem-size-hint --list-avail --group-by-queue --preload --rocm-root --sdk-soversion --sdk-version --readlink --realpath --benchmark-mode --agent-index --suppress-marker-preload --echo --disable-signal-handlers --process-sync --minimum-output-data --pid --attach --attach-duration-msec --attach-children --attach-sync-output --att --advanced-thread-trace --att-no-intercept --att-library-path --att-target-cu --att-simd-select --att-consecutive-kernels --att-buffer-size --att-resource-mode --att-shader-engine-mask --att-gpu-index --att-perfcounters --att-perfcounter-ctrl --att-perfcounter-target-only --att-activity --att-serialize-all --att-no-detail --virtual-gpu --keep-database --check --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -c -f -- "$cur")) ;;
		esac
		;;
	rocprof)
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) ((i++)); break ;;
			-i|--input|-o|--output|-d|--data-directory|-t|--temporary-directory|-m|--metrics|--timestamp|--basenames|--trace-start|--trace-period|--tool-version|--cmd-qts|--ctx-wait|--ctx-limit|--heartbeat|--obj-tracking|--flush-rate|--trace-size)
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
		-i|--input) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		-d|--data-directory) COMPREPLY=($(compgen -d -- "$cur")); return ;;
		-t|--temporary-directory) COMPREPLY=($(compgen -d -- "$cur")); return ;;
		-m|--metrics) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--timestamp) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
		--basenames) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
		--trace-start) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
		--trace-period) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--tool-version) COMPREPLY=($(compgen -W "1 2" -- "$cur")); return ;;
		--cmd-qts) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
		--ctx-wait) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
		--ctx-limit) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--heartbeat) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--obj-tracking) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
		--flush-rate) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--trace-size) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--virtual-gpu) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--list-basic --list-derived --input --output --data-directory --temporary-directory --metrics --timestamp --basenames --stats --hip-trace --hsa-trace --roctx-trace --sys-trace --trace-start --trace-period --parallel-kernels --verbose --version --tool-version --roctx-rename --merge-traces --cmd-qts --ctx-wait --ctx-limit --heartbeat --obj-tracking --flush-rate --trace-size --virtual-gpu --keep-database --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -c -f -- "$cur")) ;;
		esac
		;;
	list-counters)
		case $prev in
		-g|--gpu) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--metrics-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--metrics-rules) COMPREPLY=($(compgen -W "ordinary v1" -- "$cur")); return ;;
		-f|--format) COMPREPLY=($(compgen -W "table csv json" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--gpu --metrics-file --metrics-rules --format --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	doctor)
		case $prev in
		--require) COMPREPLY=($(compgen -W "gpu virtual-gpu" -- "$cur")); return ;;
		--path) COMPREPLY=($(compgen -W "librtl virtual-gpu" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--quiet --require --path --help" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	selftest)
		case $prev in
		-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		-f|--format) COMPREPLY=($(compgen -W "table json" -- "$cur")); return ;;
		--only) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--virtual-gpu) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--timeout) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		--max-overhead) COMPREPLY=($(compgen -W "" -- "$cur")); return ;;
		esac
		case $cur in
		-*) COMPREPLY=($(compgen -W "--output --format --only --list --quick --virtual-gpu --timeout --max-overhead --quiet --help" -- "$cur")) ;;
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
