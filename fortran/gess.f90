! gess from Fortran: types and functions of <gess/gess.h> and <gess/draws.h>, with Fortran's strings and arrays.
!
!   gfortran -c gess.f90                              the module
!   gfortran -fPIC -shared model.f90 gess.f90 ...     a plug-in: `gess new NAME --lang fortran` writes one
!   gfortran gess.f90 program.f90 -lgess              a program that drives runs: examples/drive.f90 of gess
!
! Functions have the names that they have in C, and return the same status: gess_ok, or another and a message in `err`
! (gess_message). Those that take texts or arrays have a Fortran interface here; the others are C's own. What a density
! points to (names, bounds) must stay: gess_keep_name, gess_keep_names and gess_keep_numbers make copies that do.
!
! Compile this file with your compiler: modules of one compiler cannot be read by another.
module gess
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_positive_inf, ieee_negative_inf
  implicit none
  private :: ieee_value, ieee_positive_inf, ieee_negative_inf

  integer(c_int), parameter :: gess_abi = 2
  integer(c_int), parameter :: gess_ok = 0, gess_err_usage = 1, gess_err_model = 2, gess_err_stopped = 3, &
    gess_err_internal = 4, gess_err_file = 5, gess_err_not_converged = 6

  ! A message; gess_message() makes a string of it.
  type, bind(c) :: gess_error
    integer(c_int) :: status = 0
    character(c_char) :: text(1024) = c_null_char
    character(c_char) :: density_text(256) = c_null_char
    integer(c_int64_t) :: chain = 0
    integer(c_size_t) :: dim = 0
    real(c_double) :: point(64) = 0
  end type

  ! A density. gess_new_density() is one with nothing in it; set what you have, functions by c_funloc().
  type, bind(c) :: gess_density
    integer(c_size_t) :: size
    type(c_ptr) :: name
    integer(c_size_t) :: dim
    type(c_ptr) :: user
    type(c_funptr) :: logp, gradient, start
    type(c_ptr) :: names, lower, upper, periodic
    integer(c_size_t) :: derived
    type(c_ptr) :: derived_names
    type(c_funptr) :: derive
    integer(c_size_t) :: blobs
    type(c_ptr) :: blob_names
    type(c_funptr) :: logp_blobs, gradient_blobs, message, start_logp, log_prior
    integer(c_size_t) :: observations
    type(c_funptr) :: pointwise
    integer(c_size_t) :: simulated
    type(c_funptr) :: simulate
    type(c_funptr) :: device_logp
  end type

  ! What a run has done so far, by gess_run_stats().
  type, bind(c) :: gess_stats
    integer(c_size_t) :: dim = 0, chains = 0
    integer(c_int64_t) :: draws = 0, iterations = 0, evals = 0, evals_sampling = 0, evals_speculative = 0, updates = 0, &
      failures = 0, nans = 0
    real(c_double) :: seconds = 0, seconds_sampling = 0, seconds_learning = 0, nu = 0
    integer(c_int64_t) :: warmup = 0
    integer(c_int) :: warmup_settled = 0, targets_met = 0
    real(c_double) :: least_ess = 0, worst_rhat = 0
    character(c_char) :: method(160) = c_null_char, slowest(48) = c_null_char
    integer(c_int) :: finished = 0, out_of_time = 0
    integer(c_int64_t) :: checked_draws = 0
    integer(c_int) :: phase = 0
    integer(c_int64_t) :: phase_done = 0, phase_total = 0
    real(c_double) :: seconds_left = 0, worst_nested_rhat = 0
    integer(c_int64_t) :: evals_checked = 0, crashes = 0, crashes_outside = 0
    real(c_double) :: evals_forecast = 0
    integer(c_int) :: learning_late = 0
  end type

  ! The shape of the draws of a run, by gess_draws_info().
  type, bind(c) :: gess_draws_shape
    integer(c_size_t) :: chains = 0, columns = 0
    integer(c_int64_t) :: draws = 0, thin = 0
    integer(c_size_t) :: dim = 0, ensembles = 0
    integer(c_int64_t) :: seed = 0
    integer(c_int) :: has_seed = 0, has_warmup = 0
  end type

  ! What a plug-in and a program write. All have bind(c).
  abstract interface
    ! Log densities of n points, the columns of x. Several threads call it at the same time, numbered from 0.
    integer(c_int) function gess_logp_fn(user, worker, n, dim, x, values) bind(c)
      import
      type(c_ptr), value :: user
      integer(c_int), value :: worker
      integer(c_size_t), value :: n, dim
      real(c_double), intent(in) :: x(dim, n)
      real(c_double), intent(out) :: values(n)
    end function

    integer(c_int) function gess_gradient_fn(user, worker, n, dim, x, values, gradient) bind(c)
      import
      type(c_ptr), value :: user
      integer(c_int), value :: worker
      integer(c_size_t), value :: n, dim
      real(c_double), intent(in) :: x(dim, n)
      real(c_double), intent(out) :: values(n), gradient(dim, n)
    end function

    ! Derived quantities of one draw.
    integer(c_int) function gess_derive_fn(user, worker, dim, x, derived, out) bind(c)
      import
      type(c_ptr), value :: user
      integer(c_int), value :: worker
      integer(c_size_t), value :: dim, derived
      real(c_double), intent(in) :: x(dim)
      real(c_double), intent(out) :: out(derived)
    end function

    ! A starting point of standard normals.
    subroutine gess_start_fn(user, dim, normals, x) bind(c)
      import
      type(c_ptr), value :: user
      integer(c_size_t), value :: dim
      real(c_double), intent(in) :: normals(dim)
      real(c_double), intent(out) :: x(dim)
    end subroutine

    ! Draws as they are stored: of consecutive chains and draws, rows of log density, parameters, derived quantities. A
    ! result other than 0 ends the run.
    integer(c_int) function gess_draw_fn(user, first_chain, chains, first_draw, draws, columns, rows) bind(c)
      import
      type(c_ptr), value :: user
      integer(c_size_t), value :: first_chain, chains, columns
      integer(c_int64_t), value :: first_draw, draws
      real(c_double), intent(in) :: rows(columns, draws, chains)
    end function
  end interface

  ! Functions of C that need no other interface. Handles are type(c_ptr).
  interface
    integer(c_int) function gess_model_new(model, density, err) bind(c)
      import
      type(c_ptr), intent(out) :: model
      type(gess_density), intent(in) :: density
      type(gess_error), intent(inout) :: err
    end function

    subroutine gess_model_free(model) bind(c)
      import
      type(c_ptr), value :: model
    end subroutine

    integer(c_int) function gess_options_new(options, err) bind(c)
      import
      type(c_ptr), intent(out) :: options
      type(gess_error), intent(inout) :: err
    end function

    subroutine gess_options_free(options) bind(c)
      import
      type(c_ptr), value :: options
    end subroutine

    integer(c_int) function gess_run_on_draw(run, fn, user, err) bind(c)
      import
      type(c_ptr), value :: run, user
      type(c_funptr), value :: fn
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_run_go(run, err) bind(c)
      import
      type(c_ptr), value :: run
      type(gess_error), intent(inout) :: err
    end function

    subroutine gess_stop(run) bind(c)
      import
      type(c_ptr), value :: run
    end subroutine

    integer(c_int) function gess_run_extend(run, draws, err) bind(c)
      import
      type(c_ptr), value :: run
      integer(c_int64_t), value :: draws
      type(gess_error), intent(inout) :: err
    end function

    subroutine gess_run_free(run) bind(c)
      import
      type(c_ptr), value :: run
    end subroutine

    subroutine gess_draws_close(draws) bind(c)
      import
      type(c_ptr), value :: draws
    end subroutine

    ! values(columns, count): one chain, columns and draws from 0
    integer(c_int) function gess_draws_read(draws, chain, first_draw, count, first_column, columns, values, err) bind(c)
      import
      type(c_ptr), value :: draws
      integer(c_size_t), value :: chain, first_column, columns
      integer(c_int64_t), value :: first_draw, count
      real(c_double), intent(out) :: values(columns, count)
      type(gess_error), intent(inout) :: err
    end function
  end interface

  ! Functions of C behind those below: for use there.
  interface
    integer(c_int) function gess_c_model_open(model, specification, data, err) bind(c, name='gess_model_open')
      import
      type(c_ptr), intent(out) :: model
      character(c_char), intent(in) :: specification(*)
      type(c_ptr), value :: data
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_evaluate(model, n, x, values, gradient, err) bind(c, name='gess_model_evaluate')
      import
      type(c_ptr), value :: model, gradient
      integer(c_size_t), value :: n
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(out) :: values(*)
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_options_set(options, name, value, err) bind(c, name='gess_options_set')
      import
      type(c_ptr), value :: options
      character(c_char), intent(in) :: name(*), value(*)
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_run_new(run, model, options, directory, err) bind(c, name='gess_run_new')
      import
      type(c_ptr), intent(out) :: run
      type(c_ptr), value :: model, options, directory
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_run_resume(run, model, options, directory, err) bind(c, name='gess_run_resume')
      import
      type(c_ptr), intent(out) :: run
      type(c_ptr), value :: model, options
      character(c_char), intent(in) :: directory(*)
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_run_stats(run, stats, size, err) bind(c, name='gess_run_stats')
      import
      type(c_ptr), value :: run
      type(gess_stats), intent(inout) :: stats
      integer(c_size_t), value :: size
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_summary_new_run(summary, run, settings, size, err) bind(c, name='gess_summary_new_run')
      import
      type(c_ptr), intent(out) :: summary
      type(c_ptr), value :: run, settings
      integer(c_size_t), value :: size
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_summary_text(summary, format, width, text, err) bind(c, name='gess_summary_text')
      import
      type(c_ptr), value :: summary
      integer(c_int), value :: format
      integer(c_size_t), value :: width
      type(c_ptr), intent(out) :: text
      type(gess_error), intent(inout) :: err
    end function

    subroutine gess_c_summary_free(summary) bind(c, name='gess_summary_free')
      import
      type(c_ptr), value :: summary
    end subroutine

    subroutine gess_c_text_free(text) bind(c, name='gess_text_free')
      import
      type(c_ptr), value :: text
    end subroutine

    integer(c_int) function gess_c_draws_open(draws, path, err) bind(c, name='gess_draws_open')
      import
      type(c_ptr), intent(out) :: draws
      character(c_char), intent(in) :: path(*)
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_draws_info(draws, shape, size, err) bind(c, name='gess_draws_info')
      import
      type(c_ptr), value :: draws
      type(gess_draws_shape), intent(inout) :: shape
      integer(c_size_t), value :: size
      type(gess_error), intent(inout) :: err
    end function

    integer(c_int) function gess_c_csv_read(path, rows, columns, values, err) bind(c, name='gess_csv_read')
      import
      character(c_char), intent(in) :: path(*)
      integer(c_size_t), intent(out) :: rows, columns
      type(c_ptr), intent(out) :: values
      type(gess_error), intent(inout) :: err
    end function

    subroutine gess_c_values_free(values) bind(c, name='gess_values_free')
      import
      type(c_ptr), value :: values
    end subroutine

    integer(c_size_t) function gess_c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! ---- texts and numbers ----

  ! A text of C as a string; empty for a null pointer.
  function gess_string(text) result(string)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: string
    character(c_char), pointer :: letters(:)
    integer :: i, length
    length = 0
    if (c_associated(text)) length = int(gess_c_strlen(text))
    allocate (character(length) :: string)
    if (length == 0) return
    call c_f_pointer(text, letters, [length])
    do i = 1, length
      string(i:i) = letters(i)
    end do
  end function

  ! The message of an error.
  function gess_message(err) result(string)
    type(gess_error), intent(in) :: err
    character(:), allocatable :: string
    integer :: i, length
    length = 0
    do while (length < size(err%text))
      if (err%text(length + 1) == c_null_char) exit
      length = length + 1
    end do
    allocate (character(length) :: string)
    do i = 1, length
      string(i:i) = err%text(i)
    end do
  end function

  ! Writes the message of gess_plugin_open, whose arguments `message` and `size` are given. Returns 1, for it to return.
  integer(c_int) function gess_refuse(message, size, string)
    type(c_ptr), intent(in) :: message
    integer(c_size_t), intent(in) :: size
    character(*), intent(in) :: string
    character(c_char), pointer :: letters(:)
    integer :: i, length
    gess_refuse = 1
    if (size == 0) return
    call c_f_pointer(message, letters, [size])
    length = min(len_trim(string), int(size) - 1)
    do i = 1, length
      letters(i) = string(i:i)
    end do
    letters(length + 1) = c_null_char
  end function

  ! The bounds of a parameter that has none.
  real(c_double) function gess_infinity()
    gess_infinity = ieee_value(1.0_c_double, ieee_positive_inf)
  end function

  real(c_double) function gess_minus_infinity()
    gess_minus_infinity = ieee_value(1.0_c_double, ieee_negative_inf)
  end function

  ! ---- copies that stay, for what a density points to ----

  type(c_ptr) function gess_keep_name(name)
    character(*), intent(in) :: name
    character(len_trim(name) + 1, c_char), pointer :: copy
    allocate (copy)
    copy = trim(name)//c_null_char
    gess_keep_name = c_loc(copy)
  end function

  type(c_ptr) function gess_keep_names(names)
    character(*), intent(in) :: names(:)
    type(c_ptr), pointer :: copies(:)
    integer :: i
    allocate (copies(size(names)))
    do i = 1, size(names)
      copies(i) = gess_keep_name(names(i))
    end do
    gess_keep_names = c_loc(copies)
  end function

  type(c_ptr) function gess_keep_numbers(numbers)
    real(c_double), intent(in) :: numbers(:)
    real(c_double), pointer :: copy(:)
    allocate (copy(size(numbers)))
    copy = numbers
    gess_keep_numbers = c_loc(copy)
  end function

  ! ---- densities and models ----

  type(gess_density) function gess_new_density() result(density)
    density%size = c_sizeof(density)
    density%name = c_null_ptr
    density%dim = 0
    density%user = c_null_ptr
    density%logp = c_null_funptr
    density%gradient = c_null_funptr
    density%start = c_null_funptr
    density%names = c_null_ptr
    density%lower = c_null_ptr
    density%upper = c_null_ptr
    density%periodic = c_null_ptr
    density%derived = 0
    density%derived_names = c_null_ptr
    density%derive = c_null_funptr
    density%blobs = 0
    density%blob_names = c_null_ptr
    density%logp_blobs = c_null_funptr
    density%gradient_blobs = c_null_funptr
    density%message = c_null_funptr
    density%start_logp = c_null_funptr
    density%log_prior = c_null_funptr
    density%observations = 0
    density%pointwise = c_null_funptr
    density%simulated = 0
    density%simulate = c_null_funptr
    density%device_logp = c_null_funptr
  end function

  ! `data`: the file of the model's data.
  integer(c_int) function gess_model_open(model, specification, err, data) result(status)
    type(c_ptr), intent(out) :: model
    character(*), intent(in) :: specification
    type(gess_error), intent(inout) :: err
    character(*), intent(in), optional :: data
    character(:, c_char), allocatable, target :: path
    type(c_ptr) :: where
    where = c_null_ptr
    if (present(data)) then
      path = trim(data)//c_null_char
      where = c_loc(path)
    end if
    status = gess_c_model_open(model, trim(specification)//c_null_char, where, err)
  end function

  ! Log densities of points, the columns of x.
  integer(c_int) function gess_model_evaluate(model, x, values, err) result(status)
    type(c_ptr), intent(in) :: model
    real(c_double), intent(in), contiguous :: x(:, :)
    real(c_double), intent(out) :: values(size(x, 2))
    type(gess_error), intent(inout) :: err
    status = gess_c_evaluate(model, size(x, 2, c_size_t), x, values, c_null_ptr, err)
  end function

  ! ---- options and runs ----

  ! Option and value as on the command line.
  integer(c_int) function gess_options_set(options, name, value, err) result(status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name, value
    type(gess_error), intent(inout) :: err
    status = gess_c_options_set(options, trim(name)//c_null_char, trim(value)//c_null_char, err)
  end function

  ! A run; without a directory it writes no files.
  integer(c_int) function gess_run_new(run, model, options, err, directory) result(status)
    type(c_ptr), intent(out) :: run
    type(c_ptr), intent(in) :: model, options
    type(gess_error), intent(inout) :: err
    character(*), intent(in), optional :: directory
    character(:, c_char), allocatable, target :: path
    type(c_ptr) :: where
    where = c_null_ptr
    if (present(directory)) then
      path = trim(directory)//c_null_char
      where = c_loc(path)
    end if
    status = gess_c_run_new(run, model, options, where, err)
  end function

  integer(c_int) function gess_run_resume(run, model, options, directory, err) result(status)
    type(c_ptr), intent(out) :: run
    type(c_ptr), intent(in) :: model, options
    character(*), intent(in) :: directory
    type(gess_error), intent(inout) :: err
    status = gess_c_run_resume(run, model, options, trim(directory)//c_null_char, err)
  end function

  integer(c_int) function gess_run_stats(run, stats, err) result(status)
    type(c_ptr), intent(in) :: run
    type(gess_stats), intent(out) :: stats
    type(gess_error), intent(inout) :: err
    status = gess_c_run_stats(run, stats, c_sizeof(stats), err)
  end function

  ! The table of `gess summary`, with a newline at the end of every line.
  integer(c_int) function gess_run_summary(run, table, err) result(status)
    type(c_ptr), intent(in) :: run
    character(:), allocatable, intent(out) :: table
    type(gess_error), intent(inout) :: err
    type(c_ptr) :: summary, text
    summary = c_null_ptr
    text = c_null_ptr
    status = gess_c_summary_new_run(summary, run, c_null_ptr, 0_c_size_t, err)
    if (status == gess_ok) status = gess_c_summary_text(summary, 0_c_int, 0_c_size_t, text, err)
    table = gess_string(text)
    call gess_c_text_free(text)
    call gess_c_summary_free(summary)
  end function

  ! ---- draws, tables ----

  integer(c_int) function gess_draws_open(draws, path, err) result(status)
    type(c_ptr), intent(out) :: draws
    character(*), intent(in) :: path
    type(gess_error), intent(inout) :: err
    status = gess_c_draws_open(draws, trim(path)//c_null_char, err)
  end function

  integer(c_int) function gess_draws_info(draws, shape, err) result(status)
    type(c_ptr), intent(in) :: draws
    type(gess_draws_shape), intent(out) :: shape
    type(gess_error), intent(inout) :: err
    status = gess_c_draws_info(draws, shape, c_sizeof(shape), err)
  end function

  ! The numbers of a CSV file, with or without a header: values(column, row).
  integer(c_int) function gess_csv_read(path, values, err) result(status)
    character(*), intent(in) :: path
    real(c_double), allocatable, intent(out) :: values(:, :)
    type(gess_error), intent(inout) :: err
    integer(c_size_t) :: rows, columns
    type(c_ptr) :: memory
    real(c_double), pointer :: table(:, :)
    status = gess_c_csv_read(trim(path)//c_null_char, rows, columns, memory, err)
    if (status /= gess_ok) return
    call c_f_pointer(memory, table, [columns, rows])
    values = table
    call gess_c_values_free(memory)
  end function
end module
