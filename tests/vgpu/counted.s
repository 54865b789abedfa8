/* SPDX-License-Identifier: MIT */
/* counted.s - a kernel whose instructions can be counted by hand, see test_pmc.py: out[i] = in[i] * 1024 + 1
 *
 * For workgroups of 256; the input lies at the address that is its argument, the output 64 KiB behind.
 */
	.text
	.globl	counted
	.p2align	8
	.type	counted,@function
counted:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_lshl_b32 s3, s2, 8
	v_add_u32 v1, s3, v0
	v_lshlrev_b32 v1, 2, v1
	v_lshlrev_b32 v2, 2, v0
	s_mov_b32 s6, 10
	s_waitcnt lgkmcnt(0)
	global_load_dword v3, v1, s[4:5]
	s_waitcnt vmcnt(0)
twice:
	v_add_u32 v3, v3, v3
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 twice
	ds_write_b32 v2, v3
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_read_b32 v3, v2
	s_waitcnt lgkmcnt(0)
	v_add_u32 v3, 1, v3
	s_add_u32 s4, s4, 0x10000
	s_addc_u32 s5, s5, 0
	global_store_dword v1, v3, s[4:5]
	s_endpgm
	.size	counted, .-counted

	.rodata
	.p2align	6
	.amdhsa_kernel counted
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_kernarg_size 8
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
