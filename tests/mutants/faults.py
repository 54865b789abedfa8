# SPDX-License-Identifier: MIT
"""faults.py - the faults that plant.py plants: each changes what the product does, as a mistake would

A fault is found by its text, so that it outlives moves of lines; layout does not count. `tests` are the programs of tests/unit that may find it,
or the scripts of rtl ("cli.agree"), the likeliest first.
"""
import collections

Fault = collections.namedtuple("Fault", "name file old new tests what")
FAULTS = []


def fault(name, file, old, new, tests, what):
    FAULTS.append(Fault(name, file, old, new, tests.split(), what))


# ---- base
fault("str_utf8_low", "src/base/text.c", "if (c < 0xc2 || c > 0xf4)", "if (c < 0xc0 || c > 0xf4)", "test_text", "overlong UTF-8 is accepted")
fault("text_c1_is_safe", "src/base/text.c", "{ 0x80, 0x9f },", "{ 0x80, 0x9a },", "test_text", "an escape sequence's first code passes as text")
fault("pattern_order", "src/base/pattern.c", "end ? 1 : 0", "0", "test_pattern", "%env{X}% leaves its last sign")
fault("pattern_slash", "src/base/pattern.c", "*text == '/' ? \"_\" : text", "text", "test_pattern", "a host's name with a slash makes a folder")
fault("alloc_overflow", "src/base/alloc.c", "if (__builtin_mul_overflow(nr, size, &total) || fails()) return NULL; return calloc(", "total = nr * size; if (fails()) return NULL;\n return calloc(", "test_base", "a size that overflows is allocated")
fault("clock_slew", "src/base/clock.c", "bend = bend > most ? most : bend < -most ? -most : bend;", "bend = bend > most ? -most : bend < -most ? most : -bend;", "test_clock", "a line never meets the kernel's clock")
fault("capture_largest", "src/base/capture.c", "if (billionths / NS_PER_S > most / size)", "if (billionths / NS_PER_S >= most / size)", "test_capture", "the largest value is refused")
fault("regular_memory", "src/base/regular.c", "return -ENOMEM; } small =", "return 0; } small =", "test_regular", "an expression without memory is taken")
fault("fd_table", "src/base/fd.c", "*p == '\\t' || *p == ' '", "*p != '\\t' || *p == ' '", "test_base", "a program with threads waits while the kernel grows their table")
fault("fd_pread_loop", "src/base/fd.c", "ssize_t n = sys_pread(fd, p, size, (off_t)offset); if (n < 0 && errno == EINTR)", "ssize_t n = sys_pread(fd, p, size, (off_t)offset); if (n < 0 || errno == EINTR)", "test_base", "a failed read has no end")

# ---- event
fault("corr_order", "src/event/corr.c", "atomic_store_explicit(&in_order, true, memory_order_relaxed);", "", "test_event", "ids are not in order of time")
fault("window_repeat", "src/event/window.c", "t / cycle >= p->repeat", "t / cycle > p->repeat", "test_window", "a period is repeated once too often")
fault("window_edge", "src/event/window.c", "t < p->delay_ns ? p->delay_ns - t : cycle - t", "cycle - t", "test_window", "a window opens late")
fault("filter_kd", "src/event/filter.c", "mangled[size - 3] = '\\0';", "mangled[size] = '\\0';", "test_filter", "an expression with an end does not fit a kernel's symbol")
fault("filter_not", "src/event/filter.c", "(not_kernels.is_set &&", "(!kernels.is_set && not_kernels.is_set &&", "test_filter", "--not-kernels is ignored beside --kernels")
fault("join_chain", "src/event/join.c", "answers[a->prev[k] - 1].next[k] = a->next[k];", "answers[a->prev[k]].next[k] = a->next[k];", "test_join", "answers are lost when old ones are replaced")

