// A table without a file and without a matrix is the one that `usertab` of the user's C text gives, as in the standard library's C sources.
// run: simulate --allow-external
// expect: y = 8 within 1e-12
// expect: y = 2 within 1e-9 at 0.25
// run: simulate
// expect: exit 3
// run: simulate --allow-external
// change: "mine" -> "other"
// expect: exit 3
// expect: says there is no table other
model Usertab
  class Table
    extends ExternalObject;
    function constructor
      input String fileName, tableName;
      input Real table[:, :];
      input Real startTime;
      input Integer columns[:];
      input Integer smoothness, extrapolation;
      output Table table_id;
      external "C" table_id = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, size(table, 1), size(table, 2), columns, size(columns, 1), smoothness, extrapolation, false);
    end constructor;
    function destructor
      input Table table_id;
      external "C" ModelicaStandardTables_CombiTable1D_close(table_id);
    end destructor;
  end Table;
  function value
    input Table table_id;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(table_id, column, u);
  end value;
  function first
    input Real u;
    output Real y;
    external "C" y = first_of_mine(u) annotation(Include = "
      #include <string.h>
      static double mine[] = {0, 1, 2,   0, 4, 8};
      int usertab(char *name, int dimensions, int size[], int *by_columns, double **table) {
        if (strcmp(name, \"mine\") != 0) ModelicaFormatError(\"there is no table %s\", name);
        size[0] = 3; size[1] = 2; *by_columns = 1; *table = mine;
        return dimensions != 1;
      }
      double first_of_mine(double u) { return mine[0] + u; }");
  end first;
  Table table = Table("NoName", "mine", fill(0.0, 0, 2), 0, {2}, 1, 2);
  Real y = value(table, 1, 2*first(time));
end Usertab;
