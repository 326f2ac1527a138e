// Texts are arguments of functions that run with the model: literals, results of other functions, and those that a function joins.
// expect: long = 4 at 0.2
// expect: long = 3
// expect: inside = 11
// run: simulate
// change: length(part -> length("abc" + part
// expect: exit 5
// expect: says the value of long is not defined
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