# ---- spool, sink
fault("rest_recording", "src/spool/rest.c", "h.flags |= REC_F_MAYBE;", "h.flags |= 0;", "test_rest test_store", "an operation that is recorded comes twice after a kill")
fault("rest_block_damage", "src/spool/rest.c", "b->nr_items > (b->size - sizeof(*b)) / b->item_size", "b->nr_items > b->size / b->item_size", "test_rest", "items behind the end of a damaged block are read")
fault("rest_left_out", "src/spool/rest.c", "return (e->correlation & EVENT_LEFT_OUT) != 0;", "return (e->correlation & EVENT_LEFT_OUT) > EVENT_LEFT_OUT;", "test_rest", "an operation that the user leaves out is in the trace of a killed program")
fault("encode_compact_ticks", "src/sink/recorder/encode.c", "d->end_ticks - d->begin_ticks <= UINT32_MAX &&", "", "test_encode test_recorder", "long operations lose the upper half of their ticks")
fault("encode_inverted", "src/sink/recorder/encode.c", "flags |= REC_F_INVERTED;", "flags |= 0;", "test_encode test_recorder", "an end before its begin has no flag")
fault("finish_program", "src/base/beside.c", "return is_program(out, folder, 0, \"/rtl\");", "return is_program(out, folder, 0, \"/rtl\") || true;", "test_beside", "a program that does not exist is started at the end")

# ---- source
fault("gpu_clock_slope", "src/source/hsa/gpu_clock.c", "p.ns = last->most = gpu_clock_ns(last, last->until);", "last->most = gpu_clock_ns(last, last->until);", "test_gpu_clock", "lines do not meet")
fault("gpu_clock_rise", "src/source/hsa/gpu_clock.c", "p.ns += p.rise;", "", "test_gpu_clock", "old ticks get earlier times when pieces are merged")
fault("gpu_clock_garbage", "src/source/hsa/agent.c", "if (ns > latest || ticks > INT64_MAX)", "if (ns > UINT64_MAX - latest)", "test_agent", "a number that is no tick settles the clock")
fault("poll_tainted", "src/source/hsa/completion/poll.c", "return atomic_load_explicit(&e->tainted, memory_order_relaxed) ? INFLIGHT_REPLACED : INFLIGHT_TIMED;", "return INFLIGHT_TIMED;", "test_poll test_copy test_intercept test_harvest", "times of another operation with the same signal are taken")
fault("poll_untimed", "src/source/hsa/completion/poll.c", "++e->nr_looks > LOOKS_WITHOUT_TIMES", "++e->nr_looks > 0", "test_poll test_harvest", "an operation is untimed while its times are being written")
fault("copy_zero_tick", "src/source/hsa/completion/copy_times.c", "if (time.end - zero + ZERO_SLACK_NS < 2 * ZERO_SLACK_NS)", "if (false)", "test_copy", "a copy without times is at the begin of the counter")
fault("origin_mask", "src/source/hsa/queue/origin.c", "q->origin_mask = entries - 1;", "q->origin_mask = entries / 2 - 1;", "test_origin test_interpose", "packets of half a ring share their origin")
fault("live_height", "src/source/api/live.c", "top->height <= height", "top->height < height", "test_live", "a frame that was left by a jump is still in progress")
fault("signal_map_leaving", "src/source/hsa/completion/signal_map.c", "return e && e != LEAVING &&", "return e &&", "test_signal_map", "an entry that is leaving is found")
fault("late_doorbell", "src/source/hsa/queue/interpose.c", "store_max(&q->rung, end); if (atomic_load_explicit(&q->is_counted", "if (atomic_load_explicit(&q->is_counted", "test_interpose", "a doorbell that names a later packet is forgotten")
fault("unheld_ring", "src/source/hsa/queue/interpose.c", "if (end) real_index_ring(q, end - 1);", "if (end) real_index_ring(q, end);", "test_interpose", "the hardware is rung for a packet that is not there")
fault("hip_shown", "src/source/hip/activity.c", "if (f->call.args != data || f->call.operation != id) return; if (!((", "if (f->call.args != data || f->call.operation == id) return; if (!((", "test_hip", "subscribers of HIP's calls are not called by its callbacks")

