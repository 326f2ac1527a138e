// An empty record.
// expect: time = 1
package P
  record R
  end R;
  model M
    R r;
  end M;
end P;
