# SPDX-License-Identifier: MIT
"""blind.py - sixty faults over all folders of src and lib, chosen by reading the source before any test was read

	tests/mutants/plant.py --blind [--scratch DIR] [NAME...]

A survivor got a test of its kind; `tests` names one that finds each fault. The form is that of faults.py. Where a test is a script of another folder than
tests/cli, all of the tree is built for it: in a copy without a build that takes as long as a first build.
"""
from faults import Fault

FAULTS = []


def fault(name, file, old, new, tests, what):
    FAULTS.append(Fault(name, file, old, new, tests.split(), what))


# ---- src
fault("metrics_weight", "src/analysis/table_metrics.c", "sqlite3_column_double(row, is_share ? R_WEIGHTED : R_MEAN)", "sqlite3_column_double(row, is_share ? R_MEAN : R_WEIGHTED)", "test_digest", "a percentage is the mean of dispatches, however short they are")
fault("judge_cause", "src/analysis/collective_judge.c", "for (int i = 1; i < COLLECTIVE_NR_CAUSES; i++)", "for (int i = 1; i < COLLECTIVE_NR_CAUSES - 1; i++)", "test_collective", "the last cause is never the main one")
fault("compare_equal", "src/analysis/compare.c", "u += of_b * ((double)from_a + of_a / 2);", "u += of_b * (double)from_a;", "test_compare", "pairs of equal values count as smaller")
fault("flight_least", "src/base/capture.c", "*bytes < CAPTURE_FLIGHT_MIN", "*bytes <= CAPTURE_FLIGHT_MIN", "test_capture", "the smallest flight record that is allowed is refused")
fault("owned_empty", "src/base/owned.c", "if (st->st_size == 0) return 0;", "", "test_base", "an empty file of an earlier run is another program's")
fault("rocprof_period", "src/cli/cmd/cmd_rocprof.c", "delay, length, rate - length, length)", "delay, length, rate, length)", "scenario.104_rocprof.options_without_a_counterpart_are_refused_and_lists_printed", "windows are a length too far apart")
fault("program_return", "src/cli/trace/program.c", "f->has_return = n && line[n - 1] == '\\r';", "f->has_return = line[n] == '\\r';", "cli.trace", "a script with Windows' ends of lines is not named as one")
fault("info_blits", "src/cli/read/info_db.c", "p->counts.copies += n;", "", "cli.read", "rtl info leaves copies by kernels out")
fault("pmc_quote", "src/cli/pmc/pmc_file.c", "strchr(\"\\\\^$.[]|()?*+{}\", *word)", "strchr(\"\\\\^$.|?*+\", *word)", "scenario.102_counters.input_files", "brackets in a kernel's name of a rocprof file are those of an expression")
fault("message_output", "src/control/message.c", "return err ? err : check_path(text, out->output);", "return err;", "test_control", "the path of the output in a request is not checked")
fault("reduce_avg", "src/counter/reduce.c", "{ \"avg\", \"avr\" },", "{ \"avg\", \"sum\" },", "test_counter", "reduce(X,avg) is a sum")
fault("pause_open", "src/event/pause.c", "new = (old & ~(uint32_t)PAUSE_RANGE) + units;", "new = old + units;", "test_range", "recording stays held back when a range opens")
fault("chrome_rank", "src/export/chrome_trace/chrome_trace.c", "t->q->nr_processes == 1 ? &t->q->processes[0] : NULL", "t->q->nr_processes >= 1 ? &t->q->processes[0] : NULL", "test_chrome_trace", "a trace of several ranks has the first one's")
fault("csv_lds", "src/export/csv/csv_tables.c", "(S.group_size + 511) / 512 * 512", "(S.group_size + 512) / 512 * 512", "test_csv", "LDS is rounded up beyond what is used")
fault("jsonl_internal", "src/export/jsonl/jsonl.c", "SELECT V.*, \" EITHER( \"rtl_op_kernel\", \"rtl_op_runtime\") \" FROM", "SELECT V.*, \" IN(\"rtl_op_kernel\") \" FROM", "cli.jsonl", "kernels of the runtime have no thread")
fault("kineto_grid", "src/export/kineto/kineto_events.c", "(grid->xyz[i] + block->xyz[i] - 1) / block->xyz[i]", "grid->xyz[i] / block->xyz[i]", "test_kineto", "a grid lacks its last, partial block")
fault("otf2_realtime", "src/export/otf2/otf2_archive.c", "times->realtime_ns ? times->first_ns + (uint64_t)times->realtime_ns :", "times->realtime_ns ? (uint64_t)times->realtime_ns :", "cli.otf2_job", "an archive is of another day")
fault("parquet_gpu", "src/export/parquet/parquet_tables.c", "OURS(\"G.gpu_id % 1000\")", "OURS(\"G.gpu_id\")", "cli.parquet", "GPUs of a second host have numbers that no operation has")
fault("proto_varint", "src/base/varint.h", "for (; value >= 0x80; value >>= 7)", "for (; value > 0x80; value >>= 7)", "test_proto", "128 is no whole number of Protocol Buffers")
fault("page_shape", "src/export/report/page_names.c", "n[5], n[6], n[7]);", "n[5], n[7], n[6]);", "test_texts", "the page has LDS as scratch")
fault("rocprofv3_derived", "src/export/rocprofv3/rocprofv3_counters.c", "c->is_derived = c->expression[0] != 0;", "", "scenario.098_rocprofv3.extra_counters_are_counted", "a metric of the user's own is a counter")
fault("merge_gpu", "src/export/rpd/rpd_merge.c", ".gpu = (node - old_node) * RPD_GPU_STRIDE,", ".gpu = node * RPD_GPU_STRIDE,", "test_merge", "GPUs of a file that was merged before are moved twice")
fault("speedscope_lanes", "src/export/stacks/speedscope.c", "w->apart.nr = 0;", "", "cli.viewers", "lanes of one thread go on in the next")
fault("fleet_group", "src/fleet/fleet_table.c", "memset(c->is_read, 0, t->nr * sizeof(*c->is_read));", "if (!c->group) memset(c->is_read, 0, t->nr * sizeof(*c->is_read));", "cli.fleet", "values of the first group of rows are those of all")
fault("near_first", "src/query/near.c", "found[at - 1].distance > distance)", "found[at - 1].distance >= distance)", "test_kinds", "of equally near names those that came last are proposed")
fault("play_bytes", "src/selftest/play_hip.c", "rounds * (COPY_BYTES(0) + COPY_BYTES(1)));", "2 * rounds * COPY_BYTES(0));", "scenario.105_selftest.all_checks_pass", "the self-test expects other bytes than it copies")
fault("buf_reserve", "src/sink/recorder/buf.c", "if (nr_free <= BUF_RESERVE && !b->is_meta)", "if (nr_free <= BUF_RESERVE)", "test_recorder", "names are lost when space is short")
fault("tracer_phase", "src/source/hip/tracer.c", "return 1u << p;", "return 1u << !p;", "test_hip", "a call that waits does not wait for its records")
fault("table_replaced", "src/source/hsa/table/table.c", "if (*c->slot == c->after) *c->slot = c->before;", "*c->slot = c->before;", "test_table", "a tool that was loaded later loses its entry")
fault("completer_full", "src/source/hsa/queue/completer.c", "real.hsa_queue_load_read_index_scacquire(hsa) < hsa->size)", "real.hsa_queue_load_read_index_scacquire(hsa) <= hsa->size)", "test_completer", "a packet that was not read is written over")
fault("leftover_other", "src/spool/drain.c", "if (mem->magic == SPOOL_MAGIC && memcmp(mem->trace_id, disk->trace_id, sizeof(mem->trace_id)) == 0) unlink", "if (mem->magic == SPOOL_MAGIC) unlink", "test_drain", "the memory half of another trace is removed")
fault("op_number", "src/store/index_op.c", "op->number = key & 0xffff;", "op->number = key & 0xff;", "test_rpd_api", "a function without a name has another's number")
fault("window_chunk", "src/store/load.c", "at += sizeof(carried.chunk) + pack_stored(&carried.chunk);", "at += pack_stored(&carried.chunk);", "test_evict", "after a kill within a removal it is not known since when a flight record is complete")

