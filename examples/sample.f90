! A model for gess in Fortran: a shared object that `gess sample` loads.
!
!   gfortran -O2 -fPIC -shared -o sample_f.so sample.f90
!   gess sample ./sample_f.so
!
! Put your own log density into log_density() and its description into gess_plugin_open(). The other
! parts stay as they are. They follow <gess/gess.h>, plug-in interface 2.
module my_density
  use iso_c_binding
  implicit none
  integer, parameter :: dim = 2

contains

  ! height ~ N(3, 0.5), and a rate with an exponential distribution of mean 0.5.
  pure function log_density(x) result(value)
    real(c_double), intent(in) :: x(dim)
    real(c_double) :: value
    value = -0.5d0 * ((x(1) - 3) / 0.5d0)**2 - 2 * x(2)
  end function

  ! The derived quantity: area = height · rate, whose mean is 1.5.
  pure function area(x) result(value)
    real(c_double), intent(in) :: x(dim)
    real(c_double) :: value
    value = x(1) * x(2)
  end function
end module

module gess_plugin
  use iso_c_binding
  use ieee_arithmetic
  use my_density
  implicit none

  ! as in <gess/gess.h>, field by field
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
  end type

  integer(c_int), bind(c, name='gess_plugin_abi') :: abi_version = 2

  ! what the density points to, kept for as long as the program runs
  character(len=8), target, save :: model_name = 'fortran' // c_null_char
  character(len=8), target, save :: height = 'height' // c_null_char, rate = 'rate' // c_null_char
  character(len=8), target, save :: area_name = 'area' // c_null_char
  type(c_ptr), target, save :: names(dim), derived_names(1)
  real(c_double), target, save :: lower(dim)

contains

  ! n points at once, as columns of x. Several threads call it at the same time.
  integer(c_int) function logp(user, worker, n, d, x, values) bind(c, name='')
    type(c_ptr), value :: user
    integer(c_int), value :: worker
    integer(c_size_t), value :: n, d
    real(c_double), intent(in) :: x(d, n)
    real(c_double), intent(out) :: values(n)
    integer(c_size_t) :: i
    do i = 1, n
      values(i) = log_density(x(:, i))
    end do
    logp = 0
  end function

  integer(c_int) function derive(user, worker, d, x, derived, out) bind(c, name='')
    type(c_ptr), value :: user
    integer(c_int), value :: worker
    integer(c_size_t), value :: d, derived
    real(c_double), intent(in) :: x(d)
    real(c_double), intent(out) :: out(derived)
    out(1) = area(x)
    derive = 0
  end function

  integer(c_int) function gess_plugin_open(data, density, message, size) bind(c)
    type(c_ptr), value :: data, message ! the path given with --data, and room for a message
    integer(c_size_t), value :: size
    type(gess_density), intent(inout) :: density
    names = [c_loc(height), c_loc(rate)]
    lower = [ieee_value(1d0, ieee_negative_inf), 0d0] ! no bound is an infinity, not a large number
    derived_names(1) = c_loc(area_name)
    density%name = c_loc(model_name)
    density%dim = dim
    density%logp = c_funloc(logp)
    density%names = c_loc(names)
    density%lower = c_loc(lower)
    density%derived = 1
    density%derived_names = c_loc(derived_names)
    density%derive = c_funloc(derive)
    gess_plugin_open = 0
  end function

  subroutine gess_plugin_close(density) bind(c)
    type(gess_density), intent(inout) :: density
    density%dim = 0 ! nothing was allocated
  end subroutine
end module
