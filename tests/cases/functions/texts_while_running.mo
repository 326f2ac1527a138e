// Texts as arguments of functions that are called during the run: literals, results of other functions, and texts that a function or the equation joins.
// expect: long = 4 at 0.2
// expect: long = 3
// expect: inside = 11
// run: simulate
// change: length(part -> length("abc" + part
// expect: long = 7 at 0.2
// expect: long = 6
// run: simulate
// change: length(part -> length((if late then "x" else "") + String(late) + String(100*inside, significantDigits = 4) + part
// expect: long = 13 at 0.2
// expect: long = 12
model Texts
  function length
    input String text;
    output Integer result;
  external "C" result = ModelicaStrings_length(text);
  end length;
  function part
    input String text;
    input Integer first, last;
    output String result;
  external "C" result = ModelicaStrings_substring(text, first, last);
  end part;
  function wrapped
    input String text;
    input Real size;
    output Real result;
  protected
    Integer k = 0;
  algorithm
    while k < size loop
      k := k + 1;
    end while;
    result := length("[" + part(text, 1, k) + "/" + text + "]");
  end wrapped;
  Boolean late = time > 0.5;
  Integer long = length(part("abcdefg", 2, if late then 4 else 5));
  Real inside = wrapped("abcd", if late then 4 else 3);
end Texts;
