! SPDX-License-Identifier: MIT
! fortran.F90 - calls of MPI from Fortran, by mpif.h, by use mpi or by use mpi_f08
!
! Usage: fortran LOG     followed by the rank. Two ranks. A line of the log is the C name of a function that was called.
program calls
#if defined(FORM_mpi_f08)
  use mpi_f08
  implicit none
  type(MPI_Status) :: status
  type(MPI_Request) :: request, requests(4)
  type(MPI_Comm) :: half
#elif defined(FORM_mpi)
  use mpi
  implicit none
  integer :: status(MPI_STATUS_SIZE), request, requests(4), half
#else
  implicit none
  include 'mpif.h'
  integer :: status(MPI_STATUS_SIZE), request, requests(4), half
#endif
  integer :: error, rank, values(4), sums(4), got(2), index, nr, indices(2)
  character(len=4096) :: path
  character(len=8) :: text

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, path)
  write(text, '(i0)') rank
  open(unit=10, file=trim(path)//trim(text), status='replace')
  write(10, '(a)') 'MPI_Init'
  values = rank + 1
  if (rank == 0) then
    call MPI_Send(values, 3, MPI_INTEGER, 1, 41, MPI_COMM_WORLD, error)
    write(10, '(a)') 'MPI_Send'
    call MPI_Isend(values, 2, MPI_INTEGER, 1, 42, MPI_COMM_WORLD, request, error)
    write(10, '(a)') 'MPI_Isend'
  else
    call MPI_Recv(values, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    write(10, '(a)') 'MPI_Recv'
    call MPI_Irecv(values, 2, MPI_INTEGER, 0, 42, MPI_COMM_WORLD, request, error)
    write(10, '(a)') 'MPI_Irecv'
  end if
  call MPI_Wait(request, status, error)
  write(10, '(a)') 'MPI_Wait'
  call MPI_Recv_init(got(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, 43, MPI_COMM_WORLD, requests(1), error)
  write(10, '(a)') 'MPI_Recv_init'
  call MPI_Irecv(got(2), 1, MPI_INTEGER, MPI_ANY_SOURCE, 44, MPI_COMM_WORLD, requests(2), error)
  write(10, '(a)') 'MPI_Irecv'
  call MPI_Startall(1, requests, error)
  write(10, '(a)') 'MPI_Startall'
  call MPI_Isend(values, 1, MPI_INTEGER, 1 - rank, 43, MPI_COMM_WORLD, requests(3), error)
  write(10, '(a)') 'MPI_Isend'
  call MPI_Isend(values, 1, MPI_INTEGER, 1 - rank, 44, MPI_COMM_WORLD, requests(4), error)
  write(10, '(a)') 'MPI_Isend'
  call MPI_Waitany(1, requests, index, MPI_STATUS_IGNORE, error)
  write(10, '(a)') 'MPI_Waitany'
  call MPI_Waitsome(1, requests(2:2), nr, indices, MPI_STATUSES_IGNORE, error)
  write(10, '(a)') 'MPI_Waitsome'
  call MPI_Waitall(2, requests(3:4), MPI_STATUSES_IGNORE, error)
  write(10, '(a)') 'MPI_Waitall'
  call MPI_Request_free(requests(1), error)
  write(10, '(a)') 'MPI_Request_free'
  print '(4i8)', index, nr, got
  call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, half, error)
  write(10, '(a)') 'MPI_Comm_split'
  call MPI_Allreduce(values, sums, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  write(10, '(a)') 'MPI_Allreduce'
  call MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_INTEGER, MPI_SUM, half, error)
  write(10, '(a)') 'MPI_Allreduce'
  call MPI_Bcast(sums, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  write(10, '(a)') 'MPI_Bcast'
  call MPI_Comm_free(half, error)
  write(10, '(a)') 'MPI_Comm_free'
  call MPI_Barrier(MPI_COMM_WORLD, error)
  write(10, '(a)') 'MPI_Barrier'
  print '(4i8)', sums
  call MPI_Finalize(error)
  write(10, '(a)') 'MPI_Finalize'
  close(10)
end program calls
