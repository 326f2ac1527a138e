// run: check
// expect: exit 3
// expect: 4:7: base type
class M
  extends Real;
end M;