# ---- lib
fault("thread_end", "lib/face/per_thread.c", "per_thread_own = NULL; alloc_free(", "alloc_free(", "test_face", "a destructor that runs later uses freed memory")
fault("forked_limit", "lib/librtl/forked.c", "if (fd < 0 && !sigismember(&old, SIGXFSZ)) sys_take_signal(&limit);", "", "fault.107_children.forked_child_without_library_file_is_a_named_loss", "a limit of the size of files ends a forked child")
fault("mpich_root", "lib/librtlmpi/library.c", ".proc_null = -1, .root = -3,", ".proc_null = -3, .root = -1,", "mpi.610_mpi.program_in_c_with_mpich_has_its_calls_and_results", "MPICH's null process is called the root")
fault("sdk_cache", "lib/librocprofiler-sdk/agents_hsa.c", "caches[a->caches_count].size = sizes[i] / 1024;", "caches[a->caches_count].size = sizes[i];", "sdk.540_agents.agents_without_the_drivers_files_are_hips_devices", "caches are a thousand times as large")
fault("roctracer_return", "lib/libroctracer64/calls.c", "if (record_is_stopped() || !call->own[index_of])", "if (record_is_stopped())", "roctracer.registering_while_fake_hip_is_called_keeps_pairs", "a call that began before it was wanted has an end without a begin")
fault("v1_queue", "lib/librocprofiler64/queues.c", "if (s) atomic_store_explicit(&s->hsa, NULL, memory_order_release); return next_destroy(queue);", "return next_destroy(queue);", "rocprofiler.410_dispatches.queues_have_callbacks_and_numbers", "a queue at the address of a destroyed one is not announced")
fault("roctx_left", "lib/libroctx64/ranges.c", "fork_guard_except(NULL); lock_drop(&lock); }  EXPORT void", "fork_guard_except(NULL); } EXPORT void", "roctracer.380_leaving.exception_from_ranges_of_rocm_5_2", "a thread that ends within a callback keeps the lock")