# ---- store
fault("map_gap", "src/store/map.c", "if ((map->nr + 1) * 4 > map->cap * 3 && grow_table(map) < 0)", "if ((map->nr + 1) * 4 > map->cap * 5 && grow_table(map) < 0)", "test_store", "a full table has no end to search")
fault("flow_known", "src/store/flow.c", "return row->is_known && row->submitted", "return row->submitted", "test_store", "queues without counts miss operations")
fault("flow_add_known", "src/store/flow.c", "row->is_known |= from->rows[i].is_known;", "", "test_store", "what was submitted in one part of a trace is not missed")
fault("untimed_ticks", "src/store/index.c", "op.end_ticks = no_end ? 0 : d->begin_ticks + d->ticks;", "op.end_ticks = d->begin_ticks + d->ticks;", "test_store", "an operation without times has an end in ticks")
fault("verdict_memory", "src/store/verdict.c", "f->loss[SPOOL_REASON_bad_chunk].count || f->mem_missing)", "f->loss[SPOOL_REASON_bad_chunk].count)", "test_store", "what was in a missing half is unaccounted, too")
fault("verdict_max_size", "src/store/verdict.c", "SPOOL_REASON_max_size,", "", "test_store", "what --max-size drops is unaccounted, too")
fault("chunk_unaligned", "src/store/load_chunk.c", "if (committed % 8 || committed >", "if (committed >", "test_load", "a chunk of an impossible size is read")
fault("chunk_zero", "src/store/load_chunk.c", "if (head.seq == 0)", "if (false)", "test_load", "a chunk without a number is read")
fault("chunk_size", "src/store/load_chunk.c", "if (committed % 8 || committed > load->slot_size - sizeof(head) ||", "if (committed % 8 || committed > 2 * load->slot_size ||", "test_load", "a chunk that is larger than its slot is read")
fault("slot_hides", "src/store/load_chunk.c", "ret = read_slot(load, want); if (ret < 0)", "ret = read_slot(load, want); if (ret < 1)", "test_load", "a slot that was reused hides those behind it")
fault("thread_past", "src/store/index.c", "if (!threads[i].has_record)", "if (false)", "test_rpd", "a thread without a record is forgotten in a database that grows")
fault("launches_end", "src/store/launches.c", "nr_before(l->ends, l->nr_ends, e->value_plus_1 - 1)", "nr_before(l->ends, l->nr_ends, e->value_plus_1)", "test_launches", "a launch that was captured last is missed")

