// A component may be inherited twice if both declarations mean the same class, by whatever names.
// expect: a.k = 3
// run: check
// change: Library.Parts.Gain k2 -> Library.Parts.Other k2
// expect: exit 3
// expect: 23: `k2` is declared twice
package Library
  package Parts
    type Gain = Real(unit = "1");
    type Other = Real(unit = "1");
    model First
      parameter Gain k2 = 1;
    end First;
  end Parts;
  model Second
    extends Parts.First;
    extends Third;
    Real k = 3*k2;
  end Second;
end Library;

model Third
  parameter Library.Parts.Gain k2 = 1;
end Third;

model M
  Library.Second a;
end M;
