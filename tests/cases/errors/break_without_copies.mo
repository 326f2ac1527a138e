//! base 0.1.0
// run: simulate
// expect: exit 3
// expect: says outside of a loop
package 'M'
  model 'M'
    Integer d;
  algorithm
    d := integer(time);
    if d > 1 then
      break;
    end if;
  end 'M';
end 'M';