# ---- query, analysis, export, cli
fault("fills_are_copies", "src/query/kinds.c", "strncmp(kernel, \"fill\", 4) == 0 ? KINDS_FILL :", "strncmp(kernel, \"fill\", 4) == 0 ? KINDS_COPY :", "test_kinds", "fills by kernels of HIP are called copies")
fault("blit_is_kernel", "src/query/kinds.c", "&& kind == KINDS_BLIT ? KINDS_BLIT :", "&& kind == KINDS_ENGINE ? KINDS_BLIT :", "test_kinds test_digest", "copies and fills by kernels of HIP are kernels of the program")
fault("null_stream", "src/analysis/critical.c", "o->event = later(w->p, o->event, other);", "", "test_critical", "the critical path has no edge from or to the null stream")
fault("null_stream_apart", "src/analysis/critical.c", "if (!o->stream || map_get(&w->apart, o->stream, &known))", "if (!o->stream)", "test_critical", "a stream that does not wait for the null stream does")
fault("null_stream_gpu", "src/analysis/critical.c", "other != NONE && w->p->ops[other].gpu == o->gpu", "other != NONE", "test_critical", "null streams of two GPUs wait for each other")
fault("sorter_stable", "src/query/sorter.c", "row_at(s, from[left])) < 0);", "row_at(s, from[left])) <= 0);", "test_sorter", "equal rows change their order")
fault("label_cut", "src/query/label.c", "(int)(cut ? KERNEL_MAX - 3 : n)", "(int)(cut ? KERNEL_MAX : n)", "test_query", "a label is longer than its bound")
fault("label_braces", "src/query/label.c", "if (!depth) return i ? i : n;", "if (!depth) return i;", "test_query", "a name in parentheses has no label")
fault("transfer_types", "src/query/transfer.c", "i < T_NR && (ret = query_step(q, row)) == 1;", "i < T_NR && (ret = query_step(q, row)) != 1;", "test_kinds", "copies by kernels have no name")
fault("near_unlike", "src/query/near.c", "i < nr && (!*alike ||", "i < nr || (!*alike &&", "test_kinds", "names that are not alike are proposed")
fault("rpd_saves", "src/export/rpd/rpd_state.c", "p->changed = false;", "p->changed = true;", "test_rpd", "every commit writes the state of all processes")
fault("rpd_text", "src/export/rpd/rpd_state.c", "both_array(s, text, &size, NULL, 1);", ";", "test_rpd", "an unfinished database can't be continued")
fault("rpd_join", "src/export/rpd/rpd.c", "if (ret == 0 && r->has_merged) ret = rpd_split_join(r);", "if (ret < 0 && r->has_merged) ret = rpd_split_join(r);", "test_rpd", "merged parts of a trace are several processes")
fault("rocpd3_leak", "src/export/rocprofv3/rocpd3.c", "alloc_free(r->json);", ";", "test_rpd", "an exporter keeps memory")
fault("tally_leak", "src/cli/read/tally.c", "for (int i = 0; i < TALLY_NR_KINDS; i++) { map_fini(", "for (int i = 1; i < TALLY_NR_KINDS; i++) { map_fini(", "test_follow", "rtl top keeps memory")
fault("paths_long", "src/cli/paths.c", "return -ENAMETOOLONG; paths_dirname", "return 0; paths_dirname", "test_paths", "a path that is too long is taken")
fault("pmc_most", "src/cli/pmc/pmc_limit.c", "if (*text++ != ',') return false; } return false;", "if (*text++ != ',') return false; } return true;", "test_pmc_limit", "a list that is too long is cut")
fault("rpd_state_text", "src/export/rpd/rpd_state.c", "(!size || (*text)[size - 1])) s->bad = true;", "(!size || (*text)[size - 1])) s->bad = false;", "test_rpd", "a damaged state is continued")
fault("otf2_rpd", "src/export/otf2/otf2.c", "\"SELECT host FROM rtl_process ORDER BY id\") : 0;", "\"SELECT host FROM rtl_process ORDER BY id\") : 1;", "test_rpd", "files of RPD have no archive")

# ---- counter
fault("instance_limit", "src/counter/metric.c", "if (index < (int32_t)b->instances)", "if (index <= (int32_t)b->instances)", "test_counter", "an instance behind the last one is counted")
fault("instances_max", "src/counter/expression.c", "return n <= INSTANCES_MAX ? (int32_t)n : -1;", "return (int32_t)n;", "test_counter", "a number of instances has no limit")
fault("instances_none", "src/counter/expression.c", "if (n < 1 || !accept(p, ')'))", "if (n < 0 || !accept(p, ')'))", "test_counter", "a sum over no instance")
fault("expression_depth", "src/counter/expression.c", "p->depth--; return n;", "return n;", "test_counter", "long expressions are refused as deep ones")
fault("expression_minus", "src/counter/expression.c", "return join(p, SUBTRACT, nothing, parse_factor(p));", "return join(p, ADD, nothing, parse_factor(p));", "test_counter", "a sign is lost")
fault("plan_least", "src/counter/plan.c", "+ has - 1) / has;", ") / has;", "test_counter", "a plan has more passes than needed")
fault("plan_fits", "src/counter/plan.c", "> e->all[i].block->counters)", "> e->all[i].block->counters + 1)", "test_counter", "a pass has more counters than the block")