# ---- twenty more, drawn from folders by chance
fault("ranks_again", "src/cli/trace/ranks.c", "is_same_again = rank->restarts > 0 &&", "is_same_again = rank->restarts > 1 &&", "cli.trace", "a rank that was started again once replaces its own output")
fault("duckdb_batch", "src/fleet/fleet_duckdb.c", "rows += rows_of(&set->ranks[b->end], q);", "rows = rows_of(&set->ranks[b->end], q);", "cli.fleet", "a batch has any number of ranks")
fault("reach_imported", "src/source/hsa/memory/reach.c", "agent == AGENT_NONE ? REACH_OTHER_USER : REACH_NOBODYS, handle)", "REACH_NOBODYS, handle)", "test_reach", "memory that was imported is taken for the program's own")
fault("chrome_collective", "src/export/chrome_trace/chrome_trace_collective.c", "begin = begin < t->events.base_ns ? t->events.base_ns : begin; if (begin >= end) return 0;", "if (begin >= end) return 0;", "test_chrome_trace", "a collective that began before the trace has a time below zero")
fault("aside_rounded", "lib/face/buffer_aside.c", "size_t rounded = (size + 7) / 8 * 8,", "size_t rounded = size,", "test_buffer", "records behind one of an odd size are not aligned")
fault("window_once", "src/event/window.c", "once[0].repeat = 1;", "once[0].repeat = 0;", "test_window", "RTL_DELAY has no window, or one for ever")
fault("table_older", "src/source/hip/dispatch_table.c", "for (size_t i = 0; i < nr && i < known; i++) nr_taken", "for (size_t i = 0; i < known; i++) nr_taken", "test_hip", "the table of an older HIP is read and written beyond its end")
fault("carry_damage", "src/spool/carry.c", "if (c->at != at && c->step == STEP_TOTAL) c->total.h.id++; /* damage */", "", "test_evict", "damage that is passed over is not counted")
fault("kineto_bandwidth", "src/export/kineto/kineto_events.c", "(double)(row->bytes * 1000 / ns) / 1000 : 0", "(double)(row->bytes / ns) : 0", "test_kineto", "the bandwidth of slow copies is 0")
fault("grid_drop", "src/cli/grid.c", "t->columns[i].drop >= t->columns[drop].drop))", "t->columns[i].drop <= t->columns[drop].drop))", "test_grid", "a narrow screen drops the columns that matter most")
fault("parquet_lacks", "src/export/parquet/parquet_encode.c", "if (n < lacks + PACK) {", "if (n < PACK) {", "test_parquet", "a run that fills a pack and leaves less than one is written as one of its own")
fault("slice_rank0", "src/query/slice.c", "if (q->processes[i].rank < 0)", "if (q->processes[i].rank <= 0)", "test_query", "rank 0 is not found by --ranks")
fault("proto_two", "src/export/pftrace/proto.c", "*size = (char)(at - size - 1);", "*size = (char)(at - size);", "test_proto", "a message of two numbers is one byte too long")
fault("path_mean", "src/analysis/table_path.c", "cells[C_MEAN].num = part->ns / part->count;", "cells[C_MEAN].num = part->ns;", "test_critical", "the mean of a part of the critical path is its total")
fault("code_made", "src/source/hsa/code/code_object.c", "made = s != NULL; } lock_drop(&lock);", "} lock_drop(&lock);", "test_code_object", "a kernel that is not known is not announced")
fault("shared_oldest", "src/source/hsa/completion/shared_times.c", "if (!best || k->stamp < best->stamp) best = k;", "if (!best || k->stamp > best->stamp) best = k;", "test_shared_times", "the newest times give way, not the oldest")
fault("folded_thread", "src/export/stacks/folded.c", "tracks_until(&w->nest, INT64_MAX, end_slice, w); w->open = true;", "w->open = true;", "test_folded", "calls that are open at a thread's end are around those of the next")
fault("define_left_out", "src/source/api/call.c", "else if (choice == LEFT_OUT && api_wanted(domain, i) & API_RECORDED) record(domain, i, true);", "", "test_api", "a function that the user left out is recorded if it was wanted before its domain was known")
fault("announce_reserved", "src/source/hsa/queue/announce.c", "end = interpose_free_end(q, end < reserved ? end : reserved);", "(void)reserved; end = interpose_free_end(q, end);", "test_interpose", "packets whose index no thread has reserved are announced")
fault("jsonl_null", "src/export/jsonl/jsonl.c", "case SQLITE_NULL: json_null(j); break;", "", "cli.jsonl", "what is not known is an empty text")

# What of them can be seen is the same: no collective begins before the first event; a batch may be larger than memory is meant for; a run of its own is
# read as well as one that fills a pack; and a packet whose index no thread has reserved has no origin, without which it is not announced.
SURVIVORS = {"chrome_collective", "duckdb_batch", "parquet_lacks", "announce_reserved"}
