! @NAME@: a straight line through points with noise of unknown size,
!
!   y = intercept + slope x + noise,   noise ~ N(0, sigma²),   sigma > 0.
!
! A model for gess is a shared object with three symbols: gess_plugin_abi, gess_plugin_open, gess_plugin_close. What to
! change for a density of your own: the module `line`. README.md has the commands.
module line
  use gess
  implicit none
  integer, parameter :: dim = 3
  character(9), parameter :: names(dim) = ['intercept', 'slope    ', 'sigma    ']
  character(10), parameter :: derived_names(1) = ['mean_at_20']
  real(c_double), allocatable :: points(:, :) ! x and y of each point

contains

  ! Log prior plus log likelihood, up to a constant. No Jacobian: gess adds its own where it samples sigma on a log scale.
  pure function log_posterior(p) result(value)
    real(c_double), intent(in) :: p(dim)
    real(c_double) :: value, intercept, slope, sigma, squares
    intercept = p(1)
    slope = p(2)
    sigma = p(3)
    squares = sum((points(2, :) - intercept - slope * points(1, :))**2)
    value = -size(points, 2) * log(sigma) - 0.5d0 * squares / sigma**2 &
      - 0.5d0 * (intercept**2 + slope**2) / 10**2 & ! N(0, 10²) each
      - sigma                                       ! exponential of mean 1
  end function

  ! What the line says about x = 20; stored with each draw.
  pure function mean_at_20(p) result(value)
    real(c_double), intent(in) :: p(dim)
    real(c_double) :: value
    value = p(1) + 20 * p(2)
  end function
end module

module plugin
  use gess
  use line
  implicit none
  integer(c_int), bind(c, name='gess_plugin_abi') :: abi = gess_abi

contains

  ! n points at once, the columns of x. Several threads call it at the same time.
  integer(c_int) function logp(user, worker, n, d, x, values) bind(c, name='')
    type(c_ptr), value :: user
    integer(c_int), value :: worker
    integer(c_size_t), value :: n, d
    real(c_double), intent(in) :: x(d, n)
    real(c_double), intent(out) :: values(n)
    integer(c_size_t) :: i
    do i = 1, n
      values(i) = gess_minus_infinity()
      if (x(3, i) > 0) values(i) = log_posterior(x(:, i))
    end do
    logp = 0
  end function

  integer(c_int) function derive(user, worker, d, x, derived, out) bind(c, name='')
    type(c_ptr), value :: user
    integer(c_int), value :: worker
    integer(c_size_t), value :: d, derived
    real(c_double), intent(in) :: x(d)
    real(c_double), intent(out) :: out(derived)
    out(1) = mean_at_20(x)
    derive = 0
  end function

  ! `data`: the path given with --data, or null.
  integer(c_int) function gess_plugin_open(data, density, message, size) bind(c)
    type(c_ptr), value :: data, message
    type(gess_density), intent(inout) :: density
    integer(c_size_t), value :: size
    type(gess_error) :: err
    if (.not. c_associated(data)) then
      gess_plugin_open = gess_refuse(message, size, 'it needs a data file; give it with --data FILE')
      return
    end if
    if (gess_csv_read(gess_string(data), points, err) /= gess_ok) then
      gess_plugin_open = gess_refuse(message, size, gess_message(err))
      return
    end if
    if (ubound(points, 1) /= 2 .or. ubound(points, 2) < 3) then
      gess_plugin_open = gess_refuse(message, size, gess_string(data)//': 3 points or more, x and y, are needed')
      return
    end if
    density%name = gess_keep_name('@NAME@')
    density%dim = dim
    density%names = gess_keep_names(names)
    density%lower = gess_keep_numbers([gess_minus_infinity(), gess_minus_infinity(), 0.0_c_double])
    density%logp = c_funloc(logp)
    density%derived = 1
    density%derived_names = gess_keep_names(derived_names)
    density%derive = c_funloc(derive)
    gess_plugin_open = 0
  end function

  subroutine gess_plugin_close(density) bind(c)
    type(gess_density), intent(inout) :: density
    density%dim = 0
    if (allocated(points)) deallocate (points)
  end subroutine
end module