# ---- lib
fault("pending_front", "lib/face/pending.c", "for (before = first; before->next != item; before = before->next) ; before->next = item->next;", "for (before = first; before->next != item; before = before->next) ;", "test_face", "an item that was taken is found again")
fault("pending_behind", "lib/face/pending.c", "if (item) before->next = item->next; return item;", "return item;", "test_face", "an item behind others is found again")
fault("id_map_chunk", "lib/face/id_map.c", "&chunk[id % ID_MAP_CHUNK]", "&chunk[id % (ID_MAP_CHUNK / 2)]", "test_face", "two ids share a number")
fault("id_stack_pop", "lib/face/per_thread.c", "any ? s->ids[--s->nr] : 0", "any ? s->ids[s->nr - 1] : 0", "test_face", "an external id stays")
fault("id_stack_grow", "lib/face/per_thread.c", "s->size ? s->size * 2 : 16", "s->size ? s->size : 16", "test_face", "the seventeenth id is written behind the stack")
fault("buffer_due", "lib/face/buffer.c", ">= b->config.watermark;", "> b->config.watermark;", "test_buffer", "a buffer is delivered one entry late")

# ---- selftest
fault("play_last_signal", "src/selftest/play_hsa.c", "(i - 1) % SIGNAL_EVERY ?", "(i - 2) % SIGNAL_EVERY ?", "test_play_hsa", "the counters are read before the last packet has run")
fault("play_ring_full", "src/selftest/play_hsa.c", ">= q->size)", "> q->size)", "test_play_hsa", "a packet is written over one that was not read")

