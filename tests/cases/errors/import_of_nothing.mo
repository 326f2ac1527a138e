// A class that only an import could give: the message says which import fails, and where.
model ImportOfNothing
  // run: check
  // expect: exit 3
  // expect: 15:3: class `Sine` is not defined
  // expect: says /import_of_nothing.mo:11:10: note: this import finds no `Blocks` in `Modelica`/
  // expect: says /--library names the directory of the whole library/
  // expect: 16:3: class `S.Step` is not defined
  // expect: says /import_of_nothing.mo:13:14: note: this import finds no class `Absent`/
  // expect: never says /import_of_nothing.mo:12/
  import Modelica.Blocks.Sources.Sine;
  import Absent.Other;
  import S = Absent.Sources;
  Real x = 1;
  Sine s;
  S.Step t;
end ImportOfNothing;
