! A Fortran program that samples a density of its own, and reads its draws.
!
!   gfortran -O2 gess.f90 drive.f90 $(pkg-config --libs gess) -o drive && ./drive DIRECTORY
!
! gess.f90 is the module `gess`, beside <gess/gess.h> where gess is installed.
module banana
  use gess
  implicit none
contains

  ! x ~ N(0, 1), y given x ~ N(x², 0.5²): so y has mean 1 and standard deviation 1.5
  integer(c_int) function logp(user, worker, n, dim, x, values) bind(c)
    type(c_ptr), value :: user
    integer(c_int), value :: worker
    integer(c_size_t), value :: n, dim
    real(c_double), intent(in) :: x(dim, n)
    real(c_double), intent(out) :: values(n)
    values = -0.5d0 * (x(1, :)**2 + ((x(2, :) - x(1, :)**2) / 0.5d0)**2)
    logp = 0
  end function
end module

program drive
  use gess
  use banana
  implicit none
  type(gess_error) :: err
  type(gess_density) :: density
  type(gess_stats) :: stats
  type(gess_draws_shape) :: shape
  type(c_ptr) :: model = c_null_ptr, options = c_null_ptr, run = c_null_ptr, draws = c_null_ptr
  character(1000) :: directory
  character(:), allocatable :: table
  real(c_double), allocatable :: values(:, :)
  real(c_double) :: total
  integer(c_size_t) :: chain

  if (command_argument_count() /= 1) stop 'usage: drive DIRECTORY'
  call get_command_argument(1, directory)

  density = gess_new_density()
  density%name = gess_keep_name('banana')
  density%dim = 2
  density%names = gess_keep_names(['x', 'y'])
  density%logp = c_funloc(logp)

  call try(gess_model_new(model, density, err))
  call try(gess_options_new(options, err))
  call try(gess_options_set(options, 'draws', '500', err))
  call try(gess_run_new(run, model, options, err, directory))
  call try(gess_run_go(run, err))
  call try(gess_run_summary(run, table, err))
  write (*, '(a)', advance='no') table
  call try(gess_run_stats(run, stats, err))
  print '(a, i0, a, i0, a)', 'evaluations: ', stats%evals, ', chains: ', stats%chains

  ! the mean of y from the draws themselves; a draw is log density, x, y
  call try(gess_draws_open(draws, directory, err))
  call try(gess_draws_info(draws, shape, err))
  allocate (values(1, shape%draws))
  total = 0
  do chain = 0, shape%chains - 1
    call try(gess_draws_read(draws, chain, 0_c_int64_t, shape%draws, 2_c_size_t, 1_c_size_t, values, err))
    total = total + sum(values)
  end do
  print '(a, f6.3)', 'mean of y: ', total / real(shape%draws * int(shape%chains, c_int64_t), c_double)

  call gess_draws_close(draws)
  call gess_run_free(run)
  call gess_options_free(options)
  call gess_model_free(model)

contains

  subroutine try(status)
    integer(c_int), intent(in) :: status
    if (status == gess_ok) return
    print '(2a)', 'drive: ', gess_message(err)
    stop 1
  end subroutine
end program