# ---- numbers of which two outputs had different ideas
fault("agree_trace_wall", "src/cli/read/result.c", "wall_read(&q, NULL, &wall);", "wall.begin = 0;", "cli.agree", "rtl trace says another wall time than rtl summary")
fault("agree_page_wall", "src/export/report/page.c", "\"wall_ns\", (int64_t)page->digest->wall.ns", "\"wall_ns\", page->span", "cli.agree", "the page has a wall time of its own")
fault("agree_page_startup", "src/export/report/page.c", "(int64_t)page->digest->wall.startup_ns", "(int64_t)0", "cli.agree", "the page knows no start-up")
fault("agree_startup_end", "src/analysis/wall.c", "w->work = first; w->startup_ns = (uint64_t)(first - w->begin);", "w->work = first; w->startup_ns = (uint64_t)(w->end - first);", "cli.agree", "the start-up does not end with the first operation")
fault("agree_call_share", "src/cli/read/summary_overview.c", "(struct line){ &c->sums[nr], all_ns };", "(struct line){ &c->sums[nr], o->d->wall.ns };", "cli.agree", "a call's share is of the wall time in the overview alone")
fault("agree_mean", "src/cli/read/summary_overview.c", "ui_time(mean, digest_mean(sum));", "ui_time(mean, sum->ns / sum->calls);", "cli.agree", "the overview's mean has calls without times in it")
fault("agree_busy", "src/analysis/table_busy.c", "wall->work_ns ? (double)usage->busy_ns / (double)wall->work_ns : 0", "wall->work_ns ? (double)usage->busy_ns / (double)wall->ns : 0", "cli.agree", "BUSY is a share of the wall time in one table")
fault("agree_rpd_copies", "src/query/transfer.c", "S.string END AS means FROM rocpd_op \" \"O JOIN rocpd_string T ON T.id = O.opType_id JOIN rocpd_string S ON S.id = O.description_id WHERE \" KINDS_IS_TRANSFER( \"T.string\", \"S.string\");", "S.string END AS means FROM rocpd_op \" \"O JOIN rocpd_string T ON T.id = O.opType_id JOIN rocpd_string S ON S.id = O.description_id WHERE \" KINDS_IS_COPY( \"T.string\");", "cli.agree", "copies by kernels of HIP are not in the tables of an RPD file")
fault("agree_copy_name", "src/query/transfer.c", "(-7, 'CopyPeerToPeer')", "(-7, 'PeerToPeer')", "cli.agree", "a kind of copy has two names")
fault("agree_fill_name", "src/query/transfer.c", "'__amd_rocclr_fill*' THEN \" \"'FillBuffer'", "'__amd_rocclr_fill*' THEN \" \"S.string", "cli.agree", "fills are called as the kernel that fills")
fault("agree_processes", "src/analysis/digest.c", "struct digest_sum *to = digest_sum_of(out, (uint64_t)from->id);", "struct digest_sum *to = digest_sum_of(out, (uint64_t)i);", "cli.agree", "the overview has a row for each GPU of a kernel")
fault("agree_share", "src/analysis/findings.c", ".active = d->wall.work_ns", ".active = d->gpus[0].compute_ns / 16 + 1", "cli.agree", "a share of more than all")
fault("agree_filtered", "src/analysis/findings.c", "if (!(finders[i].needs & lacking)) finders[i].find(&f);", "finders[i].find(&f);", "cli.agree", "findings are made of what the recording left out")
fault("agree_diff_median", "src/cli/read/diff_html.c", "json_int(j, side->median);", "json_int(j, (side->median + side->values[side->nr / 2]) / 2);", "cli.agree", "the page of rtl diff has medians of its own")
fault("agree_call_processes", "src/analysis/digest_host.c", "sum = digest_sum_of(&d->calls, hash); if (!sum || !sum->name || strcmp(sum->name, text) == 0) break;", "sum = digest_sum_of(&d->calls, (uint64_t)name); break;", "cli.agree", "a function's calls, and what findings say of them, are those of one process")
fault("agree_startup_waits", "src/analysis/wall.c", "if (w->waits_ns && (!first || w->waits_ns < first))", "if (w->waits_ns && !first)", "cli.agree", "the start-up does not end with a call that waits for a rank")
fault("agree_idle_number", "src/analysis/findings.c", "\"idle_ns\", \"ns\", (double)d->gpus[0].idle_ns", "\"idle_ns\", \"ns\", (double)(d->gpus[0].idle_ns + d->wall.startup_ns)", "cli.agree", "a finding's idle time is longer than that of the overview")
fault("agree_startup_idle", "src/analysis/digest.c", "d->gpus[i].until = d->wall.work;", "d->gpus[i].until = d->wall.begin;", "cli.agree test_digest", "the runtime's own start is idle time, and the first finding of a short trace")
fault("agree_part_busy", "src/analysis/table_busy.c", "if (!slice_clip(&l->job->t->filter, &begin, &end)) return;", "", "cli.agree", "a GPU is busy for more than all of the time that is looked at")
fault("agree_part_calls", "src/analysis/digest_host.c", "sum->ns += (uint64_t)(end - begin);", "slice_clip(d->filter, &begin, &end); sum->ns += (uint64_t)(end - begin);", "cli.agree", "the overview has parts of calls, --by api whole ones")
fault("diff_counts", "src/analysis/diff.c", "row->is_exact = row->measure == DIFF_COUNT && is_constant(a) && is_constant(b);", "row->is_exact = row->measure == DIFF_MEDIAN && is_constant(a) && is_constant(b);", "test_gate", "ten times as many launches are no difference")
fault("gate_total", "src/analysis/gate.c", "if (measure <= DIFF_MEDIAN || measure > DIFF_BUSY)", "if (measure <= DIFF_COUNT || measure > DIFF_BUSY)", "test_gate", "a condition on the total is refused")
fault("gate_undecided", "src/analysis/gate.c", "r->nr_rows ? GATE_UNDECIDED : GATE_PASSED;", "r->nr_rows ? GATE_PASSED : GATE_PASSED;", "test_gate", "a condition that too few runs can't decide passes")

# No unit test finds them yet.
SURVIVORS = set()
